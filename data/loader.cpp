#include "data/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/error.h"

namespace labgrad::data {

Loader::Loader(std::int64_t n, const LoaderOptions& options) : n_(n), options_(options) {
  if (n < 0) fail(fmt::format("Loader: the number of samples must not be negative, got {}", n));
  if (options.batch_size < 1) {
    fail(fmt::format("Loader: batch_size must be at least 1, got {}", options.batch_size));
  }
}

Loader::Loader(std::int64_t n, const LoaderOptions& options, Generator& generator)
    : Loader(n, options) {
  generator_ = &generator;
}

std::int64_t Loader::batches() const {
  const std::int64_t full = n_ / options_.batch_size;
  const bool short_one = !options_.drop_last && n_ % options_.batch_size != 0;
  return short_one ? full + 1 : full;
}

Loader::Pass Loader::begin() const { return Pass(*this); }

Loader::Pass::Pass(const Loader& loader)
    : batches_(loader.batches()), batch_size_(loader.options_.batch_size) {
  Generator& source = loader.generator_ ? *loader.generator_ : default_generator();
  base_seed_ = source.random_63();
  if (!loader.options_.shuffle) {
    order_.resize(static_cast<std::size_t>(loader.n_));
    std::iota(order_.begin(), order_.end(), 0);
  } else if (loader.generator_) {
    generator_ = loader.generator_;
    order_ = generator_->randperm(loader.n_);
    if (batches_ == 0) finish();
  } else {
    Generator own(static_cast<std::uint64_t>(source.random_63()));
    order_ = own.randperm(loader.n_);
  }
}

// PyTorch's sampler tries for one more permutation before it sees that the data are used up.
void Loader::Pass::finish() {
  if (generator_) generator_->randperm(static_cast<std::int64_t>(order_.size()));
}

std::span<const std::int64_t> Loader::Pass::operator*() const {
  if (batch_ >= batches_) fail("Loader: the pass is over, there is no further batch");
  const std::int64_t start = batch_ * batch_size_;
  const std::int64_t count =
      std::min(batch_size_, static_cast<std::int64_t>(order_.size()) - start);
  return std::span(order_).subspan(static_cast<std::size_t>(start),
                                   static_cast<std::size_t>(count));
}

Loader::Pass& Loader::Pass::operator++() {
  if (batch_ >= batches_) fail("Loader: the pass is over, there is no further batch");
  if (++batch_ == batches_) finish();
  return *this;
}

}  // namespace labgrad::data
