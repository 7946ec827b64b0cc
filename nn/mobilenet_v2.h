#pragma once
// MobileNetV2: a network for images that a telephone can afford. Sandler, Howard, Zhu, Zhmoginov
// and Chen 2018, arXiv:1801.04381; sizes in its table 2, the block in table 1.
//
// Names and layouts of all parameters and buffers are torchvision's ("features.0.0.weight" ...
// "features.18.1.running_var", "classifier.1.weight"), so that published weights load; it counts
// nothing, so there is no num_batches_tracked (nn/mobilenet_v2_weights.h reads files).

#include <optional>
#include <vector>

#include "nn/conv_norm.h"
#include "nn/dropout.h"
#include "nn/linear.h"

namespace labgrad::nn {

struct InvertedResidualOptions {
  std::int64_t stride = 1;
  std::int64_t expansion = 6;  // t: how many times wider the middle is than the input
  PaddingRule padding = PaddingRule::torchvision;
  double eps = 1e-5;
};

// An inverted residual block: wide in the middle, where each channel is filtered by itself, and
// narrow at both ends, which the sum joins.
class InvertedResidual : public Layer {
 public:
  std::optional<ConvNorm> expand;  // 1 x 1, C -> tC; none if t = 1
  ConvNorm depthwise;              // 3 x 3, each channel by itself, with the stride
  ConvNorm project;                // 1 x 1, tC -> C', linear: ReLU would destroy what is narrow
  bool joins;                      // stride 1 and C' = C

  InvertedResidual(std::int64_t in, std::int64_t out, const InvertedResidualOptions& options,
                   Generator& g = default_generator());

  // e = relu6(norm(x * W_e))
  // d = relu6(norm(e * W_d))
  // p = norm(d * W_p)
  // y = x + p if it joins, else p                                       [inverted_residual.1]
  // x (N, C, H, W) -> y (N, C', ceil(H / stride), ceil(W / stride))
  Tensor forward(const Tensor& x) override;

  void members(Members& m) override;
  std::string kind() const override { return "InvertedResidual"; }
  std::string details() const override;
};

struct MobileNetV2Options {
  std::int64_t classes = 1000;
  double width_mult = 1.0;  // scales all channels, rounded to multiples of 8 as torchvision does
  PaddingRule padding = PaddingRule::torchvision;
  double eps = 1e-5;  // of all normalisations
  double dropout = 0.2;
};

class MobileNetV2 : public Layer {
 public:
  ConvNorm stem;                         // features.0: 3 x 3, stride 2
  std::vector<InvertedResidual> blocks;  // features.1 to features.17
  ConvNorm head;                         // features.18: 1 x 1, to 1280 channels
  Dropout dropout;
  Linear classifier;  // classifier.1

  // Drawn as torchvision draws, from one seed the same numbers: convolutions normal with standard
  // deviation √(2/fan_out), the classifier normal with 0.01, its bias 0, after the draws that the
  // layers make for themselves. Error: fewer than 1 class; a width_mult that is not above 0.
  explicit MobileNetV2(const MobileNetV2Options& options = {}, Generator& g = default_generator());

  // y = W dropout(embedding(x)) + b                                            [mobilenet_v2.1]
  // x (N, 3, H, W) -> y (N, classes): logits. How pixels are scaled is a matter of the weights.
  Tensor forward(const Tensor& x) override;

  // The map before pooling: (N, 1280, ceil(H / 32), ceil(W / 32)).
  Tensor features(const Tensor& x);
  // Its mean over rows and columns: (N, 1280), more for width_mult above 1.
  Tensor embedding(const Tensor& x);

  // For inference: every normalisation goes into the convolution before it (ConvNorm::fold), which
  // changes the results by rounding alone. Copies made before go on as they were.
  void fold_batch_norm();

  void members(Members& m) override;
  std::string kind() const override { return "MobileNetV2"; }

 private:
  std::vector<ConvNorm*> convolutions();  // all 52, in the order of the state dict
};

}  // namespace labgrad::nn
