#include "data/tokenizer.h"

#include <doctest/doctest.h>

#include <sstream>

#include "tests/engine/io/files.h"

using labgrad::data::detokenize;
using labgrad::data::Language;
using labgrad::data::lower_case;
using labgrad::data::tokenize;

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}
std::string german(std::string_view text) { return joined(tokenize(text, Language::german)); }
std::string english(std::string_view text) { return joined(tokenize(text, Language::english)); }

}  // namespace

TEST_CASE("tokenizer: punctuation at the ends, hyphens by language, lower case") {
  CHECK(german("Ein Mann kauft Obst ein.") == "ein mann kauft obst ein .");
  CHECK(german("Ein grauhaariger, alter Mann (mit Hut)!") ==
        "ein grauhaariger , alter mann ( mit hut ) !");
  CHECK(english("A gray-haired man, well-dressed.") == "a gray - haired man , well - dressed .");
  CHECK(german("Ein blau-weißes T-Shirt.") == "ein blau-weißes t-shirt .");
  CHECK(german("Jacke und -hose") == "jacke und - hose");
  CHECK(german("Winter- und Sommerjacke") == "winter - und sommerjacke");
  CHECK(english("a  b\tc\nd\xc2\xa0"
                "e ") == "a b c d e");
  CHECK(english("Wait... what?!") == "wait ... what ? !");
  CHECK(english("one--two -- three") == "one -- two -- three");
  CHECK(german("Ein Hund – groß") == "ein hund – groß");
  CHECK(german("vorne–hinten") == "vorne – hinten");
  CHECK(english("street.A dog") == "street . a dog");
  CHECK(english("red,white and/or blue") == "red , white and / or blue");
  CHECK(english("10,000 at 11:27, $2.50") == "10,000 at 11:27 , $ 2.50");
  CHECK(german("100% Wolle, 20°") == "100 % wolle , 20 °");
  CHECK(english("restaurant.com") == "restaurant.com");
  CHECK(tokenize("", Language::german).empty());
  CHECK(tokenize(" \n\t ", Language::english).empty());
  CHECK(english("...") == "...");
  CHECK(english(".") == ".");
}

TEST_CASE("tokenizer: quotes of both languages") {
  CHECK(german("Ein Schild: „Halt!“.") == "ein schild : „ halt ! “ .");
  CHECK(german("\"Ja\", sagt er.") == "\" ja \" , sagt er .");
  CHECK(english("a “big” dog") == "a “ big ” dog");
  CHECK(german("«nein» ‚doch‘") == "« nein » ‚ doch ‘");
  CHECK(english("the sign says \"Hart.\"") == "the sign says \" hart . \"");
  CHECK(english("'no'") == "' no '");
}

TEST_CASE("tokenizer: clitics") {
  CHECK(english("The man's dog doesn't run, it's old.") ==
        "the man 's dog does n't run , it 's old .");
  CHECK(english("I'm sure they're late; we'll see, I've said he'd go.") ==
        "i 'm sure they 're late ; we 'll see , i 've said he 'd go .");
  CHECK(english("He can't and cannot.") == "he ca n't and can not .");
  CHECK(english("the man’s hat, don’t") == "the man ’s hat , do n’t");
  CHECK(english("the boys' room") == "the boys ' room");
  CHECK(english("the 's stands alone") == "the 's stands alone");
  CHECK(german("Geht's zu McDonald's?") == "geht 's zu mcdonald 's ?");
  CHECK(german("can't") == "can't");  // no clitic of German
  CHECK(english("n't") == "n't");
}

TEST_CASE("tokenizer: full stops that belong to a word") {
  CHECK(english("Mr. Smith and Dr. Who in St. Louis.") == "mr. smith and dr. who in st. louis .");
  CHECK(english("the U.S. Army") == "the u.s. army");
  CHECK(english("J. Smith got an A.") == "j. smith got an a .");
  CHECK(german("Männer bzw. Frauen, z.B. Ärzte usw.") == "männer bzw. frauen , z.b. ärzte usw.");
  CHECK(german("am 4. Juli") == "am 4. juli");
  CHECK(german("Trikot mit der Nummer 4.") == "trikot mit der nummer 4 .");
  CHECK(english("number 4. Then") == "number 4 . then");
  CHECK(german("zwei ca. 3 m hohe Bäume") == "zwei ca. 3 m hohe bäume");
}

TEST_CASE("tokenizer: lower case of German and of all Latin letters to U+017F") {
  CHECK(lower_case("ÄÖÜẞ äöüß ABC xyz 123") == "äöüß äöüß abc xyz 123");
  CHECK(lower_case("ÀÉÎÕÞ×÷ÿ") == "àéîõþ×÷ÿ");
  CHECK(lower_case("ĀāĶķĹĺŃńŇňŊŋŶŷŸŹźŽžſ") == "āāķķĺĺńńňňŋŋŷŷÿźźžžſ");
  CHECK(lower_case("İı ĸ ŉ") == "iı ĸ ŉ");
  CHECK(lower_case("ΑБ") == "ΑБ");  // other scripts stay
  CHECK(german("ÜBER DEN FLUSS") == "über den fluss");
}

TEST_CASE("tokenizer: invalid UTF-8 is an error that names the byte") {
  using files::has;
  using files::problem;
  CHECK(has(problem([] { tokenize("abc\xff", Language::german); }), "byte 3"));
  CHECK(has(problem([] { tokenize("M\xe4nner", Language::german); }), "byte 1"));  // Latin-1
  CHECK(has(problem([] { lower_case("\xc3"); }), "byte 0"));
}

TEST_CASE("tokenizer: no letter is lost or added, whatever the text") {
  // All texts of six characters out of those that have a role.
  const std::vector<std::string> alphabet = {"a", "S",  "'", "’", ".", "-",
                                             ",", "\"", " ", "4", "–"};
  std::size_t n = 1;
  for (int i = 0; i < 5; ++i) n *= alphabet.size();
  bool same = true;
  for (std::size_t code = 0; code < n; ++code) {
    std::string text, without_space;
    for (std::size_t rest = code, i = 0; i < 5; ++i, rest /= alphabet.size()) {
      text += alphabet[rest % alphabet.size()];
      if (text.back() != ' ') without_space += alphabet[rest % alphabet.size()];
    }
    for (const Language language : {Language::german, Language::english}) {
      std::string put_out;
      for (const std::string& word : tokenize(text, language)) {
        same = same && !word.empty();
        put_out += word;
      }
      same = same && put_out == lower_case(without_space);
    }
  }
  CHECK(same);
}

TEST_CASE(
    "tokenizer: a line of 100,000 words and a word of 100,000 letters and marks take no time") {
  std::string words, marks;
  for (int i = 0; i < 100000; ++i) {
    words += "wort ";
    marks += ".-'"[i % 3];
  }
  CHECK(tokenize(words, Language::german).size() == 100000);
  CHECK(tokenize(std::string(100000, 'x'), Language::english).size() == 1);
  CHECK(tokenize(std::string(100000, '.'), Language::english).size() == 1);
  CHECK(tokenize(marks, Language::english).size() > 1000);
}

TEST_CASE("detokenize: for a person to read") {
  const auto read = [](const std::string& text, Language language) {
    return detokenize(tokenize(text, language), language);
  };
  for (const char* text :
       {"the man's dog doesn't run, it's old.", "a well-dressed man (old) waits!",
        "the sign says \"go home\" in red.", "a “big” dog", "mr. who, 100% wool"})
    CHECK(read(text, Language::english) == text);
  for (const char* text : {"ein schild: „halt!“.", "ein hund – groß – läuft.", "ein t-shirt"})
    CHECK(read(text, Language::german) == text);
  CHECK(detokenize({}, Language::german).empty());
}
