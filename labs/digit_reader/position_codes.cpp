// Section 7: sinusoidal codes, one for each column of the feature map.

#include <cmath>

#include "engine/engine.h"
#include "labs/common/plot.h"
#include "labs/digit_reader/sections.h"
#include "nn/position.h"

namespace labgrad::labs::digit_reader {

void position_codes(Lab& lab) {
  lab.equation("position.1",
               "P[p, 2i] = sin(p / 10000^(2i/D)),  P[p, 2i+1] = cos(p / 10000^(2i/D))");
  constexpr std::int64_t N = 21, D = 128;
  const Tensor P = nn::sinusoidal_positions(N, D);
  const Tensor dots = matmul(P, transpose(P));
  lab.say(
      "The column states of this lab know their place from the GRU that made them. Without one, a "
      "code would be added to each column, here one of {} numbers for each of {} columns. The dot "
      "product of two codes depends on how far apart they are and on nothing else.",
      D, N);
  double worst = 0;
  for (std::int64_t p = 0; p < N; ++p)
    for (std::int64_t q = p; q < N; ++q)
      worst = std::max(worst, std::abs(dots.at({p, q}) - dots.at({0, q - p})));
  lab.check_less("pairs of columns at the same distance have the same product (largest difference)",
                 worst, 1e-4);
  Series series{.name = "", .style = Style::line_and_points};
  for (std::int64_t q = 0; q < N; ++q) {
    series.x.push_back(static_cast<double>(q - N / 2));
    series.y.push_back(dots.at({N / 2, q}));
  }
  lab.picture("position_codes", "The product of the codes of columns p and q.",
              draw_plot({.title = "Dot product of the codes of two columns",
                         .x = {.label = "q - p"},
                         .y = {.label = "P[p]·P[q]"},
                         .series = {series}}));
  lab.say("More about these codes: `build/bin/attention --section codes`.");
}

}  // namespace labgrad::labs::digit_reader
