#include "labs/translation/translate.h"

#include <limits>

#include "data/vocabulary.h"
#include "engine/create.h"
#include "engine/ops.h"

namespace labgrad::labs::translation {
namespace {

// No translation says that a word is unknown, begins anew or is padding.
Tensor without_specials(const Tensor& l) {
  const Tensor infinite = full({l.size(0), data::eos_id}, -std::numeric_limits<double>::infinity(),
                               {.dtype = l.dtype()});
  return cat({infinite, narrow(l, 1, data::eos_id, l.size(1) - data::eos_id)}, 1);
}

// Row b of a step's weights (1, B, L, S1) as [layer][position], the first `length` positions.
std::vector<std::vector<double>> layers_of(const Tensor& weights, std::int64_t b,
                                           std::int64_t length) {
  std::vector<std::vector<double>> layers;
  for (const Tensor& row : unbind(narrow(select(select(weights, 0, 0), 0, b), 1, 0, length), 0))
    layers.push_back(row.to_vector());
  return layers;
}

}  // namespace

std::vector<std::vector<double>> Translated::mean_weights() const {
  std::vector<std::vector<double>> means;
  for (const auto& layers : weights) {
    std::vector<double> mean(layers.front().size());
    for (const std::vector<double>& row : layers)
      for (std::size_t i = 0; i < row.size(); ++i)
        mean[i] += row[i] / static_cast<double>(layers.size());
    means.push_back(std::move(mean));
  }
  return means;
}

std::int64_t longest(std::int64_t S1) { return S1 + S1 / 2 + 8; }

std::vector<Translated> translate_greedily(Seq2Seq& model, const Tensor& x, const Tensor& lengths) {
  NoGrad no_grad;
  const nn::Evaluating evaluating(model);
  const std::int64_t B = x.size(1);
  const std::vector<std::int64_t> n = lengths.to_vector<std::int64_t>();
  std::vector<Translated> out(static_cast<std::size_t>(B));
  const Source source = model.encode(x, lengths);
  Tensor h = source.h_T, word = full({1, B}, data::sos_id);
  std::int64_t open = B;
  for (std::int64_t t = 0; t < longest(x.size(0)) && open > 0; ++t) {
    const Decoder::Steps step = model.dec->decode(word, h, source);
    h = step.h;
    const Tensor log_p = log_softmax(without_specials(select(model.dec->output(step.s), 0, 0)), 1);
    const Extremes likeliest = max(log_p, 1);
    word = unsqueeze(likeliest.indices, 0);
    const std::vector<std::int64_t> words = likeliest.indices.to_vector<std::int64_t>();
    const std::vector<double> p = likeliest.values.to_vector();
    for (std::size_t b = 0; b < out.size(); ++b) {
      Translated& sentence = out[b];
      if (sentence.complete) continue;
      sentence.score += p[b];
      if (step.weights.defined())
        sentence.weights.push_back(layers_of(step.weights, static_cast<std::int64_t>(b), n[b]));
      sentence.complete = words[b] == data::eos_id;
      if (sentence.complete) {
        --open;
      } else {
        sentence.words.push_back(words[b]);
      }
    }
  }
  for (Translated& sentence : out)
    sentence.score /= static_cast<double>(sentence.words.size() + (sentence.complete ? 1 : 0));
  return out;
}

Translated translate_with_beam(Seq2Seq& model, const Tensor& x, std::int64_t width) {
  NoGrad no_grad;
  const nn::Evaluating evaluating(model);
  const Source one = model.encode(x, tensor({x.size(0)}));
  Tensor h = one.h_T;
  Tensors weights;
  const Advance advance = [&](const std::vector<std::int64_t>& words,
                              const std::vector<std::int64_t>& parents) {
    const auto rows = static_cast<std::int64_t>(words.size());
    Source source = one;  // repeated for each row
    if (one.keys.defined()) {
      source.keys = expand(one.keys, {rows, -1, -1});
      source.values = expand(one.values, {rows, -1, -1});
      source.keep = expand(one.keep, {rows, -1, -1});
    }
    const Decoder::Steps step = model.dec->decode(
        from_values(words, {1, rows}), index_select(h, 1, from_values(parents, {rows})), source);
    h = step.h;
    if (step.weights.defined()) weights.push_back(step.weights);
    return log_softmax(without_specials(select(model.dec->output(step.s), 0, 0)), 1);
  };
  const Hypothesis best = beam_search(
      advance,
      {.width = width, .max_words = longest(x.size(0)), .sos = data::sos_id, .eos = data::eos_id});
  Translated out{.words = best.words, .complete = best.complete, .score = best.score()};
  if (out.complete) out.words.pop_back();
  for (std::size_t t = 0; t < weights.size() && t < best.rows.size(); ++t)
    out.weights.push_back(
        layers_of(weights[t], static_cast<std::int64_t>(best.rows[t]), x.size(0)));
  return out;
}

}  // namespace labgrad::labs::translation
