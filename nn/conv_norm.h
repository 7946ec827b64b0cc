#pragma once
// Convolution, batch normalisation and, at will, ReLU6, which is what MobileNetV2 is built of; and
// what makes its inference cheaper: the normalisation folded into the convolution.

#include "nn/batch_norm.h"
#include "nn/conv.h"

namespace labgrad::nn {

// What lies around the images under a 3 x 3 filter.
enum class PaddingRule : std::uint8_t {
  torchvision,  // (kernel - 1) / 2 on every side
  tensorflow,   // "SAME": as many as make ceil(n / stride) results, the smaller half before
};

// Along an axis of n TensorFlow pads max((ceil(n / stride) - 1) stride + kernel - n, 0) in all.
// With stride 2 on an even size that is nothing before and one after: the filter's centre lies on
// other pixels than with torchvision's rule, and weights trained with one are wrong with the other.
Padding padding_of(PaddingRule rule, Plane image, Plane kernel, Plane stride);

// Makes the convolution give what `norm` in evaluation makes of its results:
//   s = γ/√(σ² + ε)
//   W' = s ⊙ W, each filter by its channel's number
//   b' = β + s ⊙ (b - μ)                                                    [fold_batch_norm.1]
// The convolution gets new tensors, outside the graph and without requires_grad; a copy that shared
// the old ones keeps them. Error: numbers of filters and channels differ.
void fold_batch_norm(Conv2d& conv, const BatchNorm2d& norm);

struct ConvNormOptions {
  Plane stride = 1;
  std::int64_t groups = 1;
  bool relu6 = true;
  PaddingRule padding = PaddingRule::torchvision;
  double eps = 1e-5;
};

// Its members are named "0" (the convolution, without a bias) and "1" (the normalisation).
class ConvNorm : public Layer {
 public:
  Conv2d conv;
  BatchNorm2d norm;
  bool activates;
  PaddingRule padding;

  // The filter is kernel x kernel; drawn as Conv2d's.
  ConvNorm(std::int64_t in, std::int64_t out, std::int64_t kernel, const ConvNormOptions& options,
           Generator& g = default_generator());

  // y = relu6(norm(x * W)), without relu6 as the options say                      [conv_norm.1]
  // x (N, in, H, W) -> y (N, out, H', W')
  Tensor forward(const Tensor& x) override;

  // From here on `conv` does the work of both, with the statistics of this moment, in training too;
  // state_dict() has "0.weight" and "0.bias" alone. Calling it again changes nothing.
  void fold();
  bool folded() const { return folded_; }

  void members(Members& m) override;
  std::string kind() const override { return "ConvNorm"; }
  std::string details() const override;

 private:
  bool folded_ = false;
};

}  // namespace labgrad::nn
