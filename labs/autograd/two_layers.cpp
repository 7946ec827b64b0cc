// Section 6: a network of two layers on two half circles: by the chain rule alone, with autograd,
// and trained by three optimisers.

#include <algorithm>
#include <cmath>
#include <memory>

#include "data/half_circles.h"
#include "data/loader.h"
#include "engine/autograd.h"
#include "engine/engine.h"
#include "engine/io/safetensors.h"
#include "labs/autograd/plain_network.h"
#include "labs/autograd/sections.h"
#include "labs/common/plot.h"
#include "labs/common/train.h"
#include "nn/activation.h"
#include "nn/linear.h"

namespace labgrad::labs::autograd {
namespace {

constexpr std::int64_t hidden = 16, points = 400;
constexpr double noise = 0.12;

struct Task {
  Tensor X, t;            // (n, 2), (n, 1) with 0 or 1
  Tensor test_X, test_t;  // other points of the same arcs

  explicit Task(std::int64_t seed, DType dtype = f32) {
    const auto first = static_cast<std::uint64_t>(seed);
    const auto train = data::half_circles(points, noise, derive_seed(first, 0));
    const auto test = data::half_circles(2000, noise, derive_seed(first, 1));
    X = to(train.x, dtype), t = to(unsqueeze(train.label, 1), dtype);
    test_X = to(test.x, dtype), test_t = to(unsqueeze(test.label, 1), dtype);
  }
};

nn::Sequential network() {
  nn::Sequential net;
  net.append(nn::Linear(2, hidden)).append(nn::Tanh()).append(nn::Linear(hidden, 1));
  return net;
}

// Mean of -t ln σ(z) - (1 - t) ln(1 - σ(z)) = ln(1 + e^z) - t z, without overflow.
Tensor loss_of(const Tensor& z, const Tensor& t) { return mean(softplus(z) - t * z); }

double accuracy(nn::Layer& net, const Tensor& X, const Tensor& t) {
  NoGrad no_grad;
  return mean(to((net(X) > 0) == (t > 0.5), f64)).item();
}

double largest_difference(const Tensor& a, const Tensor& b) { return max(abs(a - b)).item(); }

// ---- the chain rule alone, beside autograd ----

void equations(Lab& lab) {
  lab.equation("", "z1 = X W1ᵀ + b1     A = tanh z1     z2 = A W2ᵀ + b2     p = σ(z2)");
  lab.equation("", "L = -1/n Σ (t ln p + (1 - t) ln(1 - p)) = 1/n Σ (ln(1 + e^z2) - t z2)");
  lab.say(
      "Now from the loss back, one line for each step forward. The derivative of ln(1 + e^z) is "
      "σ(z), so the error at the output is just p - t. Going back through a matrix multiplies by "
      "its transpose; going back through tanh multiplies by 1 - A².");
  lab.equation("", "δ2 = (p - t)/n             ∂L/∂W2 = δ2ᵀ A     ∂L/∂b2 = Σ δ2");
  lab.equation("", "δ1 = δ2 W2 ⊙ (1 - A²)      ∂L/∂W1 = δ1ᵀ X     ∂L/∂b1 = Σ δ1");
  lab.say(
      "`labs/autograd/plain_network.cpp` is these lines in tensor ops, without autograd. Beside it "
      "stands the same network from `nn`, with backward() and `optim::SGD`, from the same weights, "
      "in f64.");
}

void by_the_chain_rule(Lab& lab) {
  equations(lab);
  const Task task(lab.seed(), f64);
  nn::Sequential net = network();
  net.to(f64);
  Tensors w = net.parameters();
  PlainNetwork plain{clone(w[0].detach()), clone(w[1].detach()), clone(w[2].detach()),
                     clone(w[3].detach())};
  constexpr double lr = 0.5;
  optim::SGD sgd(w, {.lr = lr});

  Table table({{"step", "d"},
               {"loss by hand", ".12f"},
               {"with nn", ".12f"},
               {"∂W1 differs", ".0e"},
               {"∂b1", ".0e"},
               {"∂W2", ".0e"},
               {"∂b2", ".0e"}});
  std::int64_t nodes_by_hand = 0;
  double worst_loss = 0, worst_gradient = 0, first = 0, last = 0;
  constexpr int steps = 200;
  for (int step = 0; step <= steps; ++step) {
    const std::int64_t before = live_nodes();
    const PlainNetwork::Pass pass = plain.run(task.X, task.t);
    nodes_by_hand += live_nodes() - before;
    sgd.zero_grad();
    const Tensor loss = loss_of(net(task.X), task.t);
    loss.backward();

    const Tensors by_hand = {pass.dW1, pass.db1, pass.dW2, pass.db2};
    std::vector<double> differences;
    for (std::size_t i = 0; i < by_hand.size(); ++i)
      differences.push_back(largest_difference(by_hand[i], w[i].grad()));
    worst_loss = std::max(worst_loss, std::abs(pass.loss - loss.item()));
    worst_gradient =
        std::max(worst_gradient, *std::max_element(differences.begin(), differences.end()));
    if (step % 50 == 0)
      table.row(step, pass.loss, loss.item(), differences[0], differences[1], differences[2],
                differences[3]);
    if (step == 0) first = pass.loss;
    last = pass.loss;
    plain.step(pass, lr);
    sgd.step();
  }
  lab.table(table);
  lab.check_less("loss by hand and with nn, largest difference of all steps", worst_loss, 1e-12);
  lab.check_less("gradients, largest difference of all steps", worst_gradient, 1e-12);
  lab.check_equal("graph nodes that the version by hand has made", nodes_by_hand, 0);
  lab.check_less("and the loss falls (last over first)", last / first, 0.7);
  lab.say(
      "The two agree to the last digits, step after step. Autograd does nothing but what stands "
      "above; it only saves us from deriving it again for each new network, and from the mistakes "
      "of doing so.");
}

// ---- trained by three optimisers ----

struct Run {
  std::string name;
  nn::Sequential net;
  std::unique_ptr<optim::Optimizer> optimizer;
  History history = {};
};

void train_run(Lab& lab, const Task& task, Run& run) {
  const std::int64_t batch = lab.batch(20, 20, 20);
  Generator order(derive_seed(static_cast<std::uint64_t>(lab.seed()), 2));
  const data::Loader loader(points, {.batch_size = batch}, order);
  Training training{.name = "half circles " + run.name,
                    .model = &run.net,
                    .optimizer = run.optimizer.get(),
                    .epochs = lab.epochs(30, 60, 200),
                    .batches = [&](std::int64_t) { return batches_of(loader); }};
  training.generators = {{"order", &order}};
  training.config.set("seed", lab.seed());
  training.config.set("batch", batch);
  training.step = [&](const Batch& rows, std::int64_t) {
    const Tensor chosen = from_values(rows, {std::ssize(rows)});
    run.optimizer->zero_grad();
    const Tensor loss =
        loss_of(run.net(index_select(task.X, 0, chosen)), index_select(task.t, 0, chosen));
    loss.backward();
    run.optimizer->step();
    return loss.item();
  };
  training.evaluate = [&](std::int64_t) {
    NoGrad no_grad;
    return Metrics{{"training loss", loss_of(run.net(task.X), task.t).item()},
                   {"test accuracy", accuracy(run.net, task.test_X, task.test_t)}};
  };
  run.history = train(lab, training);
}

// The best that a straight line does: the same training without a hidden layer.
double straight_line(const Task& task) {
  nn::Linear line(2, 1);
  optim::Adam adam(line.parameters(), {.lr = 0.05});
  for (int step = 0; step < 400; ++step) {
    adam.zero_grad();
    loss_of(line(task.X), task.t).backward();
    adam.step();
  }
  return accuracy(line, task.test_X, task.test_t);
}

void draw_boundary(Lab& lab, const Task& task, nn::Sequential& net) {
  Series upper{.name = "upper arc, t = 0"}, lower{.name = "lower arc, t = 1"};
  for (std::int64_t i = 0; i < points; ++i) {
    Series& series = task.t.at({i, 0}) > 0.5 ? lower : upper;
    series.x.push_back(task.X.at({i, 0}));
    series.y.push_back(task.X.at({i, 1}));
  }
  lab.picture("boundary",
              "The plane as the network that Adam has trained sees it: the colour is p, the line "
              "is p = ½.",
              draw_regions({.title = "Two half circles, two layers",
                            .x = {.label = "x1", .min = -1.5, .max = 2.5},
                            .y = {.label = "x2", .min = -1.1, .max = 1.6},
                            .value =
                                [&](double x1, double x2) {
                                  NoGrad no_grad;
                                  return sigmoid(net(tensor({{x1, x2}}))).item();
                                },
                            .points = {upper, lower}}));
}

void three_optimisers(Lab& lab) {
  const Task task(lab.seed());
  const double line = straight_line(task);
  lab.say(
      "Now the training. {} points of two interleaved half circles, each moved by normal noise of "
      "deviation {}; {} fresh points for the test. A straight line, the network without its hidden "
      "layer, gets {:.1f} % of them.",
      points, noise, task.test_X.size(0), 100 * line);
  lab.equation("sgd.3", "SGD        w ← w - η g");
  lab.equation("sgd.2", "momentum   b ← μ b + g              w ← w - η b");
  lab.equation(
      "adam.3",
      "Adam       m ← β1 m + (1 - β1) g   v ← β2 v + (1 - β2) g²   w ← w - η m̂ / (√v̂ + ε)");
  const auto prediction = lab.predict(
      "Which of the three has the lowest training loss after the first 5 passes over the data?",
      {"SGD, η = 0.1", "momentum, η = 0.1, μ = 0.9", "Adam, η = 0.02"});

  std::vector<Run> runs;
  for (const std::string name : {"SGD", "momentum", "Adam"}) {
    manual_seed(static_cast<std::uint64_t>(lab.seed()));  // the same first weights for each
    runs.push_back({.name = name, .net = network(), .optimizer = {}});
    const Tensors w = runs.back().net.parameters();
    if (name == "Adam")
      runs.back().optimizer = std::make_unique<optim::Adam>(w, optim::AdamOptions{.lr = 0.02});
    else
      runs.back().optimizer = std::make_unique<optim::SGD>(
          w, optim::SgdOptions{.lr = 0.1, .momentum = name == "SGD" ? 0 : 0.9});
  }
  for (Run& run : runs) train_run(lab, task, run);

  const auto early = [](const Run& run) {
    const auto losses = run.history.curve("training loss").y;
    return losses[std::min<std::size_t>(4, losses.size() - 1)];
  };
  const auto fastest = std::min_element(
      runs.begin(), runs.end(), [&](const Run& a, const Run& b) { return early(a) < early(b); });
  lab.reveal(prediction, static_cast<std::size_t>(fastest - runs.begin()));

  Table table({{"optimiser"},
               {"loss after 5 passes", ".4f"},
               {"at the end", ".4f"},
               {"test accuracy", ".4f"}});
  Plot plot{.title = "Training loss",
            .x = {.label = "passes over the data"},
            .y = {.label = "mean cross-entropy", .log = true}};
  double worst = 1;
  for (const Run& run : runs) {
    const double test = run.history.last("test accuracy");
    table.row(run.name, early(run), run.history.last("training loss"), test);
    Series series = run.history.curve("training loss", run.name);
    series.style = Style::line;
    plot.series.push_back(std::move(series));
    worst = std::min(worst, test);
  }
  lab.table(table);
  lab.picture("optimisers", "The same network, the same first weights, the same batches.",
              draw_plot(plot));
  for (const Run& run : runs)
    lab.check_less(run.name + ": loss at the end over loss after the first pass",
                   run.history.last("training loss") / run.history.curve("training loss").y[0], 1);
  lab.check_less("momentum is ahead of SGD after 5 passes (its loss over SGD's)",
                 early(runs[1]) / early(runs[0]), 1);
  lab.check_greater("test accuracy of Adam", runs[2].history.last("test accuracy"), 0.95);
  lab.check_greater("and by how much it beats the straight line",
                    runs[2].history.last("test accuracy") - line, 0.05);
  draw_boundary(lab, task, runs[2].net);
  save_safetensors(lab.out_dir() / "half_circles.safetensors", runs[2].net.state_dict());
  if (runs[0].history.last("training loss") > 2 * runs[1].history.last("training loss"))
    lab.say(
        "SGD crawls along a flat valley: its step is the gradient, and the gradient is small "
        "there.");
  else
    lab.say(
        "With {} passes SGD arrives as well; along the flat valley before it took many more than "
        "the others, since its step is the gradient, and the gradient is small there.",
        runs[0].history.epochs.size());
  lab.say(
      "Momentum adds up gradients that agree, up to 1/(1 - μ) = {:.0f} times one of them. Adam "
      "divides each weight's step by the usual size of its gradient, so that all weights move at a "
      "like pace. The hidden units are what bends the line: {} of tanh, each a soft step across "
      "the plane in a direction of its own.",
      1 / (1 - 0.9), hidden);
}

}  // namespace

void two_layers(Lab& lab) {
  by_the_chain_rule(lab);
  three_optimisers(lab);
}

}  // namespace labgrad::labs::autograd
