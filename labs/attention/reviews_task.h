#pragma once
// The reviews as tensors, and the training of a TinyTransformer on them.

#include "data/reviews.h"
#include "data/vocabulary.h"
#include "labs/attention/tiny_transformer.h"
#include "labs/common/lab.h"
#include "labs/common/train.h"

namespace labgrad::labs::attention {

// Reviews padded to 20 words; the last 400 to test, the others to train on.
struct ReviewsTask {
  static constexpr std::int64_t max_len = 20, test_size = 400;

  std::vector<data::Review> reviews;
  data::Vocabulary vocabulary;
  std::int64_t train_size;
  Tensor train_x, train_y, test_x, test_y;  // (n, max_len), (n) of i64

  // Error: not more than test_size reviews.
  explicit ReviewsTask(std::vector<data::Review> all);

  const data::Review& test_review(std::int64_t i) const;
  // One row for each list of words.
  Tensor encode(const std::vector<std::vector<std::string>>& sentences) const;
};

// The 2,000 reviews of the course, made once.
const ReviewsTask& course_reviews();

// The share of right answers.
double accuracy(TinyTransformer& model, const Tensor& x, const Tensor& y);

struct Trained {
  TinyTransformer model;
  History history;
};

// Adam 3e-3, batches of 64, 12 epochs, from the lab's seed: the weights and each epoch's order are
// those that PyTorch draws. `name` is that of the checkpoint, of the curves and of the trained
// model's file; --quick trains for quick_epochs.
Trained train_transformer(Lab& lab, const std::string& name, const ReviewsTask& task,
                          bool positions, std::int64_t quick_epochs = 4);

// The model of section 3, which sections 4 and 5 look at again; trained when first asked for.
Trained& course_model(Lab& lab);

}  // namespace labgrad::labs::attention
