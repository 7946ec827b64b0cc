#pragma once
// The loop around a training: epochs and batches, progress, curves, checkpoints, stopping and going
// on. What one step does stays in the lab, in full:
//
//   const History history = train(lab, {
//       .name = "encoder", .model = &model, .optimizer = &adam, .epochs = lab.epochs(2, 12, 12),
//       .batches = [&](std::int64_t) { return batches_of(loader); },
//       .step = [&](const Batch& batch, std::int64_t) {
//         adam.zero_grad();
//         const Tensor loss = cross_entropy(model.forward(rows(x, batch)), rows(y, batch));
//         loss.backward();
//         adam.step();
//         return loss.item();
//       },
//       .evaluate = [&](std::int64_t) { return Metrics{{"test accuracy", accuracy()}}; }});

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "data/loader.h"
#include "engine/io/json.h"
#include "engine/random.h"
#include "labs/common/lab.h"
#include "labs/common/plot.h"
#include "nn/module.h"
#include "nn/optim.h"

namespace labgrad::labs {

using Batch = std::vector<std::int64_t>;  // the numbers of the samples
using Batches = std::vector<Batch>;
using Metrics = std::vector<std::pair<std::string, double>>;

// One whole pass of the loader: its batches, with the draws that PyTorch's loader makes.
Batches batches_of(const data::Loader& loader);

struct History {
  std::vector<double> losses = {};        // of each step
  std::vector<Metrics> epochs = {};       // what `evaluate` returned after each epoch
  std::vector<double> epoch_losses = {};  // the mean loss over the steps of each epoch

  // One figure over the epochs, 1, 2, ...; `name` is a name that `evaluate` used or "loss". Throws
  // Error if there is no such figure.
  Series curve(const std::string& name, const std::string& label = "") const;
  double last(const std::string& name) const;
};

struct Training {
  std::string name = {};  // of its files: <name>.checkpoint.safetensors, runs/<name>/
  nn::Module* model = nullptr;
  optim::Optimizer* optimizer = nullptr;
  std::int64_t epochs = 1;
  // The batches of an epoch (from 0). All that it draws comes from `generators`: a resumed run
  // calls it again for the epoch in which it stopped, with the generators as they were then.
  std::function<Batches(std::int64_t epoch)> batches = {};
  // One step of training on a batch; `step` counts from 0 over all epochs. Returns the loss.
  std::function<double(const Batch& batch, std::int64_t step)> step = {};
  // After each epoch: figures for the curves. May be left out.
  std::function<Metrics(std::int64_t epoch)> evaluate = {};
  // Asked after each epoch: end the training here? May be left out.
  std::function<bool(const History&)> enough = {};
  // Every random stream that the training draws from, by name.
  std::vector<std::pair<std::string, Generator*>> generators = {{"default", &default_generator()}};
  // What a resumed run must have in common with the stopped one: sizes, rates, the seed.
  Json config = Json::object();
  std::int64_t checkpoint_every = 0;  // steps; 0: after each epoch
};

struct TrainingFiles {
  std::filesystem::path checkpoint;  // written after each epoch and when the student stops the run
  std::filesystem::path curves;      // folder of the TensorBoard event files
  bool resume = false;               // go on from the checkpoint if there is one
};

// Trains; on Ctrl-C finishes the step, saves and throws Interrupted. A resumed run gives bit for
// bit what an uninterrupted one gives; one that was complete returns its history at once. Throws
// Error if the loss isn't finite, or if the checkpoint was made with another config.
History train(const Training& training, const TrainingFiles& files);

// The same with the files in the lab's folder and --resume as the student gave it.
History train(Lab& lab, const Training& training);

}  // namespace labgrad::labs
