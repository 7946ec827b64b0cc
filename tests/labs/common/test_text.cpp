#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "labs/common/text.h"

using namespace labgrad::labs;

TEST_CASE("text: width counts columns, not bytes") {
  CHECK(display_width("") == 0);
  CHECK(display_width("abc") == 3);
  CHECK(display_width("größe") == 5);
  CHECK(display_width("σ(W·x) ∈ ℝ²") == 11);
  CHECK(display_width("10⁻³") == 4);
  CHECK(display_width("e\xCC\x81") == 1);  // e and a combining acute accent
  CHECK(display_width("漢字") == 4);
  CHECK(display_width("\xFF\xC3") == 2);  // malformed bytes, one column each
}

TEST_CASE("text: pad and wrap") {
  CHECK(pad("σ²", 4) == "σ²  ");
  CHECK(pad("σ²", 4, Align::right) == "  σ²");
  CHECK(pad("σ²", 5, Align::centre) == " σ²  ");
  CHECK(pad("long", 2) == "long");
  CHECK(wrap("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrap("a\n\nb", 7) == std::vector<std::string>{"a", "", "b"});
  CHECK(wrap("äöüäöü x", 4) == std::vector<std::string>{"äöüä", "öü x"});
  CHECK(wrap("", 5) == std::vector<std::string>{""});
  CHECK(paragraph("one two", "> ") == "> one two\n");
}

TEST_CASE("text: near misses") {
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("cdua", "cuda") == 1);
  CHECK(edit_distance("abcd", "badc") == 2);
  CHECK(closest("sedd", {"seed", "section"}) == "seed");
  CHECK(closest("sect", {"seed", "section"}) == "section");
  CHECK(closest("qqqq", {"seed", "section"}) == "");
}

TEST_CASE("text: numbers, lists, escapes and file names") {
  CHECK(number_text(0.35) == "0.35");
  CHECK(number_text(-0.0) == "0");
  CHECK(number_text(123456.0) == "1.235e+05");
  CHECK(number_text(std::nan("")) == "nan");
  CHECK(number_text(-std::nan("")) == "nan");
  CHECK(join_names({"a", "b", "c"}) == "a, b and c");
  CHECK(join_names({"a", "b"}, "or") == "a or b");
  CHECK(join_names({}) == "");
  CHECK(escape_xml("a<b & \"c\" 'd'\x01") == "a&lt;b &amp; &quot;c&quot; &#39;d&#39;");
  CHECK(escape_xml("h\xFF") == "h\xEF\xBF\xBD");
  CHECK(file_safe("maps/of layer 1") == "maps-of-layer-1");
  CHECK(file_safe("../up") == "_..-up");
}
