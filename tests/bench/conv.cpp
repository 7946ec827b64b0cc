// Convolution at the four layers of the digit reader, batch 128, and whole blocks of the reader:
// convolution, batch norm, ReLU and pooling.

#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "engine/cpu/winograd.h"
#include "engine/engine.h"
#include "nn/batch_norm.h"
#include "nn/conv.h"
#include "tests/bench/bench.h"

namespace labgrad::bench {

namespace {

constexpr std::int64_t batch = 128;

struct Layer {
  std::int64_t h, w, in, out;
};
constexpr std::array<Layer, 4> reader{
    Layer{28, 336, 1, 32}, {14, 168, 32, 64}, {7, 84, 64, 128}, {3, 42, 128, 128}};

// Images whose channels lie side by side, as every layer but the first gets them.
Tensor images(const Shape& shape) {
  const Tensor x = noise({shape[0], shape[2], shape[3], shape[1]});
  return permute(x, {0, 3, 1, 2});
}

void convolutions(Bench& bench, const Layer& l, int number) {
  const std::string name = fmt::format("conv3x3.{} {}x{}x{}->{}{}", number, l.h, l.w, l.in, l.out,
                                       winograd() ? " winograd" : "");
  if (!bench.wants(name + " forward") && !bench.wants(name + " input gradient") &&
      !bench.wants(name + " weight gradient"))
    return;
  const Tensor x = images({batch, l.in, l.h, l.w}), dy = images({batch, l.out, l.h, l.w});
  const Tensor weight = noise({l.out, l.in, 3, 3});
  Tensor y = images({batch, l.out, l.h, l.w}), dx = images({batch, l.in, l.h, l.w});
  Tensor dw = noise({l.out, l.in, 3, 3});
  const Convolution c{.top = 1, .left = 1};
  const Kernels& k = kernels(Device::cpu);
  const Work work{2.0 * double(y.numel() * l.in * 9), 4.0 * double(x.numel() + y.numel())};
  bench.row(name + " forward", work, [&] { k.conv2d(y.array(), x.array(), weight.array(), c); });
  bench.row(name + " weight gradient", work,
            [&] { k.conv2d_weight_gradient(dw.array(), x.array(), dy.array(), c); });
  // The first layer's input is the image, which needs no gradient.
  if (number > 1)
    bench.row(name + " input gradient", work,
              [&] { k.conv2d_input_gradient(dx.array(), dy.array(), weight.array(), c); });
}

void block(Bench& bench, const Layer& l, int number) {
  const std::string name = fmt::format("block.{} {}x{}x{}->{}", number, l.h, l.w, l.in, l.out);
  if (!bench.wants(name + " fwd+bwd") && !bench.wants(name + " fwd")) return;
  // What must move at least, with x, y and z the bytes of the input, of the convolution's result
  // and of the block's: forward x, y for the statistics, y and z, and y written by the convolution.
  // Backward reads y and dz for the sums, y and dz for dy, which it writes; the weight gradient
  // reads x and dy, and the input gradient dy, and writes dx.
  const double x_bytes = 4.0 * double(batch * l.in * l.h * l.w);
  const double y_bytes = 4.0 * double(batch * l.out * l.h * l.w), z_bytes = y_bytes / 4;
  const double flops = 2.0 * 9 * double(l.in) * y_bytes / 4;
  const double input_gradient = number > 1 ? 1 : 0;
  const Work fwd{flops, x_bytes + 3 * y_bytes + z_bytes};
  const Work both{(2 + input_gradient) * flops, fwd.bytes + 4 * y_bytes + 2 * z_bytes + x_bytes +
                                                    input_gradient * (y_bytes + x_bytes)};
  nn::Conv2d conv(l.in, l.out, 3, {.padding = 1, .bias = false});
  nn::BatchNormReLUMaxPool2d rest(l.out, 2);
  Tensor x = images({batch, l.in, l.h, l.w});
  if (number > 1) x.requires_grad_();
  auto f = [&] { return rest(conv(x)); };
  bench.row(name + " fwd", fwd, [&] {
    const NoGrad guard;
    f();
  });
  const Tensor dy = images(f().shape());
  bench.row(name + " fwd+bwd", both, [&] {
    f().backward(dy);
    x.zero_grad();
    conv.zero_grad();
    rest.zero_grad();
  });
}

// The part of a block that is not arithmetic, alone.
void norm_relu_pool(Bench& bench, const Layer& l, int number) {
  const std::string name = fmt::format("norm_relu_pool.{} {}x{}x{}", number, l.h, l.w, l.out);
  if (!bench.wants(name + " forward") && !bench.wants(name + " backward") &&
      !bench.wants(name + " evaluating"))
    return;
  nn::BatchNormReLUMaxPool2d f(l.out, 2);
  const Tensor x = images({batch, l.out, l.h, l.w}).requires_grad_();
  const double x_bytes = 4.0 * double(x.numel()), y_bytes = x_bytes / 4;
  {
    const NoGrad guard;
    bench.row(name + " forward", {0, 2 * x_bytes + y_bytes}, [&] { f(x); });
    f.eval();
    bench.row(name + " evaluating", {0, x_bytes + y_bytes}, [&] { f(x); });
    f.train();
  }
  const Tensor y = f(x), dy = images(y.shape());
  bench.row(name + " backward", {0, 3 * x_bytes + 2 * y_bytes}, [&] {
    grad({y}, {x, f.weight, f.bias}, {dy}, {.retain_graph = true});
  });
}

}  // namespace

void bench_conv(Bench& bench) {
  int number = 0;
  for (const Layer& l : reader) convolutions(bench, l, ++number);
  {
    // Flops are counted as without: those of the sums as they are written.
    const UseWinograd guard;
    number = 1;
    for (const Layer& l : {reader[1], reader[2], reader[3]}) convolutions(bench, l, ++number);
  }
  number = 0;
  for (const Layer& l : reader) norm_relu_pool(bench, l, ++number);
  number = 0;
  for (const Layer& l : reader) block(bench, l, ++number);
}

}  // namespace labgrad::bench
