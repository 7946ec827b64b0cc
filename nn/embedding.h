#pragma once
// Embedding: a table of vectors, one for each id.

#include <optional>

#include "engine/ops/index.h"
#include "nn/init.h"
#include "nn/layer.h"

namespace labgrad::nn {

struct EmbeddingOptions {
  std::optional<std::int64_t> padding_idx = {};  // this row starts at 0 and gets no gradient
};

class Embedding : public Layer {
 public:
  Tensor weight;  // E (n, width)
  std::optional<std::int64_t> padding_idx;

  // E is drawn from the standard normal distribution. Error: padding_idx outside 0 .. n-1.
  Embedding(std::int64_t n, std::int64_t width, EmbeddingOptions options = {},
            Generator& g = default_generator());

  // y = E[ids]                                                                    [embedding.1]
  // ids (...) of i64 -> y (..., width). Error: an id outside 0 .. n-1.
  Tensor forward(const Tensor& ids) override { return embedding(weight, ids, padding_idx); }

  void members(Members& m) override { m("weight", weight); }
  std::string kind() const override { return "Embedding"; }
  std::string details() const override;
};

}  // namespace labgrad::nn
