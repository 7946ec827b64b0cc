#pragma once
// The pictures of a run: what is looked for, and what it is looked for among.

#include <cstdint>
#include <string>
#include <vector>

#include "data/images.h"
#include "engine/tensor.h"
#include "labs/common/lab.h"
#include "labs/common/strips.h"

namespace labgrad::labs::pretrained {

struct Pictures {
  Tensor pixels;                     // (N, 1, 28, 28), 0 .. 1
  std::vector<std::int64_t> labels;  // N

  std::int64_t size() const { return std::ssize(labels); }
  Tensor rows() const;  // (N, 784): raw pixels as a vector
};

// The protocol of the experiment: 200 training pictures ask, 1,000 test pictures may answer. A
// larger budget takes more of both, from the front.
inline constexpr std::int64_t protocol_queries = 200, protocol_database = 1000;

struct Task {
  bool fashion = false;  // Fashion-MNIST, else generated digits
  std::string source;    // its name
  std::vector<std::string> classes;
  data::LabelledImages train_images, test_images;
  Pictures queries, database;
};

// Fashion-MNIST if it lies in the lab's data folder, else generated digits; made once.
const Task& task(Lab& lab);

// Pictures first .. last - 1 of a set.
Pictures pictures(const data::LabelledImages& images, std::int64_t first, std::int64_t last);

// Picture i with its 28 x 28 pixels, for draw_image.
ImagePanel panel_of(const Pictures& pictures, std::int64_t i);

}  // namespace labgrad::labs::pretrained
