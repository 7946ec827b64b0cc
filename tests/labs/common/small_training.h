#pragma once
// A training that takes milliseconds, for the tests of the loop around it.

#include <cstdint>
#include <filesystem>
#include <memory>

#include "engine/io/safetensors.h"
#include "labs/common/train.h"
#include "nn/dropout.h"
#include "nn/linear.h"
#include "nn/optim.h"
#include "nn/schedule.h"

namespace labgrad::tests {

// A network with dropout on a small regression: 20 samples in batches of 6, which Adam with a
// cosine schedule fits. Everything that a resumed run could forget takes part.
struct SmallTraining {
  struct Net : nn::Module {
    nn::Linear first{3, 8}, second{8, 1};
    nn::Dropout drop{0.3};
    void members(nn::Members& m) override;
    std::string kind() const override { return "Net"; }
    Tensor forward(const Tensor& in);
  };

  SmallTraining();
  labs::Training training(std::int64_t epochs);

  Tensor x, y;
  std::unique_ptr<Net> net;
  std::unique_ptr<optim::Adam> adam;
  Generator order{7};
  data::Loader loader{20, {.batch_size = 6}, order};
  optim::Schedule schedule = optim::cosine(0.05, 20);
  std::int64_t stop_at = -1, poison = -1;  // a step that asks to stop, one whose loss is NaN
};

bool same_bits(const NamedTensors& a, const NamedTensors& b);

// The files of a training in `dir`.
labs::TrainingFiles files_in(const std::filesystem::path& dir, bool resume);

}  // namespace labgrad::tests
