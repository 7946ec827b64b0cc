// One step of training of the translation models, at the tutorial's sizes: a batch of 128 pairs of
// 16 and 15 words, vocabularies of 7,855 and 5,893.

#include <fmt/format.h>

#include "engine/engine.h"
#include "labs/translation/seq2seq.h"
#include "nn/clip.h"
#include "nn/optim.h"
#include "tests/bench/bench.h"

namespace labgrad::bench {

namespace {

constexpr std::int64_t S1 = 16, S2 = 15, B = 128;

// Sentences of words from <sos> to <eos>; as in a bucket, a few end early and have padding behind.
Tensor sentences(std::int64_t steps, std::int64_t words, std::uint64_t seed) {
  Generator random(seed);
  Tensor x = randint(4, words, {steps, B}, random);
  const std::span<std::int64_t> id = x.writable_span<std::int64_t>();
  for (std::int64_t b = 0; b < B; ++b) {
    const std::int64_t end = steps - 1 - (b % 8 == 0 ? 2 : 0);
    for (std::int64_t t = 0; t < steps; ++t)
      if (t == 0 || t >= end)
        id[static_cast<std::size_t>(t * B + b)] = t == 0 ? 2 : t == end ? 3 : 1;
  }
  return x;
}

}  // namespace

void bench_translation(Bench& bench) {
  for (const bool attention : {false, true}) {
    const std::string name =
        fmt::format("step.translation.{}.b128", attention ? "attention" : "plain");
    if (!bench.wants(name)) continue;
    manual_seed(0);
    labs::translation::Seq2Seq model({.source_words = 7855, .target_words = 5893}, attention);
    const Tensor x = sentences(S1, 7855, 1), y = sentences(S2, 5893, 2);
    const Tensor lengths = sum(x != 1, 0);
    optim::Adam adam(model.parameters(), {.lr = 1e-3});
    const Times times = bench.row(name, {}, [&] {
      const Tensor loss = labs::translation::translation_loss(model.forward(x, y, lengths), y);
      adam.zero_grad();
      loss.backward();
      optim::clip_grad_norm_(adam.parameters(), 1);
      adam.step();
    });
    const double tokens = sum(narrow(y, 0, 1, S2 - 1) != 1).item();
    fmt::print("  {:.0f} target words a second\n", tokens / times.median);
  }
}

}  // namespace labgrad::bench
