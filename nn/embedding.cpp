#include "nn/embedding.h"

#include <fmt/format.h>

#include "engine/ops/shape.h"

namespace labgrad::nn {

Embedding::Embedding(std::int64_t n, std::int64_t width, EmbeddingOptions options, Generator& g)
    : padding_idx(options.padding_idx) {
  if (padding_idx && (*padding_idx < 0 || *padding_idx >= n))
    fail(fmt::format("Embedding: padding_idx {} is not one of the ids 0 to {}", *padding_idx,
                     n - 1));
  weight = empty({n, width}, f32, default_device());
  normal_(weight, 0, 1, g);
  if (padding_idx) {
    NoGrad no_grad;
    select(weight, 0, *padding_idx).zero_();
  }
  weight.requires_grad_();
}

std::string Embedding::details() const {
  std::string text = fmt::format("n={}, width={}", weight.shape()[0], weight.shape()[1]);
  if (padding_idx) text += fmt::format(", padding_idx={}", *padding_idx);
  return text;
}

}  // namespace labgrad::nn
