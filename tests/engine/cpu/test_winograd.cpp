// Convolutions by Winograd's transform against the specification, within the error that
// engine/cpu/winograd.h states.

#include "engine/cpu/winograd.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/cpu/threads.h"
#include "engine/cpu/winograd_transform.h"
#include "engine/kernels.h"
#include "tests/engine/arrays.h"

using namespace labgrad;
using namespace labgrad::test;

namespace {

const Kernels& fast() { return kernels(Device::cpu); }
const Kernels& specified() { return kernels(Device::naive); }
const Layout side_by_side{.order = {0, 2, 3, 1}};

struct Case {
  std::int64_t samples, channels, filters;
  Plane image;
  std::int64_t top, left, bottom, right;

  Shape x() const { return {samples, channels, image.h, image.w}; }
  Shape w() const { return {filters, channels, 3, 3}; }
  Shape y() const {
    return {samples, filters, image.h + top + bottom - 2, image.w + left + right - 2};
  }
};

// The operands of a case, in f32.
struct Operands {
  Buffer x, w, dy;

  Operands(Generator& random, const Case& c)
      : x(f32, c.x(), side_by_side), w(f32, c.w()), dy(f32, c.y(), side_by_side) {
    fill_normal(random, x.array);
    fill_normal(random, w.array);
    fill_normal(random, dy.array);
  }
};

enum class Pass { forward, input_gradient, weight_gradient };
constexpr std::array passes{Pass::forward, Pass::input_gradient, Pass::weight_gradient};

Shape result_shape(Pass pass, const Case& c) {
  return pass == Pass::forward ? c.y() : pass == Pass::input_gradient ? c.x() : c.w();
}
Layout result_layout(Pass pass) { return pass == Pass::weight_gradient ? Layout{} : side_by_side; }

void run(const Kernels& k, Pass pass, const Array& to, const Array& x, const Array& w,
         const Array& dy, const Case& c) {
  const Convolution v{.top = c.top, .left = c.left};
  if (pass == Pass::forward)
    k.conv2d(to, x, w, v);
  else if (pass == Pass::input_gradient)
    k.conv2d_input_gradient(to, dy, w, v);
  else
    k.conv2d_weight_gradient(to, x, dy, v);
}

std::vector<float> result(Pass pass, const Operands& o, const Case& c) {
  Buffer to(f32, result_shape(pass, c), result_layout(pass));
  run(fast(), pass, to.array, o.x.array, o.w.array, o.dy.array, c);
  CHECK(to.intact());
  return values<float>(to.array);
}

// The same in f64 by the specification.
std::vector<double> exact(Pass pass, const Operands& o, const Case& c) {
  Buffer x(f64, c.x()), w(f64, c.w()), dy(f64, c.y()), to(f64, result_shape(pass, c));
  specified().copy(x.array, o.x.array);
  specified().copy(w.array, o.w.array);
  specified().copy(dy.array, o.dy.array);
  run(specified(), pass, to.array, x.array, w.array, dy.array, c);
  return values<double>(to.array);
}

// Root mean square and largest error, in units of the exact results' root mean square.
struct Deviation {
  double rms = 0, largest = 0;

  Deviation(const std::vector<float>& got, const std::vector<double>& want) {
    REQUIRE(got.size() == want.size());
    double scale = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double e = std::abs(double(got[i]) - want[i]);
      largest = std::max(largest, e);
      rms += e * e;
      scale += want[i] * want[i];
    }
    scale = std::sqrt(scale / double(want.size()));
    rms = std::sqrt(rms / double(want.size())) / scale;
    largest /= scale;
  }
};

template <std::size_t N>
using Numbers = std::array<double, N>;

// One transform as a function of arrays.
template <std::size_t M, std::size_t N, class F>
Numbers<M> apply(F f, const Numbers<N>& from) {
  double in[N], out[M];
  std::copy(from.begin(), from.end(), in);
  f(in, out);
  Numbers<M> to;
  std::copy(out, out + M, to.begin());
  return to;
}

template <std::size_t N>
Numbers<N> some(Generator& random) {
  Numbers<N> x;
  random.normal(x, 0, 1);
  return x;
}

template <std::size_t N>
double dot(const Numbers<N>& a, const Numbers<N>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < N; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

TEST_CASE("winograd: four results of three numbers on six; and the transposes") {
  Generator random(1);
  for (int round = 0; round < 20; ++round) {
    const auto d = some<6>(random), m = some<6>(random);
    const auto g = some<3>(random);
    const auto y = some<4>(random);
    const auto v = apply<6>(cpu::data_transform<double>, d);
    const auto u = apply<6>(cpu::filter_transform<double>, g);
    Numbers<6> product;
    for (std::size_t i = 0; i < 6; ++i) product[i] = u[i] * v[i];
    const auto got = apply<4>(cpu::result_transform<double>, product);
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(got[i] ==
            doctest::Approx(d[i] * g[0] + d[i + 1] * g[1] + d[i + 2] * g[2]).epsilon(1e-6));
    CHECK(dot(apply<6>(cpu::result_transform_back<double>, y), m) ==
          doctest::Approx(dot(y, apply<4>(cpu::result_transform<double>, m))).epsilon(1e-6));
    CHECK(dot(apply<3>(cpu::filter_transform_back<double>, m), g) ==
          doctest::Approx(dot(m, u)).epsilon(1e-6));
  }
}

TEST_CASE("winograd: any image, padding and number of channels, within the stated error") {
  Generator random(2);
  for (int round = 0; round < 40; ++round) {
    const auto any = [&](std::int64_t low, std::int64_t high) { return any_of(random, low, high); };
    const Case c{any(8, 20), 16 * any(1, 5), 16 * any(1, 5), {any(4, 9), any(10, 20)},
                 any(-1, 2), any(-1, 2),     any(-1, 2),     any(-1, 2)};
    const Operands o(random, c);
    INFO("x " << c.x().str() << " w " << c.w().str() << " y " << c.y().str());
    INFO("top " << c.top << " left " << c.left);
    for (const Pass pass : passes) {
      INFO("pass " << static_cast<int>(pass));
      const UseWinograd guard;
      const Deviation e(result(pass, o, c), exact(pass, o, c));
      CHECK(e.rms <= 1.5e-6);
      CHECK(e.largest <= 2e-5);
    }
  }
}

TEST_CASE("winograd: it rounds otherwise than the sum, by less than five times") {
  Generator random(3);
  const Case c{4, 64, 128, {7, 84}, 1, 1, 1, 1};
  const Operands o(random, c);
  for (const Pass pass : passes) {
    INFO("pass " << static_cast<int>(pass));
    const std::vector<double> want = exact(pass, o, c);
    const std::vector<float> sum = result(pass, o, c);
    const UseWinograd guard;
    const std::vector<float> transformed = result(pass, o, c);
    CHECK(transformed != sum);
    CHECK(Deviation(transformed, want).rms <= 5 * Deviation(sum, want).rms);
  }
}

TEST_CASE("winograd: the same bits for any number of threads [threads]") {
  Generator random(4);
  const Case c{9, 48, 80, {14, 42}, 1, 1, 1, 1};
  const Operands o(random, c);
  const UseWinograd guard;
  const int before = num_threads();
  for (const Pass pass : passes) {
    INFO("pass " << static_cast<int>(pass));
    set_num_threads(1);
    const std::vector<float> one = result(pass, o, c);
    set_num_threads(3);
    CHECK(result(pass, o, c) == one);
  }
  set_num_threads(before);
}

TEST_CASE("winograd: off at first, and where it does not suit the sum is as it was") {
  CHECK_FALSE(winograd());
  Generator random(5);
  const auto same = [&](DType dtype, const Shape& x_shape, const Shape& w_shape,
                        const Shape& y_shape, const Layout& layout, const Convolution& v) {
    Buffer x(dtype, x_shape, layout), w(dtype, w_shape), y(dtype, y_shape, layout),
        z(dtype, y_shape, layout);
    fill_normal(random, x.array);
    fill_normal(random, w.array);
    fast().conv2d(y.array, x.array, w.array, v);
    const UseWinograd guard;
    fast().conv2d(z.array, x.array, w.array, v);
    CHECK(difference(z.array, y.array) == "");
  };
  const Convolution padded{.top = 1, .left = 1};
  same(f64, {8, 16, 8, 16}, {16, 16, 3, 3}, {8, 16, 8, 16}, side_by_side, padded);
  same(f32, {8, 16, 8, 16}, {16, 16, 3, 3}, {8, 16, 8, 16}, {}, padded);
  same(f32, {8, 24, 8, 16}, {16, 24, 3, 3}, {8, 16, 8, 16}, side_by_side, padded);
  same(f32, {8, 16, 8, 16}, {24, 16, 3, 3}, {8, 24, 8, 16}, side_by_side, padded);
  same(f32, {8, 528, 8, 16}, {128, 528, 3, 3}, {8, 128, 8, 16}, side_by_side, padded);
  same(f32, {8, 16, 8, 16}, {16, 16, 5, 5}, {8, 16, 6, 14}, side_by_side, padded);
  same(f32, {8, 32, 8, 16}, {32, 16, 3, 3}, {8, 32, 8, 16}, side_by_side,
       {.top = 1, .left = 1, .groups = 2});
  same(f32, {8, 16, 8, 16}, {16, 16, 3, 3}, {8, 16, 4, 8}, side_by_side,
       {.stride = 2, .top = 1, .left = 1});
  same(f32, {8, 16, 8, 16}, {16, 16, 3, 3}, {8, 16, 6, 14}, side_by_side,
       {.top = 1, .left = 1, .dilation = 2});
  same(f32, {1, 16, 8, 8}, {16, 16, 3, 3}, {1, 16, 8, 8}, side_by_side, padded);  // four tiles

  // The input gradient of a stride, whose own stride is 1.
  Buffer dy(f32, {8, 16, 4, 8}, side_by_side), w(f32, {16, 16, 3, 3});
  Buffer dx(f32, {8, 16, 8, 16}, side_by_side), again(f32, {8, 16, 8, 16}, side_by_side);
  fill_normal(random, dy.array);
  fill_normal(random, w.array);
  const Convolution strided{.stride = 2, .top = 1, .left = 1};
  fast().conv2d_input_gradient(dx.array, dy.array, w.array, strided);
  const UseWinograd guard;
  fast().conv2d_input_gradient(again.array, dy.array, w.array, strided);
  CHECK(difference(again.array, dx.array) == "");
}

TEST_CASE("winograd: a NaN reaches all that its patch touches") {
  Generator random(6);
  const Case c{8, 16, 16, {8, 16}, 1, 1, 1, 1};
  Operands o(random, c);
  o.x.array.as<float>()[0] = std::nanf("");  // channel 0 of pixel (0, 0) of sample 0
  const UseWinograd guard;
  const std::vector<float> y = result(Pass::forward, o, c);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t n = i / (16 * 8 * 16), row = i / 16 % 8, column = i % 16;
    if (n == 0 && row < 2 && column < 2) CHECK(std::isnan(y[i]));
    if (n > 0 || row > 3 || column > 3) CHECK_FALSE(std::isnan(y[i]));
  }
  const std::vector<float> dw = result(Pass::weight_gradient, o, c);
  CHECK(std::isnan(dw[4]));  // filter 0, channel 0, its middle
}
