#include "labs/translation/seq2seq.h"

#include <cmath>

#include "engine/engine.h"
#include "tests/nn/golden_modules.h"

using namespace labgrad;
using namespace labgrad::tests;
using namespace labgrad::labs::translation;

namespace {

ModelSizes golden_sizes() {
  const Json& sizes = golden::file("translation.json").at("sizes");
  return {.source_words = sizes.at("source_words").as_int(),
          .target_words = sizes.at("target_words").as_int(),
          .embedding = sizes.at("embedding").as_int(),
          .hidden = sizes.at("hidden").as_int(),
          .layers = sizes.at("layers").as_int(),
          .dropout = 0};
}

Tensor whole(const Json& rows) {
  std::vector<std::int64_t> values;
  for (const Json& row : rows.as_array())
    for (const std::int64_t v : golden::integers(row)) values.push_back(v);
  const auto n = static_cast<std::int64_t>(rows.size());
  return from_values(values, {n, static_cast<std::int64_t>(values.size()) / n});
}

const ModelSizes small{
    .source_words = 30, .target_words = 40, .embedding = 6, .hidden = 8, .layers = 2, .dropout = 0};

}  // namespace

TEST_CASE("translation: the seed's weights, scores, loss and gradients are PyTorch's") {
  const Json& file = golden::file("translation.json");
  const Tensor x = whole(file.at("x")), y = whole(file.at("y"));
  const std::vector<std::int64_t> lengths = golden::integers(file.at("lengths"));
  for (const Json& model : file.at("models").as_array()) {
    const bool attention = model.at("name").as_string() == "attention";
    CAPTURE(attention);
    manual_seed(golden::unsigned_integer(model.at("seed")));
    Seq2Seq seq2seq(golden_sizes(), attention);
    check_golden_parameters(seq2seq, model.at("params"));
    for (const Json& next : model.at("next32").as_array())
      CHECK(default_generator().u32() == golden::unsigned_integer(next));

    seq2seq.to(f64);
    seq2seq.enc.reads_padding = true;
    for (const double p_tf : {1.0, 0.0}) {
      CAPTURE(p_tf);
      const Json& want = model.at(p_tf == 1 ? "forced" : "free");
      seq2seq.zero_grad();
      const Tensor l = seq2seq.forward(x, y, from_values(lengths, {3}), {.p_tf = p_tf});
      CHECK(difference(l, golden::doubles(want.at("scores"))) == "");
      const Tensor loss = translation_loss(l, y);
      CHECK(!(std::abs(loss.item() - want.at("loss").as_double()) > 1e-12));
      loss.backward();
      for (const nn::NamedTensor& named : seq2seq.named_parameters()) {
        CAPTURE(named.first);
        CHECK(difference(named.second.grad(), golden::doubles(want.at("grads").at(named.first))) ==
              "");
      }
    }
  }
}

TEST_CASE("translation: the printed shapes of the tutorial") {
  manual_seed(0);
  const ModelSizes sizes{
      .source_words = 50, .target_words = 60, .embedding = 128, .hidden = 64, .layers = 2};
  const Tensor x = randint(4, 50, {17, 4}), y = randint(4, 60, {17, 4});
  for (const bool attention : {false, true}) {
    Seq2Seq model(sizes, attention);
    const Seq2SeqEncoder::Output encoded = model.enc.forward(x);
    CHECK(encoded.h.shape() == Shape{17, 4, 64});
    CHECK(encoded.h_T.shape() == Shape{2, 4, 64});
    const Source source = model.dec->source(encoded, {});
    const Decoder::Steps steps = model.dec->decode(y, source.h_T, source);
    CHECK(model.dec->output(steps.s).shape() == Shape{17, 4, 60});
    CHECK(steps.h.shape() == Shape{2, 4, 64});
    if (attention) CHECK(steps.weights.shape() == Shape{17, 4, 2, 17});
    CHECK(model.forward(x, y).shape() == Shape{16, 4, 60});
  }
}

TEST_CASE("translation: MLPAttention's worked results of the tutorial") {
  manual_seed(0);
  MLPAttention attention(3, 2, 5, 100);
  const Tensor q = ones({2, 1, 3}), k = ones({2, 4, 2});
  const Tensor v = transpose(reshape(arange(40.0), {2, 5, 4}), 1, 2);
  constexpr Tolerance close{.rtol = 1e-6, .atol = 1e-6};
  CHECK(difference(attention.forward(q, k, v).out,
                   {1.5, 5.5, 9.5, 13.5, 17.5, 21.5, 25.5, 29.5, 33.5, 37.5}, close) == "");
  CHECK(difference(attention.forward(q, k, v, tensor({1, 1})).out,
                   {0, 4, 8, 12, 16, 20, 24, 28, 32, 36}, close) == "");
  const auto [out, weights] = attention.forward(q, k, v, tensor({2, 4}));
  CHECK(difference(out, {0.5, 4.5, 8.5, 12.5, 16.5, 21.5, 25.5, 29.5, 33.5, 37.5}, close) == "");
  CHECK(weights.at({0, 0, 2}) == 0);
  CHECK(weights.at({0, 0, 3}) == 0);
  CHECK_THROWS_WITH_AS(attention.forward(q, k, ones({2, 4, 6})),
                       "MLPAttention: the values have shape (2, 4, 6), expected (B, K, 5)", Error);
}

// The equations in plain loops, in double precision.
TEST_CASE("translation: a decoder's step with attention is its equations") {
  manual_seed(5);
  Seq2SeqDecoderAttn decoder(small);
  decoder.to(f64);
  constexpr std::int64_t S1 = 4, H = 8, L = 2;
  const Tensor h = randn({S1, 1, H}, {.dtype = f64}), h_prev = randn({L, 1, H}, {.dtype = f64});
  const Source source = decoder.source({h, h_prev}, tensor({3}));
  const Decoder::Steps step = decoder.decode(tensor({{7}}), h_prev, source);

  std::vector<double> input = select(decoder.embedding.weight, 0, 7).to_vector();
  for (std::int64_t l = 0; l < L; ++l) {
    std::vector<double> e;
    for (std::int64_t i = 0; i < 3; ++i) {
      double score = 0;
      for (std::int64_t u = 0; u < H; ++u) {
        double a = 0;
        for (std::int64_t d = 0; d < H; ++d)
          a += decoder.attn.wq.weight.at({u, d}) * h_prev.at({l, 0, d}) +
               decoder.attn.wk.weight.at({u, d}) * h.at({i, 0, d});
        score += decoder.attn.v.weight.at({0, u}) * std::tanh(a);
      }
      e.push_back(std::exp(score));
    }
    const double total = e[0] + e[1] + e[2];
    for (std::int64_t i = 0; i < 3; ++i)
      CHECK(!(std::abs(step.weights.at({0, 0, l, i}) - e[static_cast<std::size_t>(i)] / total) >
              1e-12));
    CHECK(step.weights.at({0, 0, l, 3}) == 0);
    for (std::int64_t d = 0; d < H; ++d)
      input.push_back((e[0] * h.at({0, 0, d}) + e[1] * h.at({1, 0, d}) + e[2] * h.at({2, 0, d})) /
                      total);
  }
  Tensor state = from_values(input, {1, static_cast<std::int64_t>(input.size())});
  for (std::int64_t l = 0; l < L; ++l)
    state = nn::gru_step(decoder.rnn.weights[static_cast<std::size_t>(l)].input(state),
                         select(h_prev, 0, l), decoder.rnn.weights[static_cast<std::size_t>(l)],
                         nn::GruForm::reset_after);
  CHECK(difference(select(step.s, 0, 0), state) == "");
  CHECK(difference(select(step.h, 0, 1), state) == "");
}

TEST_CASE("translation: word by word is the same as all words at once") {
  for (const bool attention : {false, true}) {
    CAPTURE(attention);
    manual_seed(6);
    Seq2Seq model(small, attention);
    const Tensor x = randint(4, 30, {5, 3}), y = randint(4, 40, {6, 3}), n = tensor({5, 2, 4});
    const Tensor all = model.forward(x, y, n);
    const Source source = model.encode(x, n);
    Tensor h = source.h_T;
    for (std::int64_t t = 0; t < 5; ++t) {
      const Decoder::Steps step = model.dec->decode(narrow(y, 0, t, 1), h, source);
      CHECK(difference(model.dec->output(step.s), narrow(all, 0, t, 1),
                       {.rtol = 1e-4, .atol = 1e-5}) == "");
      h = step.h;
    }
  }
}

TEST_CASE("translation: p_tf decides step by step, from the generator alone") {
  manual_seed(7);
  Seq2Seq model(small, true);
  model.to(f64);
  const Tensor x = randint(4, 30, {5, 3}), y = randint(4, 40, {9, 3});
  Generator g(3), same(3);
  const Tensor l = model.forward(x, y, {}, {.p_tf = 0.5, .generator = g});
  // By hand, with the draws of the same generator.
  std::vector<float> u(8);
  same.uniform(std::span<float>(u));
  const Source source = model.encode(x);
  Tensor h = source.h_T, word = narrow(y, 0, 0, 1);
  int own = 0;
  for (std::int64_t t = 0; t < 8; ++t) {
    const Decoder::Steps step = model.dec->decode(word, h, source);
    const Tensor scores = model.dec->output(step.s);
    CHECK(difference(scores, narrow(l, 0, t, 1)) == "");
    h = step.h;
    const bool forced = u[static_cast<std::size_t>(t)] < 0.5F;
    own += forced ? 0 : 1;
    word = forced ? narrow(y, 0, t + 1, 1) : argmax(scores, 2);
  }
  CHECK(own > 1);
  CHECK(own < 7);
}

TEST_CASE("translation: padding changes nothing and gets no weight") {
  for (const bool attention : {false, true}) {
    CAPTURE(attention);
    manual_seed(8);
    Seq2Seq model(small, attention);
    model.to(f64);
    const Tensor alone = tensor({{2}, {9}, {17}, {3}});
    const Tensor padded = tensor({{2, 2}, {9, 11}, {17, 5}, {3, 6}, {1, 20}, {1, 3}});
    const Tensor y = tensor({{2, 2}, {8, 9}, {3, 10}});
    const Tensor one = model.forward(alone, narrow(y, 1, 0, 1), tensor({4}));
    const Tensor both = model.forward(padded, y, tensor({4, 6}));
    CHECK(difference(narrow(both, 1, 0, 1), one) == "");
    if (!attention) continue;
    const Source source = model.encode(padded, tensor({4, 6}));
    const Tensor w = model.dec->decode(y, source.h_T, source).weights;  // (3, 2, L, 6)
    CHECK(max(abs(narrow(select(w, 1, 0), 2, 4, 2))).item() == 0);
    CHECK(min(select(w, 1, 1)).item() > 0);
    // With the padding read, as in the tutorial, it does change the states.
    model.enc.reads_padding = true;
    CHECK(difference(narrow(model.forward(padded, y, tensor({4, 6})), 1, 0, 1), one) != "");
  }
}

TEST_CASE("translation: dropout of words is for training alone") {
  ModelSizes sizes = small;
  sizes.word_dropout = 0.5;
  const Tensor x = tensor({{2, 2}, {5, 9}, {3, 3}}), y = tensor({{2, 2}, {7, 4}, {3, 3}});
  for (const bool attention : {false, true}) {
    CAPTURE(attention);
    manual_seed(1);
    Seq2Seq seq2seq(sizes, attention);
    auto same_twice = [&] {
      return difference(seq2seq.forward(x, y), seq2seq.forward(x, y)) == "";
    };
    CHECK(!same_twice());
    const nn::Evaluating evaluating(seq2seq);
    CHECK(same_twice());
  }
}
