#include "labs/attention/reviews_task.h"

#include <memory>

#include "engine/engine.h"
#include "engine/io/safetensors.h"
#include "nn/optim.h"

namespace labgrad::labs::attention {

ReviewsTask::ReviewsTask(std::vector<data::Review> all)
    : reviews(std::move(all)), train_size(static_cast<std::int64_t>(reviews.size()) - test_size) {
  if (train_size < 1) fail("ReviewsTask: no reviews are left to train on");
  std::vector<std::vector<std::string>> sentences;
  std::vector<std::int64_t> labels;
  for (const data::Review& r : reviews) {
    for (const std::string& word : r.words) vocabulary.add(word);
    sentences.push_back(r.words);
    labels.push_back(r.label);
  }
  const Tensor x = encode(sentences);
  const Tensor y = from_values(labels, {x.size(0)});
  train_x = narrow(x, 0, 0, train_size);
  train_y = narrow(y, 0, 0, train_size);
  test_x = narrow(x, 0, train_size, test_size);
  test_y = narrow(y, 0, train_size, test_size);
}

Tensor ReviewsTask::encode(const std::vector<std::vector<std::string>>& sentences) const {
  return data::encode(sentences, vocabulary, max_len);
}

const data::Review& ReviewsTask::test_review(std::int64_t i) const {
  return reviews[static_cast<std::size_t>(train_size + i)];
}

const ReviewsTask& course_reviews() {
  static const ReviewsTask task(data::reviews(2000));
  return task;
}

double accuracy(TinyTransformer& model, const Tensor& x, const Tensor& y) {
  NoGrad no_grad;
  const nn::Evaluating evaluating(model);
  return mean(to(argmax(model.forward(x).out, 1) == y, f64)).item();
}

Trained train_transformer(Lab& lab, const std::string& name, const ReviewsTask& task,
                          bool positions, std::int64_t quick_epochs) {
  const auto seed = static_cast<std::uint64_t>(lab.seed());
  const std::int64_t batch = lab.batch(64, 64, 64), epochs = lab.epochs(quick_epochs, 12, 12);
  manual_seed(seed);
  TinyTransformer model(task.vocabulary.size(), {.positions = positions});
  manual_seed(seed);  // the course's loop seeds once more
  optim::Adam adam(model.parameters(), {.lr = 3e-3});

  Training training{.name = name, .model = &model, .optimizer = &adam, .epochs = epochs};
  training.config.set("seed", lab.seed());
  training.config.set("batch", batch);
  training.batches = [&](std::int64_t) {
    const std::vector<std::int64_t> order = default_generator().randperm(task.train_size);
    Batches batches;
    for (std::size_t i = 0; i < order.size(); i += static_cast<std::size_t>(batch))
      batches.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(i),
                           order.begin() + static_cast<std::ptrdiff_t>(std::min(
                                               i + static_cast<std::size_t>(batch), order.size())));
    return batches;
  };
  training.step = [&](const Batch& rows, std::int64_t) {
    const Tensor chosen = from_values(rows, {static_cast<std::int64_t>(rows.size())});
    adam.zero_grad();
    const Tensor loss = cross_entropy(model.forward(index_select(task.train_x, 0, chosen)).out,
                                      index_select(task.train_y, 0, chosen));
    loss.backward();
    adam.step();
    return loss.item();
  };
  training.evaluate = [&](std::int64_t) {
    return Metrics{{"test accuracy", accuracy(model, task.test_x, task.test_y)}};
  };
  History history = train(lab, training);
  save_safetensors(lab.out_dir() / (name + ".safetensors"), model.state_dict());
  return {std::move(model), std::move(history)};
}

Trained& course_model(Lab& lab) {
  static std::unique_ptr<Trained> trained;
  if (!trained)
    trained = std::make_unique<Trained>(
        train_transformer(lab, "encoder", course_reviews(), /*positions=*/true));
  return *trained;
}

}  // namespace labgrad::labs::attention
