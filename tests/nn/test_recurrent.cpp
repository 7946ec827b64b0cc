#include "nn/recurrent.h"

#include "engine/engine.h"
#include "engine/gradcheck.h"
#include "tests/nn/golden_modules.h"

using namespace labgrad;
using namespace labgrad::tests;

namespace {

nn::RecurrentOptions options_of(const Json& attrs) {
  return {.layers = attrs.at("num_layers").as_int(),
          .bidirectional = attrs.at("bidirectional").as_bool(),
          .batch_first = attrs.at("batch_first").as_bool(),
          .bias = attrs.at("bias").as_bool()};
}

template <class Layer>
Named run_layer(const Json& attrs, Named& inputs) {
  const Tensor x = inputs.at("x");
  Layer layer(x.size(2), attrs.at("hidden_size").as_int(), options_of(attrs));
  load_by_name(layer, inputs);
  const auto out = layer.forward(x, {.h0 = inputs["h0"], .c0 = inputs["c0"]});
  return {{"out", out.out}, {"h_n", out.h}, {"c_n", out.c}};
}

// The rows of a batch, cut to their own lengths and run alone.
template <class Layer>
void check_packed(Layer& layer) {
  manual_seed(3);
  layer.to(f64);
  const Tensor x = randn({3, 5, 2}, {.dtype = f64});  // (B, T, I)
  const std::vector<std::int64_t> lengths = {5, 2, 4};
  const auto packed = layer.forward(x, {.lengths = from_values(lengths, {3})});
  for (std::int64_t b = 0; b < 3; ++b) {
    const std::int64_t n = lengths[static_cast<std::size_t>(b)];
    const auto alone = layer.forward(narrow(narrow(x, 0, b, 1), 1, 0, n));
    CHECK(difference(narrow(narrow(packed.out, 0, b, 1), 1, 0, n), alone.out) == "");
    CHECK(difference(narrow(packed.h, 1, b, 1), alone.h) == "");
    CHECK(sum(abs(narrow(narrow(packed.out, 0, b, 1), 1, n, 5 - n))).item() == 0);
    if (alone.c.defined()) CHECK(difference(narrow(packed.c, 1, b, 1), alone.c) == "");
  }
}

}  // namespace

TEST_CASE("recurrent layers: PyTorch's values and gradients") {
  CHECK(check_golden_outputs("gru", run_layer<nn::GRU>) == 3);
  CHECK(check_golden_outputs("lstm", run_layer<nn::LSTM>) == 1);
  CHECK(check_golden_outputs("rnn", run_layer<nn::RNN>) == 1);
}

TEST_CASE("recurrent cells: PyTorch's values and gradients") {
  CHECK(check_golden_outputs("grucell", [](const Json&, Named& in) {
          nn::GRUCell cell(3, 4);
          load_by_name(cell, in);
          return Named{{"h", cell.forward(in.at("x"), in.at("h"))}};
        }) == 1);
  CHECK(check_golden_outputs("lstmcell", [](const Json&, Named& in) {
          nn::LSTMCell cell(3, 2);
          load_by_name(cell, in);
          const auto [h, c] = cell.forward(in.at("x"), {in.at("h"), in.at("c")});
          return Named{{"h", h}, {"c", c}};
        }) == 1);
}

// h = (0.5, -1), r = (0.2, 0.9), and U swaps the two units: the candidate's recurrent term is
// (r ⊙ h) U = (-0.9, 0.1) in the paper's form and r ⊙ (h U) = (-0.2, 0.45) in PyTorch's.
TEST_CASE("GRU: the two published forms differ, and each is the one that its name says") {
  const Tensor h = tensor({{0.5, -1.0}}, {.dtype = f64});
  const double r[] = {0.2, 0.9};
  nn::GateWeights w(3, 1, 2, false);
  {
    NoGrad no_grad;
    w.weight_ih = zeros({6, 1}, {.dtype = f64});
    w.weight_hh =
        tensor({{0., 0.}, {0., 0.}, {0., 0.}, {0., 0.}, {0., 1.}, {1., 0.}}, {.dtype = f64});
  }
  // The gates come from the inputs alone: σ(logit r) = r, and z = σ(-40) is 0 but for 4e-18.
  const Tensor xs =
      tensor({{std::log(r[0] / (1 - r[0])), std::log(r[1] / (1 - r[1])), -40.0, -40.0, 0.0, 0.0}},
             {.dtype = f64});
  const Tensor after = nn::gru_step(xs, h, w, nn::GruForm::reset_after);
  const Tensor before = nn::gru_step(xs, h, w, nn::GruForm::reset_before);
  CHECK(difference(after, {std::tanh(-0.2), std::tanh(0.45)}, {.atol = 1e-12}) == "");
  CHECK(difference(before, {std::tanh(-0.9), std::tanh(0.1)}, {.atol = 1e-12}) == "");
  CHECK(nn::GRU(2, 2).str().find("reset_after") != std::string::npos);
  CHECK(nn::GRU(2, 2, {}, nn::GruForm::reset_before).str().find("reset_before") !=
        std::string::npos);
}

// The layer by plain loops over the cell: T = 1 and T > 1, one layer and two.
TEST_CASE("GRU: a layer is its cell, step by step, and each layer has its own first state") {
  for (const nn::GruForm form : {nn::GruForm::reset_after, nn::GruForm::reset_before})
    for (const std::int64_t T : {1, 4}) {
      manual_seed(1);
      nn::GRU gru(3, 2, {.layers = 2}, form);
      const Tensor x = randn({T, 2, 3}), h0 = randn({2, 2, 2});
      const auto got = gru.forward(x, {.h0 = h0});
      Tensor h[2] = {select(h0, 0, 0), select(h0, 0, 1)};
      for (std::int64_t t = 0; t < T; ++t) {
        h[0] = nn::gru_step(gru.weights[0].input(select(x, 0, t)), h[0], gru.weights[0], form);
        h[1] = nn::gru_step(gru.weights[1].input(h[0]), h[1], gru.weights[1], form);
        CHECK(difference(select(got.out, 0, t), h[1], {.rtol = 1e-5, .atol = 1e-6}) == "");
      }
      CHECK(difference(got.h, stack({h[0], h[1]}), {.rtol = 1e-5, .atol = 1e-6}) == "");
    }
}

TEST_CASE("recurrent layers: packed lengths give what each sequence gives alone") {
  nn::GRU gru(2, 3, {.layers = 2, .bidirectional = true, .batch_first = true});
  check_packed(gru);
  nn::LSTM lstm(2, 3, {.layers = 2, .bidirectional = true, .batch_first = true});
  check_packed(lstm);
  nn::RNN rnn(2, 3, {.bidirectional = true, .batch_first = true}, nn::RnnFunction::relu);
  check_packed(rnn);
}

TEST_CASE("recurrent layers: gradients over a whole sequence, also of the original GRU") {
  for (const nn::GruForm form : {nn::GruForm::reset_after, nn::GruForm::reset_before}) {
    manual_seed(2);
    nn::GRU gru(2, 2, {.bidirectional = true}, form);
    gru.to(f64);
    const Tensor lengths = tensor({3, 2});
    Tensors inputs = gru.parameters();
    inputs.push_back(randn({3, 2, 2}, {.dtype = f64, .requires_grad = true}));
    inputs.push_back(randn({2, 2, 2}, {.dtype = f64, .requires_grad = true}));
    const auto f = [&](const Tensors& in) {
      for (std::size_t d = 0; d < 2; ++d) {
        nn::GateWeights& w = gru.weights[d];
        w.weight_ih = in[4 * d];
        w.weight_hh = in[4 * d + 1];
        w.bias_ih = in[4 * d + 2];
        w.bias_hh = in[4 * d + 3];
      }
      const auto out = gru.forward(in[8], {.h0 = in[9], .lengths = lengths});
      return Tensors{out.out, out.h};
    };
    gradcheck(f, inputs, {.op = "GRU"});
    gradgradcheck(f, inputs, {.op = "GRU", .full_limit = 1});
  }
}

TEST_CASE("recurrent layers: clear errors") {
  nn::GRU gru(2, 3);
  CHECK_THROWS_WITH_AS(gru.forward(zeros({4, 1, 5})),
                       "GRU: x has shape (4, 1, 5), expected (T, B, 2)", Error);
  CHECK_THROWS_WITH_AS(gru.forward(zeros({4, 1, 2}), {.h0 = zeros({1, 1, 2})}),
                       "GRU: h0 has shape (1, 1, 2), expected (1, 1, 3)", Error);
  CHECK_THROWS_AS(gru.forward(zeros({4, 1, 2}), {.lengths = tensor({5})}), Error);
  CHECK_THROWS_AS(gru.forward(zeros({4, 1, 2}), {.lengths = tensor({0})}), Error);
  CHECK_THROWS_AS(gru.forward(zeros({0, 1, 2})), Error);
  nn::GRUCell cell(2, 3);
  CHECK_THROWS_WITH_AS(cell.forward(zeros({1, 4})), "GRUCell: x has shape (1, 4), expected (B, 2)",
                       Error);
}
