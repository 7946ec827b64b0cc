// The digit reader: a step of training, reading, and its convolutions alone on one thread. On
// strips of MNIST's digits where data/files/mnist is there, of generated ones elsewhere.

#include <fmt/format.h>

#include <numeric>
#include <string>

#include "data/digits.h"
#include "data/mnist.h"
#include "data/strips.h"
#include "engine/cpu/threads.h"
#include "engine/cpu/winograd.h"
#include "engine/engine.h"
#include "engine/memory.h"
#include "engine/process_memory.h"
#include "labs/digit_reader/reading.h"
#include "nn/optim.h"
#include "tests/bench/bench.h"

namespace labgrad::bench {

namespace {

using namespace labs::digit_reader;

constexpr std::int64_t batch = 128;

const data::LabelledImages& digit_images() {
  static const data::LabelledImages images =
      data::has_mnist("data/files/mnist") ? data::load_mnist("data/files/mnist", data::Split::train)
                                          : data::generated_digits(5000, data::Split::train);
  return images;
}

const data::StripDataset& strips() {
  static const data::StripDataset set(digit_images(), 512, {1, 8}, 1001);
  return set;
}

const char* suffix(bool winograd) { return winograd ? " winograd" : ""; }

template <class Kind>
void training_step(Bench& bench, const char* kind, bool winograd) {
  const std::string name = fmt::format("step.{}_reader.b128{}", kind, suffix(winograd));
  if (!bench.wants(name)) return;
  const UseWinograd guard(winograd);
  manual_seed(0);
  Kind reader;
  optim::Adam adam(reader.parameters(), {.lr = 1e-3});
  std::vector<std::int64_t> rows(batch);
  std::iota(rows.begin(), rows.end(), 0);
  const data::StripBatch b = data::collate(strips(), rows);
  release_cached_memory();
  reset_peak_resident();
  reset_peak_memory();
  bench.row(name, {}, [&] {
    const Tensor loss = masked_loss(reader.forward(b.images, b.inputs), b.targets);
    adam.zero_grad();
    loss.backward();
    adam.step();
  });
  auto mib = [](std::size_t bytes) { return double(bytes) / (1 << 20); };
  fmt::print("  peak: {:.0f} MiB resident, {:.0f} MiB of them tensors\n",
             mib(peak_resident_bytes().value_or(0)), mib(memory_stats().peak));
}

void reading(Bench& bench, bool winograd) {
  const std::string name = fmt::format("generate.attention_reader.500{}", suffix(winograd));
  if (!bench.wants(name)) return;
  const UseWinograd guard(winograd);
  manual_seed(0);
  AttentionReader reader;
  std::vector<Tensor> images;
  for (std::int64_t first = 0; first < 500; first += 100) {
    std::vector<std::int64_t> rows(100);
    std::iota(rows.begin(), rows.end(), first);
    images.push_back(data::collate(strips(), rows).images);
  }
  bench.row(name, {}, [&] {
    for (const Tensor& some : images) read(reader, some);
  });
}

void convolutions(Bench& bench) {
  const std::string name = "cnn.b16 one thread";
  if (!bench.wants(name)) return;
  manual_seed(0);
  nn::Sequential cnn = make_cnn();
  optim::Adam adam(cnn.parameters(), {.lr = 1e-3});
  std::vector<std::int64_t> rows(16);
  std::iota(rows.begin(), rows.end(), 0);
  const Tensor images = data::collate(strips(), rows).images;
  const int before = num_threads();
  set_num_threads(1);
  bench.row(name, {}, [&] {
    const Tensor loss = mean(square(cnn(images)));
    adam.zero_grad();
    loss.backward();
    adam.step();
  });
  set_num_threads(before);
}

}  // namespace

void bench_readers(Bench& bench) {
  for (const bool winograd : {false, true}) {
    training_step<AttentionReader>(bench, "attention", winograd);
    training_step<FixedReader>(bench, "fixed", winograd);
    reading(bench, winograd);
  }
  convolutions(bench);
}

}  // namespace labgrad::bench
