// Q3.2, Q3.3: what the reader with attention has that the other one has not.

#include "labs/digit_reader/readers.h"
#include "labs/digit_reader/sections.h"

namespace labgrad::labs::digit_reader {

void two_readers(Lab& lab) {
  lab.say("Both start from s_0. The fixed reader's decoder never sees the columns again:");
  lab.equation("reader.3", "s_t = GRU(E[y_{t-1}], s_{t-1}),  l_t = W_out s_t + b_out");
  lab.say("The other one asks the columns at every step, and takes the answer in two places:");
  lab.equation("reader.4", "q_t = W_Q s_{t-1},  k_j = W_K h_j,  v_j = W_V h_j");
  lab.equation("reader.5",
               "s_t = GRU([E[y_{t-1}]; c_t], s_{t-1}),  l_t = W_out [s_t; c_t] + b_out");
  constexpr std::int64_t hidden = 64, d_k = 64, d_v = 128, symbols = 13;
  const std::int64_t wq = hidden * d_k, wk = 128 * d_k, wv = 128 * d_v;
  const std::int64_t wider_cell = 3 * hidden * d_v, wider_out = symbols * d_v;
  const std::int64_t more = wq + wk + wv + wider_cell + wider_out;
  lab.say(
      "By hand: W_Q, W_K and W_V are new, {} + {} + {} parameters. The decoder's GRU has {} more "
      "inputs, 3 x {} x {} = {}; the output layer has {} more, {} x {} = {}. Together {}.",
      wq, wk, wv, d_v, hidden, d_v, wider_cell, d_v, symbols, d_v, wider_out, more);

  FixedReader fixed;
  AttentionReader attention;
  Table table({{"part"}, {"fixed", ",d"}, {"attention", ",d"}});
  const auto fixed_parts = fixed.parameter_count_by_part();
  for (const auto& [part, count] : attention.parameter_count_by_part()) {
    Cell other;
    for (const auto& [name, n] : fixed_parts)
      // The decoder is called gru in the one and cell in the other, as in PyTorch.
      if (name == part || (name == "gru" && part == "cell")) other = n;
    table.add_row(
        {make_cell(part == "cell" ? "decoder (gru, cell)" : part), other, make_cell(count)});
  }
  const std::int64_t a = attention.parameter_count(), f = fixed.parameter_count();
  table.row("all", f, a);
  lab.table(table);
  lab.check_equal("parameters of the fixed reader", f, 343437);
  lab.check_equal("parameters of the attention reader", a, 398349);
  lab.check_equal("the difference is the one by hand", a - f, more);
  lab.say(
      "The ratio is {:.3f}: the attention reader is {:.0f} % larger. Whatever the comparison shows "
      "is the effect of this change as a whole, more parameters included.",
      static_cast<double>(a) / static_cast<double>(f),
      100.0 * static_cast<double>(more) / static_cast<double>(f));
}

}  // namespace labgrad::labs::digit_reader
