#include "nn/attention.h"

#include "engine/engine.h"
#include "engine/gradcheck.h"
#include "nn/encoder.h"
#include "nn/position.h"
#include "tests/nn/golden_modules.h"

using namespace labgrad;
using namespace labgrad::tests;

namespace {

constexpr Tolerance near{.rtol = 1e-5, .atol = 1e-6};

}  // namespace

TEST_CASE("scaled dot-product attention: PyTorch's values and gradients") {
  CHECK(check_golden_outputs("attention", [](const Json&, Named& in) {
          const auto [out, weights] =
              nn::scaled_dot_product_attention(in.at("q"), in.at("k"), in.at("v"), in.at("keep"));
          return Named{{"out", out}, {"weights", weights}};
        }) == 1);
}

TEST_CASE("attention: weights over the keys sum to 1, and not each is 1") {
  manual_seed(1);
  const Tensor q = randn({2, 1, 4}), k = randn({2, 2, 4}), v = randn({2, 2, 3});
  const auto [out, weights] = nn::scaled_dot_product_attention(q, k, v);
  CHECK(weights.shape() == Shape{2, 1, 2});
  CHECK(difference(sum(weights, -1), ones({2, 1}), near) == "");
  CHECK(max(weights).item() < 0.999);
}

TEST_CASE("attention: a query that may see nothing gives zeros and gradients of zero, never NaN") {
  manual_seed(2);
  const Tensor q = randn({3, 4}, {.dtype = f64, .requires_grad = true});
  const Tensor k = randn({3, 4}, {.dtype = f64, .requires_grad = true});
  const Tensor v = randn({3, 2}, {.dtype = f64, .requires_grad = true});
  // Padding hides key 0, causality the keys behind each query: query 0 is left with nothing.
  const Tensor keep = nn::causal_mask(3) & tensor({false, true, true});
  const auto [out, weights] = nn::scaled_dot_product_attention(q, k, v, keep);
  CHECK(max(abs(select(weights, 0, 0))).item() == 0);
  CHECK(max(abs(select(out, 0, 0))).item() == 0);
  sum(out * randn({3, 2}, {.dtype = f64})).backward();
  for (const Tensor& x : {q, k, v}) CHECK(all(isfinite(x.grad())).item<bool>());
  CHECK(max(abs(select(q.grad(), 0, 0))).item() == 0);
  CHECK(max(abs(select(k.grad(), 0, 0))).item() == 0);
  CHECK(max(abs(select(v.grad(), 0, 1))).item() > 0);
  gradcheck(
      [&](const Tensors& x) {
        return nn::scaled_dot_product_attention(x[0], x[1], x[2], keep).out;
      },
      {q, k, v}, {.op = "attention"});
}

// One mask, checked both ways: what comes later changes nothing, and gets no gradient.
TEST_CASE("attention: causal means that the output at t knows nothing after t") {
  manual_seed(3);
  constexpr std::int64_t T = 5;
  nn::EncoderBlock block(8, 2, 16);
  const Tensor keep = nn::causal_mask(T);
  const Tensor x = randn({1, T, 8}, {.requires_grad = true});
  const Tensor y = block.forward(x, keep).out;
  for (std::int64_t t = 0; t < T; ++t) {
    const Tensor dx = grad(select(y, 1, t), x, randn({1, 8}), {.retain_graph = true});
    if (t + 1 < T) CHECK(max(abs(narrow(dx, 1, t + 1, T - t - 1))).item() == 0);
    CHECK(max(abs(select(dx, 1, t))).item() > 0);
    Tensor changed = clone(x.detach());
    if (t + 1 < T) narrow(changed, 1, t + 1, T - t - 1).fill_(9);
    CHECK(bit_difference(select(block.forward(changed, keep).out, 1, t), select(y, 1, t)) == "");
  }
}

TEST_CASE("attention: padding changes nothing, and permuted inputs give permuted outputs") {
  manual_seed(4);
  nn::EncoderBlock block(8, 4, 16);
  const Tensor x = randn({2, 6, 8});
  const Tensor keep = unsqueeze(unsqueeze(nn::length_mask(tensor({4, 6}), 6), 1), 1);
  const Tensor y = block.forward(x, keep).out;
  const Tensor cut = block.forward(narrow(narrow(x, 0, 0, 1), 1, 0, 4)).out;
  CHECK(difference(narrow(narrow(y, 0, 0, 1), 1, 0, 4), cut, near) == "");

  const Tensor order = tensor({3, 0, 5, 1, 4, 2});
  CHECK(difference(block.forward(index_select(x, 1, order)).out,
                   index_select(block.forward(x).out, 1, order), near) == "");
}

TEST_CASE("MultiHeadAttention: each head by itself, from the equation") {
  manual_seed(5);
  nn::MultiHeadAttention attention(6, 3);
  const Tensor x = randn({2, 4, 6});
  const auto [out, weights] = attention.forward(x);
  CHECK(weights.shape() == Shape{2, 3, 4, 4});
  Tensors heads;
  for (std::int64_t h = 0; h < 3; ++h) {
    auto part = [&](nn::Linear& l) { return narrow(l(x), 2, 2 * h, 2); };
    heads.push_back(
        nn::scaled_dot_product_attention(part(attention.q), part(attention.k), part(attention.v))
            .out);
  }
  CHECK(difference(out, attention.out(cat(heads, -1)), near) == "");
  CHECK_THROWS_WITH_AS(nn::MultiHeadAttention(6, 4),
                       "MultiHeadAttention: d_model 6 is not a multiple of 4 heads", Error);
  CHECK_THROWS_AS(nn::scaled_dot_product_attention(x, randn({2, 4, 5}), x), Error);
}

TEST_CASE("EncoderBlock and AdditiveAttention: gradients") {
  manual_seed(6);
  nn::EncoderBlock block(4, 2, 4);
  block.to(f64);
  const Tensor x = randn({1, 3, 4}, {.dtype = f64, .requires_grad = true});
  gradcheck([&](const Tensors& in) { return block.forward(in[0], nn::causal_mask(3)).out; }, {x},
            {.op = "EncoderBlock"});
  nn::AdditiveAttention additive(4, 4, 5);
  additive.to(f64);
  const Tensor v = randn({1, 3, 2}, {.dtype = f64, .requires_grad = true});
  const auto f = [&](const Tensors& in) {
    return additive.forward(in[0], in[0], in[1], tensor({2})).out;
  };
  gradcheck(f, {x, v}, {.op = "AdditiveAttention"});
  gradgradcheck(f, {x, v}, {.op = "AdditiveAttention"});
}

TEST_CASE("AdditiveAttention: the equation by loops; seq_len hides the rest; 0 gives zeros") {
  manual_seed(7);
  nn::AdditiveAttention attention(3, 2, 4);
  attention.to(f64);
  const Tensor q = randn({2, 2, 3}, {.dtype = f64}), k = randn({2, 3, 2}, {.dtype = f64});
  const Tensor v = randn({2, 3, 5}, {.dtype = f64});
  const Tensor scores = attention.scores(q, k);
  double want = 0;
  for (std::int64_t h = 0; h < 4; ++h) {
    double a = 0;
    for (std::int64_t i = 0; i < 3; ++i) a += attention.wq.weight.at({h, i}) * q.at({1, 0, i});
    for (std::int64_t i = 0; i < 2; ++i) a += attention.wk.weight.at({h, i}) * k.at({1, 2, i});
    want += attention.v.weight.at({0, h}) * std::tanh(a);
  }
  CHECK(scores.at({1, 0, 2}) == doctest::Approx(want).epsilon(1e-12));
  const auto [out, weights] = attention.forward(q, k, v, tensor({2, 0}));
  CHECK(max(abs(narrow(select(weights, 0, 0), 1, 2, 1))).item() == 0);
  CHECK(difference(sum(select(weights, 0, 0), -1), ones({2})) == "");
  CHECK(max(abs(select(out, 0, 1))).item() == 0);
}

TEST_CASE("sample_values: one value each, in the mean the soft average") {
  Generator g(11);
  const Tensor w = tensor({{0.2, 0.0, 0.8}}, {.dtype = f64});
  const Tensor v = tensor({{1.0}, {100.0}, {3.0}}, {.dtype = f64});
  const Tensor drawn = nn::sample_values(expand(w, {20000, 3}), v, g);
  CHECK(drawn.shape() == Shape{20000, 1});
  CHECK(max(drawn).item() == 3);  // never the key of weight 0
  CHECK(mean(drawn).item() == doctest::Approx(2.6).epsilon(0.01));
  CHECK_THROWS_AS(nn::sample_values(w * 0.5, v, g), Error);
}

TEST_CASE(
    "position codes: the dot product depends on the distance; too many positions are an error") {
  const Tensor P = nn::sinusoidal_positions(40, 16);
  const Tensor dots = matmul(P, transpose(P));
  for (const std::int64_t p : {0, 7, 30})
    CHECK(dots.at({p, p + 5}) == doctest::Approx(dots.at({0, 5})));
  CHECK(P.at({3, 0}) == doctest::Approx(std::sin(3.0)));
  CHECK(P.at({3, 5}) == doctest::Approx(std::cos(3 / std::pow(10000.0, 4.0 / 16))));
  nn::LearnedPositions pos(4, 8);
  CHECK(difference(pos(zeros({2, 3, 8})), expand(narrow(pos.weight, 1, 0, 3), {2, 3, 8}), near) ==
        "");
  CHECK_THROWS_AS(pos(zeros({1, 5, 8})), Error);
}
