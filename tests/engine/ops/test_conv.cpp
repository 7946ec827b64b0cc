#include "engine/ops/conv.h"

#include <doctest/doctest.h>

#include "engine/backward.h"
#include "engine/create.h"
#include "engine/finite_difference.h"
#include "engine/gradcheck.h"
#include "engine/ops.h"
#include "tests/check_close.h"
#include "tests/engine/ops/golden_ops.h"

using namespace labgrad;
using tests::bit_difference;
using tests::check_golden;
using tests::difference;
using tests::golden_plane;
using tests::Named;

TEST_CASE("conv2d: golden values and gradients") {
  const auto run = [](const Json& attrs, Named& in) {
    const Plane padding = golden_plane(attrs.at("padding"));
    return conv2d(in["x"], in["weight"], in["bias"],
                  {.stride = golden_plane(attrs.at("stride")),
                   .padding = {padding.h, padding.w},
                   .dilation = golden_plane(attrs.at("dilation")),
                   .groups = attrs.at("groups").as_int()});
  };
  CHECK(check_golden("conv2d", run) == 7);
}

TEST_CASE("conv2d: the filter is not flipped, and each side has its own padding") {
  const Tensor x = reshape(arange(6.0), {1, 1, 2, 3});  // 0 1 2 | 3 4 5
  const Tensor w = reshape(tensor({1.0, 10.0}), {1, 1, 1, 2});
  CHECK(conv2d(x, w).to_vector() == std::vector<double>{10, 21, 43, 54});
  CHECK(conv2d(x, w, {}, {.padding = {0, 1, 0, 0}}).to_vector() ==
        std::vector<double>{0, 10, 21, 30, 43, 54});
  CHECK(conv2d(x, w, {}, {.padding = {0, 0, 1, 0}}).to_vector() ==
        std::vector<double>{10, 21, 43, 54, 0, 0});
  // Padding below 0 cuts.
  CHECK(conv2d(x, w, {}, {.padding = {-1, 0, 0, 0}}).to_vector() == std::vector<double>{43, 54});
}

TEST_CASE("conv2d: an image that is not square, a filter that is not square") {
  Generator generator(3);
  const TensorOptions f64_options{.dtype = f64};
  const Tensor x = randn({2, 2, 5, 8}, generator, f64_options);
  const Tensor w = randn({3, 2, 3, 2}, generator, f64_options);
  const Tensor b = randn({3}, generator, f64_options);
  CHECK(conv2d(x, w).shape() == Shape{2, 3, 3, 7});
  gradcheck([](const Tensors& t) { return conv2d(t[0], t[1], t[2], {.padding = 1}); }, {x, w, b},
            {.op = "conv2d"});
}

TEST_CASE("conv2d: the weight's gradient is the sum over the batch, not the mean") {
  Generator generator(4);
  const Tensor x = randn({4, 2, 5, 4}, generator, {.dtype = f64});
  const Tensor w = randn({3, 2, 3, 3}, generator, {.dtype = f64});
  gradcheck([](const Tensors& t) { return conv2d(t[0], t[1]); }, {x, w}, {.op = "conv2d"});
  const Tensor ones_y = ones({4, 3, 3, 2}, {.dtype = f64});
  const Tensor dw = conv2d_weight_gradient(x, w.shape(), ones_y);
  const Tensor first = conv2d_weight_gradient(slice(x, 0, 0, 1), w.shape(), slice(ones_y, 0, 0, 1));
  Tensor total = first;
  for (std::int64_t n = 1; n < 4; ++n)
    total = total +
            conv2d_weight_gradient(slice(x, 0, n, n + 1), w.shape(), slice(ones_y, 0, n, n + 1));
  CHECK(difference(dw, total) == "");
}

TEST_CASE("conv2d: layouts: transposed weights, channels last, an expanded gradient") {
  Generator generator(5);
  const Tensor x = randn({2, 5, 6, 7}, generator), w = randn({4, 5, 3, 2}, generator);
  const Tensor turned = packed(transpose(w, 2, 3));  // transposed and back: the same numbers
  const Tensor w_turned = transpose(turned, 2, 3);
  CHECK_FALSE(w_turned.is_contiguous());
  CHECK(bit_difference(conv2d(x, w_turned), conv2d(x, w)) == "");
  const Tensor last = permute(packed(permute(x, {0, 2, 3, 1})), {0, 3, 1, 2});
  CHECK(difference(conv2d(last, w), conv2d(x, w), {.rtol = 0, .atol = 1e-5}) == "");
  const auto gradients = [&](const Tensor& weight, bool expanded) {
    Tensor a = x.detach().requires_grad_(), b = weight.detach().requires_grad_();
    const Tensor y = conv2d(a, b);
    const Tensor one = ones({}, {});
    return grad({y}, {a, b}, {expanded ? expand(one, y.shape()) : ones(y.shape())});
  };
  const Tensors want = gradients(w, false), got = gradients(w_turned, true);
  CHECK(difference(got[0], want[0], {.rtol = 0, .atol = 1e-5}) == "");
  CHECK(difference(got[1], want[1], {.rtol = 0, .atol = 1e-5}) == "");
}

TEST_CASE(
    "images: results lie channels last, elementwise ops keep that, and nothing depends on it") {
  Generator generator(6);
  const Tensor x = randn({2, 3, 4, 5}, generator), w = randn({6, 3, 3, 3}, generator);
  const Strides last{4 * 5 * 6, 1, 5 * 6, 6};
  const Tensor y = conv2d(x, w, {}, {.padding = 1});
  CHECK(y.strides() == last);
  CHECK(relu(y).strides() == last);
  CHECK((y * 2 + y).strides() == last);
  CHECK((y * randn({6, 1, 1}, generator)).strides() == last);
  CHECK(clamp(y, 0, 6).strides() == last);
  CHECK(relu6(y).strides() == last);
  CHECK(to(y, f64).strides() == last);
  CHECK(batch_norm(y, {}, {}, {}, {}, {.training = true}).strides() == last);
  CHECK(contiguous(y).is_contiguous());
  CHECK(bit_difference(reshape(y, {-1}), reshape(contiguous(y), {-1})) == "");
  CHECK(bit_difference(sum(y + 0.0, {2, 3}), sum(contiguous(y), {2, 3})) == "");
}

TEST_CASE("conv2d: errors") {
  const Tensor x = zeros({1, 3, 5, 4}), w = zeros({4, 3, 3, 3});
  const auto complains = [](auto f, const char* text) {
    CHECK_THROWS_WITH_AS(f(), doctest::Contains(text), Error);
  };
  complains([&] { return conv2d(zeros({3, 5, 4}), w); }, "needs an input (N, C, H, W)");
  complains(
      [&] {
        return conv2d(x, zeros({4, 2, 3, 3}));
      },
      "the input has 3 channels, but the weight's filters read 2");
  complains([&] { return conv2d(x, w, {}, {.groups = 3}); }, "in each of 3 groups");
  complains(
      [&] {
        return conv2d(x, zeros({4, 1, 3, 3}), {}, {.groups = 3});
      },
      "the 4 filters must divide by the groups");
  complains(
      [&] {
        return conv2d(x, zeros({4, 3, 6, 3}));
      },
      "the filter does not fit in the padded image");
  complains([&] { return conv2d(x, w, {}, {.dilation = 2}); }, "dilation (2, 2)");
  complains([&] { return conv2d(x, w, {}, {.stride = 0}); }, "must be at least 1");
  complains([&] { return conv2d(x, to(w, f64)); }, "needs one floating dtype");
  complains([&] { return conv2d(x, w, zeros({3})); }, "the bias has shape (3,), expected (4,)");
  complains(
      [&] {
        return conv2d_input_gradient({1, 3, 5, 4}, zeros({1, 4, 3, 3}), w);
      },
      "dy has shape (1, 4, 3, 3), expected (1, 4, 3, 2)");
  complains(
      [&] {
        return conv2d_weight_gradient(x, w.shape(), zeros({2, 4, 3, 2}));
      },
      "conv2d_weight_gradient: dy has shape");
}
