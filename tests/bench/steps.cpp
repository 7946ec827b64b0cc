// Whole steps of training, and what is so small that only the overhead counts.

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdint>
#include <vector>

#include "engine/engine.h"
#include "labs/attention/reviews_task.h"
#include "nn/activation.h"
#include "nn/linear.h"
#include "nn/optim.h"
#include "tests/bench/bench.h"

extern char** environ;

namespace labgrad::bench {

namespace {

// The digit classifier of every first lesson: 784 pixels, 256 hidden units, 10 classes.
void perceptron(Bench& bench) {
  const std::string name = "mlp.784-256-10.b128";
  if (!bench.wants(name)) return;
  manual_seed(0);
  nn::Linear first(784, 256), second(256, 10);
  Tensors parameters = first.parameters();
  for (const Tensor& p : second.parameters()) parameters.push_back(p);
  optim::SGD sgd(parameters, {.lr = 0.01});
  const Tensor x = noise({128, 784}), target = randint(0, 10, {128});
  const double flops = 2.0 * 128 * (2.0 * 784 * 256 + 3.0 * 256 * 10);
  bench.row(name, {flops, 0}, [&] {
    sgd.zero_grad();
    cross_entropy(second(relu(first(x))), target).backward();
    sgd.step();
  });
}

void adam(Bench& bench) {
  constexpr std::int64_t n = 10'000'000;
  if (!bench.wants("adam.10M")) return;
  Tensor w = noise({n}).requires_grad_();
  w.set_grad(noise({n}));
  optim::Adam adam({w}, {.lr = 1e-3});
  // Weight, gradient and both moments are read, all but the gradient written.
  bench.row("adam.10M", {0, 7 * 4.0 * n}, [&] { adam.step(); });
}

// A network of single numbers, built anew each time: 16 inputs, seven layers of 16 ReLU units, one
// output. A unit is 16 products, 16 sums (the bias is one) and a ReLU; the output has no ReLU.
struct ScalarNetwork {
  static constexpr std::size_t width = 16, layers = 7, nodes = layers * width * 33 + 32;

  std::vector<Tensor> weights, inputs;

  ScalarNetwork() {
    const std::vector<double> values =
        noise({static_cast<std::int64_t>((layers * width + 1) * (width + 1) + width)}).to_vector();
    for (std::size_t i = 0; i < values.size(); ++i) {
      Tensor v = full({}, values[i] / 4);
      if (i < width)
        inputs.push_back(v);
      else
        weights.push_back(v.requires_grad_());
    }
  }

  Tensor unit(const std::vector<Tensor>& x, std::size_t& next) const {
    Tensor sum = weights[next++];
    for (const Tensor& xi : x) sum = sum + weights[next++] * xi;
    return sum;
  }
  Tensor output() const {
    std::vector<Tensor> x = inputs, y(width);
    std::size_t next = 0;
    for (std::size_t layer = 0; layer < layers; ++layer) {
      for (Tensor& yi : y) yi = relu(unit(x, next));
      x = y;
    }
    return unit(x, next);
  }
};

void scalars(Bench& bench) {
  if (!bench.wants("scalar.node fwd") && !bench.wants("scalar.node fwd+bwd")) return;
  ScalarNetwork network;
  const auto nodes = static_cast<double>(ScalarNetwork::nodes);
  bench.row(
      "scalar.node fwd", {}, [&] { network.output(); }, nodes);
  bench.row(
      "scalar.node fwd+bwd", {},
      [&] {
        network.output().backward();
        for (Tensor& w : network.weights) w.zero_grad();
      },
      nodes);
}

// An epoch of section 3 of labs/attention: 1,600 reviews in batches of 64.
void transformer(Bench& bench) {
  if (!bench.wants("epoch.transformer")) return;
  using namespace labs::attention;
  const ReviewsTask& task = course_reviews();
  manual_seed(0);
  TinyTransformer model(task.vocabulary.size());
  optim::Adam adam(model.parameters(), {.lr = 3e-3});
  bench.row("epoch.transformer", {}, [&] {
    for (std::int64_t i = 0; i < task.train_size; i += 64) {
      const std::int64_t n = std::min<std::int64_t>(64, task.train_size - i);
      const Tensor rows = narrow(randperm(task.train_size), 0, i, n);
      adam.zero_grad();
      cross_entropy(model.forward(index_select(task.train_x, 0, rows)).out,
                    index_select(task.train_y, 0, rows))
          .backward();
      adam.step();
    }
  });
}

// This program, told to make one tensor and no more, as a new process.
void startup(Bench& bench) {
  bench.row("startup", {}, [] {
    char program[] = "/proc/self/exe", option[] = "--one-tensor";
    char* const arguments[] = {program, option, nullptr};
    pid_t child = 0;
    int status = 0;
    if (posix_spawn(&child, program, nullptr, nullptr, arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0)
      fail("startup: the program could not be run again");
  });
}

}  // namespace

void bench_steps(Bench& bench) {
  scalars(bench);
  perceptron(bench);
  adam(bench);
  transformer(bench);
  startup(bench);
}

}  // namespace labgrad::bench
