// A linear classifier on frozen features, against one on raw pixels.

#include <algorithm>

#include "engine/engine.h"
#include "engine/io/safetensors.h"
#include "labs/common/train.h"
#include "labs/pretrained/embed.h"
#include "labs/pretrained/paired.h"
#include "labs/pretrained/sections.h"
#include "nn/schedule.h"

namespace labgrad::labs::pretrained {
namespace {

// Features of the training and the test pictures, every one of them brought to mean 0 and deviation
// 1 over the training pictures.
struct Frozen {
  std::string name;
  Tensor train, test;
};

Frozen standardised(std::string name, const Tensor& train, const Tensor& test) {
  const Tensor centre = mean(train, {0}, true);
  const Tensor spread = std(train, {0}, {.correction = 0, .keepdim = true});
  // A feature that never varies tells nothing; it becomes 0.
  const Tensor scale = where(spread > 1e-6, 1.0 / clamp(spread, 1e-6), 0.0);
  return {std::move(name), (train - centre) * scale, (test - centre) * scale};
}

Tensor labels_of(std::span<const std::int64_t> labels) {
  return from_values(labels, {std::ssize(labels)});
}

std::vector<bool> right_ones(nn::Linear& probe, const Tensor& x,
                             std::span<const std::int64_t> labels) {
  const NoGrad no_grad;
  const auto answers = argmax(probe(x), 1).to_vector<std::int64_t>();
  std::vector<bool> right;
  for (std::size_t i = 0; i < answers.size(); ++i) right.push_back(answers[i] == labels[i]);
  return right;
}

double share(const std::vector<bool>& right) {
  return static_cast<double>(std::count(right.begin(), right.end(), true)) /
         static_cast<double>(right.size());
}

struct Probe {
  std::int64_t parameters;
  double train_accuracy;
  std::vector<bool> right;  // of the test pictures
  History history;

  double test_accuracy() const { return share(right); }
};

// Trained on the first n pictures, for as many steps whatever n is.
Probe fit(Lab& lab, const Frozen& x, const Pictures& training_set, std::int64_t n) {
  const Task& data = task(lab);
  const std::int64_t epochs = lab.epochs(10, 30, 30), batch = std::min(n, lab.batch(100, 100, 100));
  const std::int64_t steps = training_set.size() / batch;
  constexpr double lr = 1e-2, decay = 0.1;
  const optim::Schedule schedule = optim::cosine(lr, epochs * steps);
  const auto seed = static_cast<std::uint64_t>(lab.seed());
  manual_seed(seed);
  nn::Linear probe(x.train.size(1), std::ssize(data.classes));
  optim::AdamW adam(probe.parameters(), {.lr = lr, .weight_decay = decay});
  Generator order(seed);
  const std::span labels(training_set.labels.data(), static_cast<std::size_t>(n));
  const Tensor targets = labels_of(labels);
  const Training training{
      .name = fmt::format("probe on {}, {} labels", x.name, n),
      .model = &probe,
      .optimizer = &adam,
      .epochs = epochs,
      .batches =
          [&](std::int64_t) {
            Batches all;
            while (std::ssize(all) < steps)
              for (Batch& b :
                   batches_of(data::Loader(n, {.batch_size = batch, .drop_last = true}, order)))
                if (std::ssize(all) < steps) all.push_back(std::move(b));
            return all;
          },
      .step =
          [&](const Batch& rows, std::int64_t step) {
            adam.lr = schedule(step);
            const Tensor index = from_values(rows, {std::ssize(rows)});
            adam.zero_grad();
            const Tensor loss = cross_entropy(probe(index_select(x.train, 0, index)),
                                              index_select(targets, 0, index));
            loss.backward();
            adam.step();
            return loss.item();
          },
      .evaluate =
          [&](std::int64_t) {
            return Metrics{
                {"test accuracy", share(right_ones(probe, x.test, data.database.labels))}};
          },
      .generators = {{"default", &default_generator()}, {"order", &order}},
      .config = Json::object({{"features", x.name},
                              {"dimensions", x.train.size(1)},
                              {"data", data.source},
                              {"labels", n},
                              {"steps", steps},
                              {"batch", batch},
                              {"epochs", epochs},
                              {"seed", lab.seed()}})};
  Probe out{.parameters = probe.parameter_count(), .train_accuracy = 0, .right = {}, .history = {}};
  if (n == training_set.size()) {
    out.history = train(lab, training);
  } else {
    // The short ones are not worth a checkpoint.
    for (std::int64_t epoch = 0, step = 0; epoch < epochs; ++epoch)
      for (const Batch& rows : training.batches(epoch)) training.step(rows, step++);
  }
  out.train_accuracy = share(right_ones(probe, slice(x.train, 0, 0, n), labels));
  out.right = right_ones(probe, x.test, data.database.labels);
  if (n == training_set.size())
    save_safetensors(lab.out_dir() / (file_safe("probe on " + x.name) + ".safetensors"),
                     probe.state_dict());
  return out;
}

std::vector<Frozen> frozen_features(Lab& lab, const Pictures& training_set) {
  std::vector<Frozen> out;
  for (Network* network : networks(lab))
    out.push_back(standardised(network->name(),
                               features_of(*network, training_set.pixels).embedding(),
                               database_features(lab, *network).embedding()));
  out.push_back(standardised("raw pixels", training_set.rows(), task(lab).database.rows()));
  return out;
}

}  // namespace

void probe(Lab& lab) {
  const Task& data = task(lab);
  const std::int64_t n = lab.by_budget(400, 2000, 10000);
  const Pictures training_set = pictures(data.train_images, 0, n);
  lab.say(
      "Retrieval takes all numbers of a vector as equally important. A linear probe does not: one "
      "linear layer is trained on the frozen features of {} training pictures, {} steps of AdamW "
      "on a cosine to 0, and tested on the {} pictures of the database. The network in front of it "
      "stays as it was. Every feature is brought to mean 0 and deviation 1 before.",
      n, lab.epochs(10, 30, 30) * (n / lab.batch(100, 100, 100)), data.database.size());
  lab.equation("linear.1", "y = x Wᵀ + b");
  const auto prediction = lab.predict(
      fmt::format(
          "On which features will the linear layer test best: the embedding of {} or raw pixels?",
          subject(lab).phrase()),
      {"the embedding", "raw pixels", "they differ by less than 0.005"});
  const std::vector<Frozen> features = frozen_features(lab, training_set);
  const std::vector<std::int64_t> sizes{n / 20, n / 4, n};
  Table table({{"features"},
               {"parameters", ",d"},
               {"training accuracy", ".4f"},
               {"test accuracy", ".4f"},
               {"retrieval, top-1", ".4f"}},
              fmt::format("linear probes on {} labels", n));
  std::vector<Column> columns{{"labels", ",d"}};
  std::vector<std::vector<Cell>> by_size(sizes.size());
  for (std::size_t s = 0; s < sizes.size(); ++s) by_size[s].emplace_back(sizes[s]);
  std::vector<Series> curves;
  std::vector<double> tested;
  std::vector<std::vector<bool>> right;
  const std::vector<Space> all = spaces(lab);
  for (std::size_t f = 0; f < features.size(); ++f) {
    columns.push_back({features[f].name, ".4f"});
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      const Probe p = fit(lab, features[f], training_set, sizes[s]);
      by_size[s].emplace_back(p.test_accuracy());
      if (sizes[s] != n) continue;
      table.row(features[f].name, p.parameters, p.train_accuracy, p.test_accuracy(),
                scores(data, all[f]).top1);
      curves.push_back(p.history.curve("test accuracy", features[f].name));
      tested.push_back(p.test_accuracy());
      right.push_back(p.right);
    }
  }
  lab.table(table);
  lab.picture("probe", "Test accuracy of the linear probes while they are trained.",
              draw_plot({.title = "Linear probes on frozen features, " + data.source,
                         .x = {.label = "epoch"},
                         .y = {.label = "test accuracy", .max = 1},
                         .series = curves}));
  Table fewer(columns, "test accuracy by number of labels");
  for (const std::vector<Cell>& row : by_size) fewer.add_row(row);
  lab.table(fewer);
  const double lead = tested.front() - tested.back();
  lab.reveal(prediction, static_cast<std::size_t>(std::abs(lead) < 0.005 ? 2 : lead > 0 ? 0 : 1));
  for (std::size_t f = 0; f < features.size(); ++f)
    lab.check_greater("probe on " + features[f].name + ": test accuracy", tested[f],
                      lab.by_budget(0.4, 0.6, 0.6));
  lab.say(
      "With {} labels the probe on the embedding of {} is right for {:.4f} of the test pictures, "
      "the one on raw pixels for {:.4f}; if they were equally good, so uneven a split had a "
      "probability of {:.3f}. {}",
      n, subject(lab).phrase(), tested.front(), tested.back(),
      paired(right.front(), right.back()).probability(),
      lead > 0.005 ? (scores(data, all.front()).top1 < scores(data, all.back()).top1
                          ? "What tells the classes apart is in the embedding after all: a linear "
                            "layer, which may weigh its numbers, finds what the cosine, which "
                            "weighs them alike, does not."
                          : "What tells the classes apart is in the embedding, and few labels are "
                            "enough to find it.")
      : lead < -0.005
          ? "With the right weights raw pixels are the better features on these pictures, too."
          : "The two are level.");
}

}  // namespace labgrad::labs::pretrained
