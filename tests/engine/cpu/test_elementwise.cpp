// The elementwise primitives of the fast device against their specification: random shapes and
// layouts, every dtype, special values, and the same bits whatever the layout or thread count.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/cpu/threads.h"
#include "engine/kernels.h"
#include "engine/philox.h"
#include "tests/engine/arrays.h"

using namespace labgrad;
using namespace labgrad::test;

namespace {

const Kernels& fast() { return kernels(Device::cpu); }
const Kernels& specified() { return kernels(Device::naive); }

constexpr std::array all_dtypes{f32, f64, i64, boolean};
constexpr std::array<std::int64_t, 13> sizes{1, 2, 3, 4, 5, 7, 15, 16, 17, 33, 64, 65, 131};

// Up to four dimensions, now and then one of size 0.
Shape any_shape(Generator& random) {
  Shape shape;
  const std::int64_t rank = any_of(random, 0, 4);
  for (std::int64_t d = 0; d < rank; ++d) {
    const auto limit = static_cast<std::int64_t>(rank > 2 ? 6 : sizes.size() - 1);
    shape.push_back(
        any_of(random, 0, 40) == 0 ? 0 : sizes[static_cast<std::size_t>(any_of(random, 0, limit))]);
  }
  return shape;
}

// Numbers of all sizes and the special ones; whole numbers in -9 .. 9 for i64.
void fill_any(Generator& random, const Array& a) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> special{0,      -0.0, 1e-3,  -1e-3, 1,    -1,   30,   -30,
                                    88,     -88,  104,   -104,  inf,  -inf, NAN,  1e-40,
                                    -1e-40, 3e38, -3e38, 0.5,   -0.5, 2.5,  1e10, -1e10};
  fill_whole(random, a, -9, 9);
  if (!is_floating(a.dtype)) return;
  fill_normal(random, a, 0, 3);
  dispatch_floating(a.dtype, "fill_any", [&](auto tag) {
    using T = typename decltype(tag)::type;
    walk(
        a.shape,
        [&](std::int64_t i) {
          const std::int64_t k = any_of(random, 0, 59);
          if (k < static_cast<std::int64_t>(special.size()))
            a.as<T>()[i] = static_cast<T>(special[static_cast<std::size_t>(k)]);
        },
        a.strides);
  });
}

// The distance in units in the last place; 0 for two NaNs and for 0 and -0.
template <class T>
double ulps(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : 1e30;
  using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  // A number's bits without the sign count the numbers from 0 to it.
  const Bits p = std::bit_cast<Bits>(std::abs(a)), q = std::bit_cast<Bits>(std::abs(b));
  if (std::signbit(a) == std::signbit(b)) return static_cast<double>(p > q ? p - q : q - p);
  return static_cast<double>(p) + static_cast<double>(q);
}

// Where a and b differ by more than `most` units in the last place (integers: at all).
std::string ulp_difference(const Array& a, const Array& b, double most) {
  if (!is_floating(a.dtype)) return difference(a, b);
  std::string found;
  dispatch_floating(a.dtype, "ulp_difference", [&](auto tag) {
    using T = typename decltype(tag)::type;
    walk(
        a.shape,
        [&](std::int64_t i, std::int64_t j) {
          const T x = a.as<T>()[i], y = b.as<T>()[j];
          if (!(ulps(x, y) <= most) && found.empty())
            found = std::to_string(x) + " and " + std::to_string(y) + " differ by " +
                    std::to_string(ulps(x, y)) + " ulp";
        },
        a.strides, b.strides);
  });
  return found;
}

bool same_bytes(const Array& a, const Array& b) {  // of dense arrays
  const auto n = static_cast<std::size_t>(a.shape.numel()) * size_of(a.dtype);
  return n == 0 || std::memcmp(a.data, b.data, n) == 0;
}

std::string describe(const Array& a) {
  return std::string(name_of(a.dtype)) + a.shape.str() + " strides " + a.strides.str();
}

// An operation on both devices: `call(kernels, out, inputs)`.
using Call = std::function<void(const Kernels&, const Array&, const std::vector<Array>&)>;

// Random inputs of these dtypes in random layouts: the fast result must be within `most` units of
// the specified one, the same bits as from dense inputs, and nothing else may be written. With
// `wide`, f32 is compared with the specification in f64.
void check(Generator& random, const Call& call, DType result, const std::vector<DType>& dtypes,
           double most, bool wide = false) {
  const Shape shape = any_shape(random);
  std::vector<std::unique_ptr<Buffer>> owned;
  std::vector<Array> strided, dense, reference;
  auto make = [&](DType dtype, const Layout& layout) -> const Array& {
    owned.push_back(std::make_unique<Buffer>(dtype, shape, layout));
    return owned.back()->array;
  };
  auto widened = [&](DType dtype) { return wide && dtype == f32 ? f64 : dtype; };
  std::string description = "shape " + shape.str();
  for (DType dtype : dtypes) {
    const bool plain = any_of(random, 0, 2) == 0;
    strided.push_back(make(dtype, plain ? Layout{} : any_layout(random, shape.rank(), true)));
    fill_any(random, strided.back());
    dense.push_back(make(dtype, {}));
    specified().copy(dense.back(), strided.back());
    reference.push_back(make(widened(dtype), {}));
    specified().copy(reference.back(), strided.back());
    description += ", " + describe(strided.back());
  }
  const bool plain = any_of(random, 0, 2) == 0;
  Buffer out(result, shape, plain ? Layout{} : any_layout(random, shape.rank(), false));
  Buffer flat(result, shape), again(result, shape), expected(widened(result), shape),
      rounded(result, shape);
  call(fast(), out.array, strided);
  call(fast(), flat.array, dense);
  call(specified(), expected.array, reference);
  specified().copy(rounded.array, expected.array);
  specified().copy(again.array, out.array);
  INFO(description << " -> " << describe(out.array));
  const std::string found = ulp_difference(out.array, rounded.array, most);
  if (!found.empty()) FAIL_CHECK(found);
  if (!same_bytes(again.array, flat.array)) FAIL_CHECK("the layout shows in the result");
  if (!out.intact()) FAIL_CHECK("written outside the output");
  // In place.
  if (dtypes.front() == result) {
    call(fast(), dense.front(), dense);
    if (!same_bytes(dense.front(), flat.array)) FAIL_CHECK("in place the result differs");
  }
}

struct UnaryCase {
  Unary f;
  const char* name;
  double ulps;  // 0: exact
};
// f32 is compared with f64 rounded once, so a function with error e is within e + 1/2 of it, and
// the distance counted in whole units.
constexpr UnaryCase float_functions[]{{Unary::reciprocal, "reciprocal", 0},
                                      {Unary::sqrt, "sqrt", 0},
                                      {Unary::rsqrt, "rsqrt", 2},
                                      {Unary::exp, "exp", 4},
                                      {Unary::log, "log", 4},
                                      {Unary::log1p, "log1p", 4},
                                      {Unary::sin, "sin", 1},
                                      {Unary::cos, "cos", 1},
                                      {Unary::tanh, "tanh", 4},
                                      {Unary::sigmoid, "sigmoid", 4},
                                      {Unary::erf, "erf", 4},
                                      {Unary::gelu, "gelu", 100},
                                      {Unary::softplus, "softplus", 4},
                                      {Unary::floor, "floor", 0}};
constexpr UnaryCase functions[]{{Unary::neg, "neg", 0},
                                {Unary::abs, "abs", 0},
                                {Unary::sign, "sign", 0},
                                {Unary::square, "square", 0},
                                {Unary::relu, "relu", 0}};
constexpr Binary binary_functions[]{Binary::add, Binary::sub,     Binary::mul,    Binary::div,
                                    Binary::pow, Binary::maximum, Binary::minimum};
constexpr Binary comparisons[]{Binary::eq, Binary::ne, Binary::lt,
                               Binary::le, Binary::gt, Binary::ge};
constexpr Binary logical[]{Binary::logical_and, Binary::logical_or, Binary::logical_xor};

Call unary(Unary f) {
  return [f](const Kernels& k, const Array& out, const std::vector<Array>& in) {
    k.map(f, out, in[0]);
  };
}
Call binary(Binary f) {
  return [f](const Kernels& k, const Array& out, const std::vector<Array>& in) {
    k.zip(f, out, in[0], in[1]);
  };
}
const Call where = [](const Kernels& k, const Array& out, const std::vector<Array>& in) {
  k.where(out, in[0], in[1], in[2]);
};
const Call copy = [](const Kernels& k, const Array& out, const std::vector<Array>& in) {
  k.copy(out, in[0]);
};

constexpr int rounds = 60;

}  // namespace

TEST_CASE("map: every function, dtype and layout against the specification") {
  Generator random(10);
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    for (const UnaryCase& c : functions)
      for (DType t : all_dtypes) {
        INFO("function " << std::string(c.name));
        check(random, unary(c.f), t, {t}, c.ulps);
      }
    for (const UnaryCase& c : float_functions)
      for (DType t : {f32, f64}) {
        INFO("function " << std::string(c.name));
        check(random, unary(c.f), t, {t}, c.ulps, true);
      }
    check(random, unary(Unary::logical_not), boolean, {boolean}, 0);
    for (DType t : {f32, f64}) check(random, unary(Unary::is_finite), boolean, {t}, 0);
  }
}

TEST_CASE("zip: every function, dtype and layout against the specification") {
  Generator random(11);
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    for (DType t : all_dtypes) {
      for (Binary f : binary_functions) {
        CAPTURE(static_cast<int>(f));
        check(random, binary(f), t, {t, t}, 0);
      }
      for (Binary f : comparisons) {
        CAPTURE(static_cast<int>(f));
        check(random, binary(f), boolean, {t, t}, 0);
      }
    }
    for (Binary f : logical) check(random, binary(f), boolean, {boolean, boolean}, 0);
  }
}

TEST_CASE("zip: i64 wraps around at the ends of its range") {
  constexpr std::int64_t low = std::numeric_limits<std::int64_t>::min(), high = -(low + 1);
  const std::vector<std::int64_t> ends{low, low + 1, -1, 0, 1, 2, high - 1, high};
  const auto n = static_cast<std::int64_t>(ends.size());
  Buffer x(i64, {n}), out(i64, {n, n}), expected(i64, {n, n});
  std::copy(ends.begin(), ends.end(), x.array.as<std::int64_t>());
  const Array rows{x.array.data, i64, {n, n}, {1, 0}}, columns{x.array.data, i64, {n, n}, {0, 1}};
  for (Binary f : binary_functions) {
    CAPTURE(static_cast<int>(f));
    fast().zip(f, out.array, rows, columns);
    specified().zip(f, expected.array, rows, columns);
    CHECK(difference(out.array, expected.array) == "");
  }
}

TEST_CASE("where, clamp, fill: against the specification") {
  Generator random(12);
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    for (DType t : all_dtypes) {
      check(random, where, t, {boolean, t, t}, 0);
      for (auto [lo, hi] : {std::pair{-1.0, 2.0}, {-INFINITY, 0.5}, {3.0, -3.0}})
        check(
            random,
            [lo = lo, hi = hi](const Kernels& k, const Array& out, const std::vector<Array>& in) {
              k.clamp(out, in[0], lo, hi);
            },
            t, {t}, 0);
      check(
          random,
          [](const Kernels& k, const Array& out, const std::vector<Array>&) { k.fill(out, -2.5); },
          t, {f32}, 0);
      check(
          random,
          [](const Kernels& k, const Array& out, const std::vector<Array>&) {
            k.fill_i64(out, 9007199254740993);  // 2^53 + 1
          },
          t, {i64}, 0);
    }
  }
}

TEST_CASE("copy: every pair of dtypes, any layout") {
  Generator random(13);
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    for (DType to : all_dtypes)
      for (DType from : all_dtypes) check(random, copy, to, {from}, 0);
  }
}

TEST_CASE("copy: large transposes and permutations") {
  Generator random(14);
  const std::vector<std::pair<Shape, std::vector<int>>> cases{{{70, 45}, {1, 0}},
                                                              {{64, 128}, {1, 0}},
                                                              {{3, 50, 40}, {0, 2, 1}},
                                                              {{40, 3, 50}, {2, 1, 0}},
                                                              {{2, 33, 4, 40}, {0, 2, 1, 3}},
                                                              {{9, 8, 7, 31}, {3, 1, 2, 0}}};
  for (DType t : all_dtypes)
    for (const auto& [shape, order] : cases) {
      Buffer x(t, shape, {.order = order}), out(t, shape), back(t, shape, {.order = order});
      fill_whole(random, x.array, -100, 100);
      fast().copy(out.array, x.array);
      INFO(describe(x.array));
      CHECK(difference(out.array, x.array) == "");
      fast().copy(back.array, out.array);
      CHECK(difference(back.array, x.array) == "");
      CHECK((out.intact() && back.intact()));
    }
}

TEST_CASE("dropout_mask: the specification's, for any size") {
  for (DType t : {f32, f64})
    for (std::int64_t n : {0, 1, 2, 3, 4, 5, 7, 31, 33, 1000, 70001})
      for (double p : {0.0, 0.1, 0.5, 1.0}) {
        Buffer out(t, {n}), expected(t, {n});
        fast().dropout_mask(out.array, 0x123456789abcdef, p);
        specified().dropout_mask(expected.array, 0x123456789abcdef, p);
        CAPTURE(n);
        CHECK(difference(out.array, expected.array) == "");
        CHECK(out.intact());
      }
  // p equal to one of the uniform numbers, and just above it.
  const double u = philox_uniform(5, 7);
  for (double p : {u, u + 0x1p-40}) {
    Buffer some(f32, {9}), expected_some(f32, {9});
    fast().dropout_mask(some.array, 5, p);
    specified().dropout_mask(expected_some.array, 5, p);
    CHECK(difference(some.array, expected_some.array) == "");
  }
  Buffer out(f32, {30, 7}, {.order = {1, 0}}), expected(f32, {30, 7});
  fast().dropout_mask(out.array, 5, 0.5);
  specified().dropout_mask(expected.array, 5, 0.5);
  CHECK(difference(out.array, expected.array) == "");
}

TEST_CASE("[threads] elementwise: the same bytes for 1, 2 and 3 threads") {
  Generator random(15);
  const int before = num_threads();
  const Layout turned{.order = {1, 0}}, row{.repeated = {true, false}};
  const std::vector<std::vector<Layout>> layouts{{{}, {}}, {{}, row}, {turned, {}}, {row, turned}};
  // Several chunks, whose borders lie within long rows and within short ones.
  for (int round = 0; round < 8; ++round) {
    const Shape shape = round < 4 ? Shape{331, 307} : Shape{1663, 61};
    const auto& pair = layouts[static_cast<std::size_t>(round % 4)];
    CAPTURE(round);
    Buffer x(f32, shape, pair[0]), y(f32, shape, pair[1]), mask(boolean, shape);
    fill_any(random, x.array);
    fill_any(random, y.array);
    fill_any(random, mask.array);
    const std::vector<Call> calls{
        [&](const Kernels& k, const Array& out, const auto&) { k.map(Unary::tanh, out, x.array); },
        [&](const Kernels& k, const Array& out, const auto&) { k.copy(out, x.array); },
        [&](const Kernels& k, const Array& out, const auto&) {
          k.zip(Binary::mul, out, x.array, y.array);
        },
        [&](const Kernels& k, const Array& out, const auto&) {
          k.where(out, mask.array, x.array, y.array);
        },
        [&](const Kernels& k, const Array& out, const auto&) { k.fill(out, 3); },
        [&](const Kernels& k, const Array& out, const auto&) { k.dropout_mask(out, 3, 0.25); }};
    for (std::size_t c = 0; c < calls.size(); ++c) {
      CAPTURE(c);
      Buffer one(f32, shape), expected(f32, shape);
      set_num_threads(1);
      calls[c](fast(), one.array, {});
      calls[c](specified(), expected.array, {});
      CHECK(ulp_difference(one.array, expected.array, 5) == "");
      for (int threads : {2, 3}) {
        Buffer many(f32, shape);
        set_num_threads(threads);
        calls[c](fast(), many.array, {});
        CHECK(same_bytes(one.array, many.array));
      }
    }
  }
  set_num_threads(before);
}
