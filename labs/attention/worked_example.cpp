// Section 1: the one equation, on numbers that can be followed by hand.

#include <cmath>

#include "engine/engine.h"
#include "labs/attention/sections.h"
#include "nn/attention.h"

namespace labgrad::labs::attention {

void worked_example(Lab& lab) {
  lab.equation("attention.1", "Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V");
  const Tensor Q = tensor({{1.0, 0.0, 0.0, 0.0}});
  const Tensor K = tensor({{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.7, 0.7, 0.0, 0.0}});
  const Tensor V = tensor({{10.0, 0.0}, {0.0, 10.0}, {5.0, 5.0}});
  const double d_k = 4;
  lab.say(
      "One query and three keys of width {}: key 0 is the query itself, key 1 is at a right "
      "angle to it, key 2 lies between. Each key has a value of width 2.",
      d_k);

  const auto prediction = lab.predict(
      "Which weight will be the largest, and in which order will the "
      "three keys stand?",
      {"key 0, 1, 2", "key 0, 2, 1", "key 2, 0, 1"});
  const auto [out, weights] = nn::scaled_dot_product_attention(Q, K, V);
  lab.reveal(prediction, std::size_t{1});

  const Tensor scores = matmul(Q, transpose(K));
  Table table({{"key"}, {"k"}, {"v"}, {"q·k", ".4f"}, {"q·k / √d_k", ".4f"}, {"weight", ".4f"}});
  const char* keys[] = {"(1, 0, 0, 0)", "(0, 1, 0, 0)", "(0.7, 0.7, 0, 0)"};
  const char* values[] = {"(10, 0)", "(0, 10)", "(5, 5)"};
  for (std::int64_t j = 0; j < 3; ++j)
    table.row(j, keys[j], values[j], scores.at({0, j}), scores.at({0, j}) / std::sqrt(d_k),
              weights.at({0, j}));
  lab.table(table);
  lab.say("The output is the average of the values by these weights: ({:.4f}, {:.4f}).",
          out.at({0, 0}), out.at({0, 1}));

  // By hand: e^0.5, e^0 and e^0.35 over their sum.
  const double e[] = {std::exp(0.5), 1.0, std::exp(0.35)};
  const double total = e[0] + e[1] + e[2];
  double w[3];
  for (int j = 0; j < 3; ++j) w[j] = e[j] / total;
  lab.check_close("the weights sum to 1", sum(weights).item(), 1, 1e-6);
  for (std::int64_t j = 0; j < 3; ++j)
    lab.check_close(fmt::format("weight {} by hand, {:.4f}", j, w[j]), weights.at({0, j}), w[j],
                    1e-6);
  lab.check_true(
      "the aligned key wins, the order is key 0, key 2, key 1",
      weights.at({0, 0}) > weights.at({0, 2}) && weights.at({0, 2}) > weights.at({0, 1}));
  lab.check_close("output 0 is 10 w0 + 5 w2", out.at({0, 0}), 10 * w[0] + 5 * w[2], 1e-5);
  lab.check_close("output 1 is 10 w1 + 5 w2", out.at({0, 1}), 10 * w[1] + 5 * w[2], 1e-5);
  lab.say(
      "That is all attention is: a table that is looked up softly. A dictionary returns the value "
      "of the one key that is equal; attention returns a mixture of all values, more of those "
      "whose keys fit better, and every step of it has a derivative.");
}

}  // namespace labgrad::labs::attention
