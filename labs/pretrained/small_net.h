#pragma once
// The small network: three convolutions, made to read the digits of MNIST, small enough that its
// trained weights lie in the repository.

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/images.h"
#include "engine/io/safetensors.h"
#include "nn/batch_norm.h"
#include "nn/conv.h"
#include "nn/linear.h"

namespace labgrad::labs::pretrained {

class SmallNet : public nn::Layer {
 public:
  nn::Conv2d conv1;                  // 3 x 3, 1 -> 16, without a bias: the normalisation has one
  nn::BatchNormReLUMaxPool2d norm1;  // windows of 2 x 2
  nn::Conv2d conv2;                  // 16 -> 32
  nn::BatchNormReLUMaxPool2d norm2;
  nn::Conv2d conv3;  // 32 -> 64
  nn::BatchNormReLUMaxPool2d norm3;
  nn::Linear classifier;  // 64 -> 10

  // Drawn in the order of the members, as PyTorch draws.
  explicit SmallNet(Generator& g = default_generator());

  // y = W embedding(x) + b                                                         [small_net.2]
  // x (N, 1, H, W), pixels 0 .. 1 -> y (N, 10): logits of the digits
  Tensor forward(const Tensor& x) override { return classifier(embedding(x)); }

  // hᵢ = max_pool(relu(norm(hᵢ₋₁ * Wᵢ))),  h₀ = x
  // e = mean of h₃ over rows and columns                                           [small_net.1]
  // x (N, 1, H, W) -> e (N, 64)
  Tensor embedding(const Tensor& x);

  // The maps h₁ (N, 16, H/2, W/2), h₂ (N, 32, H/4, W/4) and h₃ (N, 64, H/8, W/8).
  std::array<Tensor, 3> maps(const Tensor& x);

  // For inference: each normalisation goes into the convolution before it; what remains of it is
  // relu and max_pool. Calling it again changes nothing.
  void fold_batch_norm();

  void members(nn::Members& m) override;
  std::string kind() const override { return "SmallNet"; }

 private:
  bool folded_ = false;
};

// Pictures as the network takes them: (N, 1, height, width) with pixels 0 .. 1, on the default
// device. Those with the numbers in `rows`, or all.
Tensor pixels_of(const data::LabelledImages& images, std::span<const std::int64_t> rows);
Tensor pixels_of(const data::LabelledImages& images);

// How many of the pictures are classified as their labels say.
std::int64_t right_answers(SmallNet& network, const data::LabelledImages& images);

// The weights that lie in the repository: in labs/pretrained/ below the working directory, or
// beside the program's own build, or where `make install` puts them. Empty if in none of them.
std::filesystem::path lab_file(const std::filesystem::path& name);
inline constexpr const char* small_weights = "small_mnist.safetensors";

struct PretrainedSmallNet {
  SmallNet network;  // in evaluation mode
  Metadata metadata;
};
// Throws what SafetensorsReader throws, and Error that lists what is missing, unexpected or of the
// wrong shape.
PretrainedSmallNet load_small_net(const std::filesystem::path& path);

}  // namespace labgrad::labs::pretrained
