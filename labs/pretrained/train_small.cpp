// --train-small: the training of the small network, from MNIST to the file in the repository.

#include <algorithm>

#include "data/mnist.h"
#include "engine/engine.h"
#include "engine/io/file.h"
#include "labs/common/train.h"
#include "labs/pretrained/sections.h"
#include "labs/pretrained/small_net.h"
#include "nn/schedule.h"

namespace labgrad::labs::pretrained {
namespace {

// As many of the first pictures as the budget allows.
data::LabelledImages first(data::LabelledImages images, std::int64_t count) {
  const std::int64_t n = std::min(count, images.size());
  images.labels.resize(static_cast<std::size_t>(n));
  images.pixels.resize(static_cast<std::size_t>(n * images.height * images.width));
  return images;
}

}  // namespace

void train_small(Lab& lab) {
  const std::filesystem::path path = lab.options().text("train-small");
  // Now, not after the training.
  if (path.has_parent_path() && !std::filesystem::is_directory(path.parent_path()))
    throw UsageError("--train-small " + path.string() + ": there is no folder " +
                     path.parent_path().string());
  const std::filesystem::path folder = lab.data_dir() / "mnist";
  const std::int64_t pictures = lab.by_budget<std::int64_t>(12000, 60000, 60000);
  const data::LabelledImages train_set =
      first(data::load_mnist(folder, data::Split::train), pictures);
  const data::LabelledImages test_set = data::load_mnist(folder, data::Split::test);
  const std::int64_t epochs = lab.epochs(2, 12, 12), batch = lab.batch(128, 128, 128);
  if (batch > train_set.size())
    throw UsageError(
        fmt::format("--batch {} is more than the {} pictures", batch, train_set.size()));
  const auto seed = static_cast<std::uint64_t>(lab.seed());
  constexpr double lr = 3e-3;
  lab.say(
      "{} epochs of {} digits of MNIST in batches of {}; Adam at {} on a cosine to 0; seed {}. "
      "Nothing is chosen by the test digits: they are only counted after each epoch.",
      epochs, train_set.size(), batch, lr, seed);

  manual_seed(seed);
  SmallNet network;
  optim::Adam adam(network.parameters(), {.lr = lr});
  Generator order(seed);
  const optim::Schedule schedule = optim::cosine(lr, epochs * (train_set.size() / batch));
  const Training training{
      .name = "small network",
      .model = &network,
      .optimizer = &adam,
      .epochs = epochs,
      .batches =
          [&](std::int64_t) {
            return batches_of(
                data::Loader(train_set.size(), {.batch_size = batch, .drop_last = true}, order));
          },
      .step =
          [&](const Batch& rows, std::int64_t step) {
            std::vector<std::int64_t> labels;
            for (const std::int64_t i : rows)
              labels.push_back(train_set.labels[static_cast<std::size_t>(i)]);
            adam.lr = schedule(step);
            adam.zero_grad();
            const Tensor loss = cross_entropy(network(pixels_of(train_set, rows)),
                                              from_values(labels, {std::ssize(labels)}));
            loss.backward();
            adam.step();
            return loss.item();
          },
      .evaluate =
          [&](std::int64_t) {
            return Metrics{{"test accuracy", static_cast<double>(right_answers(network, test_set)) /
                                                 static_cast<double>(test_set.size())}};
          },
      .generators = {{"default", &default_generator()}, {"order", &order}},
      .config = Json::object({{"network", "small network"},
                              {"digits", train_set.size()},
                              {"batch", batch},
                              {"lr", lr},
                              {"epochs", epochs},
                              {"seed", lab.seed()}})};
  const History history = train(lab, training);

  Table table({{"epoch", "d"}, {"training loss", ".4f"}, {"test accuracy", ".4f"}});
  for (std::size_t e = 0; e < history.epochs.size(); ++e)
    table.row(e + 1, history.epoch_losses[e], history.epochs[e].front().second);
  lab.table(table);
  lab.picture("small_training", "The small network learns MNIST.",
              draw_plot({.title = "Test accuracy of the small network",
                         .x = {.label = "epoch"},
                         .y = {.label = "accuracy"},
                         .series = {history.curve("test accuracy")}}));
  const std::int64_t right = right_answers(network, test_set);
  lab.check_greater("digits of the test set that are read right",
                    static_cast<double>(right) / static_cast<double>(test_set.size()),
                    lab.by_budget(0.5, 0.98, 0.98));

  save_safetensors(
      path, network.state_dict(),
      {{"network", "SmallNet of labs/pretrained"},
       {"input", "one channel, pixels 0 to 1, 28 x 28"},
       {"trained_on", fmt::format("MNIST, {} training digits", train_set.size())},
       {"training", fmt::format("{} epochs, batches of {}, Adam {} on a cosine to 0, seed {}",
                                epochs, batch, lr, seed)},
       {"test_right", fmt::format("{} of {}", right, test_set.size())},
       {"licence", "Apache-2.0"}});
  const std::string bytes = read_file(path);
  lab.say("{}: {} bytes.", path.string(), bytes.size());
  const std::filesystem::path kept = lab_file(small_weights);
  if (!kept.empty() && !std::filesystem::equivalent(kept, path))
    lab.say("{} {}", kept.string(),
            read_file(kept) == bytes
                ? "holds the same bytes."
                : "holds other bytes. The same seed gives the same bytes for any number of "
                  "threads, as long as compiler and processor are of the same kind; where vectors "
                  "have another width sums are rounded otherwise, and training amplifies it.");
}

}  // namespace labgrad::labs::pretrained
