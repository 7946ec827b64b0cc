// Section 6: sinusoidal position codes, whose dot product depends on the distance alone.

#include <cmath>

#include "engine/engine.h"
#include "labs/attention/sections.h"
#include "labs/common/heat_map.h"
#include "labs/common/plot.h"
#include "nn/position.h"

namespace labgrad::labs::attention {

void position_codes(Lab& lab) {
  lab.equation("position.1",
               "P[p, 2i] = sin(p / 10000^(2i/D)),  P[p, 2i+1] = cos(p / 10000^(2i/D))");
  constexpr std::int64_t T = 64, D = 32;
  const Tensor P = nn::sinusoidal_positions(T, D);
  const Tensor dots = matmul(P, transpose(P));  // (T, T): the codes of p and of q
  lab.say(
      "Codes of {} positions in {} dimensions. Each pair of dimensions is the hand of a clock, "
      "from "
      "fast to slow. By cos(a)cos(b) + sin(a)sin(b) = cos(a - b) the dot product of the codes of p "
      "and q is Σ cos((p - q) / 10000^(2i/D)): the distance is all that is left.",
      T, D);

  Table table(
      {{"p - q", "d"}, {"p = 0", ".4f"}, {"p = 10", ".4f"}, {"p = 40", ".4f"}, {"Σ cos", ".4f"}},
      "The dot product of the codes of p and q = p + distance");
  auto by_formula = [](std::int64_t distance) {
    double total = 0;
    for (std::int64_t i = 0; i < D; i += 2)
      total += std::cos(static_cast<double>(distance) /
                        std::pow(10000.0, static_cast<double>(i) / static_cast<double>(D)));
    return total;
  };
  for (const std::int64_t distance : {0, 1, 2, 4, 8, 16, 23})
    table.row(-distance, dots.at({0, distance}), dots.at({10, 10 + distance}),
              dots.at({40, 40 + distance}), by_formula(distance));
  lab.table(table);

  double worst = 0;
  for (std::int64_t p = 0; p < T; ++p)
    for (std::int64_t q = 0; q < T; ++q)
      worst = std::max(worst, std::abs(dots.at({p, q}) - by_formula(p - q)));
  lab.check_less("the dot product depends on p - q alone (largest difference, all pairs)", worst,
                 1e-4);
  lab.check_close("each code has the length √(D/2)", std::sqrt(dots.at({T - 1, T - 1})),
                  std::sqrt(static_cast<double>(D) / 2), 1e-5);

  HeatMap codes{.title = "Sinusoidal codes",
                .row_title = "position",
                .column_title = "dimension",
                .colours = Colours::diverging};
  for (std::int64_t p = 0; p < T; ++p) codes.values.push_back(select(P, 0, p).to_vector());
  codes.cell = 7;
  lab.picture("position_codes", "The codes: fast hands on the left, slow ones on the right.",
              draw_heat_map(codes));
  Series falling{.name = "p = 20"};
  for (std::int64_t q = 0; q < T; ++q) {
    falling.x.push_back(static_cast<double>(q - 20));
    falling.y.push_back(dots.at({20, q}));
  }
  lab.picture("position_dot_products", "Near positions have similar codes.",
              draw_plot({.title = "Dot product of two position codes",
                         .x = {.label = "q - p"},
                         .y = {.label = "P[p]·P[q]"},
                         .series = {falling}}));
}

}  // namespace labgrad::labs::attention
