// Part 3: the models, part by part: shapes, and attention's worked results.

#include "engine/engine.h"
#include "labs/translation/sections.h"
#include "labs/translation/seq2seq.h"

namespace labgrad::labs::translation {
namespace {

// "(17, 4, 64)" and whether it is what the tutorial prints.
void shape(Lab& lab, const std::string& what, const Tensor& got, const Shape& want) {
  lab.check(what, got.shape().str(), "= " + want.str(), got.shape() == want);
}

// 4 sentences of 17 words each, as in the tutorial's batch; which words they are matters not.
void shapes(Lab& lab) {
  const ModelSizes n{
      .source_words = 7855, .target_words = 5893, .embedding = 128, .hidden = 64, .layers = 2};
  lab.say(
      "The tutorial's models with E = {}, H = {}, L = {} and its vocabularies of {} and {} words, "
      "on a batch of 4 pairs with 17 words on either side. The first index is the step, the second "
      "the sentence.",
      n.embedding, n.hidden, n.layers, n.source_words, n.target_words);
  lab.equation("translation.1", "encoder: h_t = GRU(E[x_t], h_{t-1}), h_0 = 0");
  lab.equation("translation.2", "decoder: s_t = GRU(E[y_{t-1}], s_{t-1}), s_0 = h_T");
  lab.equation("translation.3", "scores of the words: l_t = W_out s_t + b_out");
  const Tensor x = randint(4, n.source_words, {17, 4}), y = randint(4, n.target_words, {17, 4});
  NoGrad no_grad;
  Seq2Seq plain(n, false);
  const Seq2SeqEncoder::Output encoded = plain.enc.forward(x);
  shape(lab, "h, the last layer's states", encoded.h, {17, 4, 64});
  shape(lab, "h_T, each layer's last state", encoded.h_T, {2, 4, 64});
  const Source source = plain.dec->source(encoded, {});
  const Tensor s = plain.dec->decode(y, source.h_T, source).s;
  shape(lab, "l of the decoder alone", plain.dec->output(s), {17, 4, 5893});
  shape(lab, "l of the whole, <sos> left out", plain.forward(x, y), {16, 4, 5893});

  lab.equation("translation.4",
               "a_l = softmax_i(vᵀ tanh(W_q s_{t-1,l} + W_k h_i)), c_l = Σ_i a_{l,i} h_i");
  lab.equation("translation.5", "its decoder: s_t = GRU([E[y_{t-1}]; c_1; ...; c_L], s_{t-1})");
  Seq2Seq attention(n, true);
  const Source seen = attention.encode(x, tensor({17, 15, 12, 9}));
  const Decoder::Steps steps = attention.dec->decode(narrow(y, 0, 0, 1), seen.h_T, seen);
  shape(lab, "with attention: keys W_k h, once for all steps", seen.keys, {4, 17, 64});
  shape(lab, "a, for each step, sentence and layer", steps.weights, {1, 4, 2, 17});
  shape(lab, "l of the whole with attention", attention.forward(x, y), {16, 4, 5893});
  lab.check_equal("weight that falls on padding",
                  sum(narrow(select(steps.weights, 1, 3), 2, 9, 8) != 0).item<std::int64_t>(), 0);

  Table parts({{"part"}, {"plain", ",d"}, {"attention", ",d"}}, "Parameters");
  const auto count = [](nn::Module& m) { return m.parameter_count(); };
  parts.row("encoder", count(plain.enc), count(attention.enc))
      .row("decoder", count(*plain.dec), count(*attention.dec))
      .row("together", count(plain), count(attention));
  lab.table(parts);
  auto& with = dynamic_cast<Seq2SeqDecoderAttn&>(*attention.dec);
  // W_k, W_q and v, and the wider input of the first layer's three gates.
  lab.check_equal("attention's own parameters: 2 H² + H, and 3 H · L H of wider input",
                  count(attention) - count(plain),
                  2 * n.hidden * n.hidden + n.hidden + 3 * n.hidden * n.layers * n.hidden);
  lab.check_equal("of these in the attention itself", count(with.attn),
                  2 * n.hidden * n.hidden + n.hidden);
}

std::string numbers(const Tensor& x) {
  std::string text;
  for (const double v : x.to_vector()) text += fmt::format("{}{:g}", text.empty() ? "" : ", ", v);
  return text;
}

void worked(Lab& lab) {
  lab.say(
      "Attention by hand. All keys are equal, so all scores are, whatever the weights of the "
      "network; what comes out is the plain average of the values that may be seen. seq_len says "
      "how many may: the rest are padding and get no weight at all.");
  NoGrad no_grad;
  MLPAttention attention(3, 2, 5, 100);
  const Tensor q = ones({2, 1, 3}), k = ones({2, 4, 2});
  const Tensor v = transpose(reshape(arange(40.0), {2, 5, 4}), 1, 2);
  Table table({{"seq_len"}, {"first sample"}, {"second sample"}});
  const auto row = [&](const std::string& name, const Tensor& seq_len, double first,
                       double second) {
    const Tensor out = attention.forward(q, k, v, seq_len).out;
    table.row(name, numbers(select(out, 0, 0)), numbers(select(out, 0, 1)));
    const Tensor want = stack({arange(first, first + 20, 4), arange(second, second + 20, 4)}, 0);
    lab.check_close("seq_len " + name + ": largest difference from the tutorial's numbers",
                    max(abs(squeeze(out, 1) - want)).item(), 0, 5e-5);
  };
  row("none", {}, 1.5, 21.5);
  row("(1, 1)", tensor({1, 1}), 0.0, 20.0);
  row("(2, 4)", tensor({2, 4}), 0.5, 21.5);
  lab.table(table);
}

}  // namespace

void models(Lab& lab) {
  shapes(lab);
  worked(lab);
}

}  // namespace labgrad::labs::translation
