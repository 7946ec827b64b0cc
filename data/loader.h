#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/random.h"

namespace labgrad::data {

struct LoaderOptions {
  std::int64_t batch_size = 1;
  bool shuffle = true;
  bool drop_last = false;  // leave out a last batch that is not full
};

// Deals out 0 .. n-1 in batches, in the order of PyTorch's DataLoader and with the same draws, so
// that training sees the same batches from the same seed:
//
//   Loader loader(n, {.batch_size = 128}, generator);
//   for (std::span<const std::int64_t> batch : loader) ...  // one pass; each `for` is another
//
// A pass draws from the generator: a base seed (random_63); the order (randperm); and, when the
// pass comes to its end, a second randperm that nobody uses. A pass left early skips the last one.
// Without a generator, the base seed comes from the default generator, and so does the seed of a
// new generator that gives the order. Without shuffle only the base seed is drawn.
class Loader {
 public:
  // No generator: the default one, as described above. The generator must outlive the loader.
  // Throws Error if n < 0 or batch_size < 1.
  Loader(std::int64_t n, const LoaderOptions& options);
  Loader(std::int64_t n, const LoaderOptions& options, Generator& generator);

  // Batches in one pass.
  std::int64_t batches() const;
  std::int64_t size() const { return n_; }

  class Pass;
  struct End {};
  // Starts a pass. Kept by hand: auto pass = loader.begin(); for (; pass != loader.end(); ++pass)
  Pass begin() const;
  End end() const { return {}; }

 private:
  std::int64_t n_;
  LoaderOptions options_;
  Generator* generator_ = nullptr;
};

// One way through the data; an iterator over its batches. The batch lives as long as the pass.
class Loader::Pass {
 public:
  Pass(const Pass&) = delete;  // two copies would both draw at the end
  Pass& operator=(const Pass&) = delete;

  std::span<const std::int64_t> operator*() const;
  Pass& operator++();
  bool operator==(End) const { return batch_ == batches_; }

  // For seeding the work of this pass (augmentation); different in every pass.
  std::int64_t base_seed() const { return base_seed_; }
  // Everything in the order of this pass, a short last batch included.
  const std::vector<std::int64_t>& order() const { return order_; }

 private:
  friend class Loader;
  explicit Pass(const Loader& loader);
  void finish();

  std::vector<std::int64_t> order_;
  std::int64_t batch_ = 0;
  std::int64_t batches_;
  std::int64_t batch_size_;
  std::int64_t base_seed_ = 0;
  Generator* generator_ = nullptr;  // draws once more at the end; null if nothing is to be drawn
};

}  // namespace labgrad::data
