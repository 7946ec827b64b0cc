// What the retrieval sections compute and draw: chance, the sign test, the gallery.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/error.h"
#include "labs/pretrained/gallery.h"
#include "labs/pretrained/paired.h"
#include "tests/labs/common/xml.h"

using namespace labgrad;
using namespace labgrad::labs;
using namespace labgrad::labs::pretrained;

TEST_CASE("pretrained: chance is the mean over all orders") {
  // 3 right ones among 7: every order, by brute force.
  std::vector<int> order{0, 0, 0, 0, 1, 1, 1};
  double top1 = 0, top5 = 0, ap = 0, n = 0;
  do {
    double right = 0, precision = 0;
    for (std::size_t r = 0; r < order.size(); ++r) {
      if (order[r] == 0) continue;
      ++right;
      precision += right / static_cast<double>(r + 1);
    }
    ap += precision / 3;
    top1 += order[0];
    top5 += *std::max_element(order.begin(), order.begin() + 5);
    ++n;
  } while (std::next_permutation(order.begin(), order.end()));
  const Chance c = chance_of(3, 7);
  CHECK(c.top1 == doctest::Approx(top1 / n));
  CHECK(c.top5 == doctest::Approx(top5 / n));
  CHECK(c.average_precision == doctest::Approx(ap / n));
  const Chance none = chance_of(0, 7);
  CHECK(none.top1 + none.top5 + none.average_precision == 0);
  CHECK(chance_of(2, 10).top5 == doctest::Approx(1 - 8.0 / 10 * 7 / 9 * 6 / 8 * 5 / 7 * 4 / 6));
  // A query of each of two classes, of which the database has 1 and 3.
  const Chance both = mean_chance({0, 1}, {1, 0, 1, 1});
  CHECK(both.top1 == doctest::Approx(0.5));
  CHECK(
      both.average_precision ==
      doctest::Approx((chance_of(1, 4).average_precision + chance_of(3, 4).average_precision) / 2));
}

TEST_CASE("pretrained: the sign test counts where only one is right") {
  const Paired p = paired({true, true, false, false, true}, {true, false, true, false, false});
  CHECK(p.both == 1);
  CHECK(p.only_first == 2);
  CHECK(p.only_second == 1);
  CHECK(p.neither == 1);
  CHECK(Paired{.only_first = 1, .only_second = 9}.probability() ==
        doctest::Approx(2.0 * (1 + 10) / 1024));
  CHECK(Paired{.only_first = 8}.probability() == doctest::Approx(2.0 / 256));
  CHECK(Paired{.only_first = 5, .only_second = 5}.probability() == 1);
  CHECK(Paired{}.probability() == 1);
  const double far = Paired{.only_first = 900, .only_second = 500}.probability();
  CHECK(far > 0);
  CHECK(far < 1e-20);
  CHECK_THROWS_AS(paired({true}, {}), Error);
}

TEST_CASE("pretrained: a gallery frames the right ones") {
  const ImagePanel image{.width = 28, .height = 28, .brightness = std::vector<float>(784, 0.5F)};
  const auto row = [&](const std::string& name, std::vector<bool> right) {
    GalleryRow out{.name = name, .query = image, .groups = {{}, {}}};
    for (std::size_t i = 0; i < right.size(); ++i) out.groups[i % 2].push_back({image, right[i]});
    return out;
  };
  const std::vector<GalleryRow> rows{row("bags & boots", {true, false, true, true}),
                                     row("coat", {false, false, true})};
  const std::string svg = draw_gallery("Two queries", {"by embedding", "by pixels"}, rows);
  CHECK(tests::xml_fault(svg) == "");
  CHECK(tests::count_of(svg, "<image") == 2 + 4 + 3);
  CHECK(tests::count_of(svg, "stroke-width=\"3\"") == 4);
  for (const char* text : {"Two queries", "by embedding", "by pixels", "bags &amp; boots", "coat"})
    CHECK(tests::count_of(svg, text) >= 1);
  CHECK_THROWS_AS(draw_gallery("", {"only one"}, rows), Error);
}
