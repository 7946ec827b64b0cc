#pragma once
// Published weights of MobileNetV2 from safetensors files, whatever names they use.

#include <filesystem>
#include <optional>
#include <vector>

#include "engine/io/safetensors.h"
#include "nn/mobilenet_v2.h"

namespace labgrad::nn {

// A network with published weights, and what must be known to use it.
struct PretrainedMobileNetV2 {
  MobileNetV2 network;  // in evaluation mode
  // How its pixels are scaled from 0 .. 1, for red, green and blue: (x - mean) / std.
  std::vector<double> mean, std;
  std::int64_t first_class;  // 1 where class 0 is "background", else 0
  std::string source;        // what the file says about its origin; may be empty
};

// The published forms, width 1.0 in all, told apart by their names of tensors:
//
//   names           as in                              padding      eps    pixels
//   features.*      torchvision's mobilenet_v2         torchvision  1e-5   ImageNet's mean and std
//     with the metadata "padding: TensorFlow SAME"     tensorflow   1e-5   -1 .. 1
//   mobilenet_v2.*  google/mobilenet_v2_1.0_224        tensorflow   1e-3   -1 .. 1
//   conv_stem.*     timm/mobilenetv2_100.ra_in1k       torchvision  1e-5   ImageNet's mean and std
//
// `padding` overrides the rule. A file with 1001 classes has "background" as class 0.
// Throws what SafetensorsReader throws, and Error that lists every tensor that is missing,
// unexpected or of the wrong shape; num_batches_tracked is passed over.
PretrainedMobileNetV2 load_mobilenet_v2(const std::filesystem::path& path,
                                        std::optional<PaddingRule> padding = {});

// The torchvision name of a tensor in any of these forms; a name of none is returned as it is.
std::string torchvision_name(const std::string& name);

}  // namespace labgrad::nn
