// Elementwise kernels of a device against the specification: every function and dtype, any layout.

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include "engine/kernels.h"
#include "engine/naive/formulas.h"
#include "tests/engine/cuda/arrays.h"

using namespace labgrad;
using namespace labgrad::test;
using namespace labgrad::tests;

namespace {

const DType all_types[] = {f32, f64, i64, boolean};
const Shape shapes[] = {{}, {0, 3}, {1}, {300}, {5, 7}, {4, 1, 9}, {2, 3, 4, 5}};

template <class F>
bool defined(DType dtype, F f) {
  return dispatch(dtype,
                  [&](auto tag) { return naive::is_defined<typename decltype(tag)::type>(f); });
}

}  // namespace

TEST_CASE("cuda map: every function, dtype and layout") {
  const auto device = accelerator_device();
  if (!device) return;
  const Kernels& fast = kernels(*device);
  Generator random(1);
  for (int f = 0; f <= static_cast<int>(Unary::is_finite); ++f)
    for (DType dtype : all_types) {
      const auto unary = static_cast<Unary>(f);
      if (!defined(dtype, unary)) continue;
      for (const Shape& shape : shapes) {
        CAPTURE(f);
        CAPTURE(name_of(dtype));
        CAPTURE(shape.str());
        const int rank = shape.rank();
        const Input x(*device, dtype, shape, any_layout(random, rank, true), whole(random, -4, 9));
        const DType result = unary == Unary::is_finite ? boolean : dtype;
        Output y(*device, result, shape, any_layout(random, rank, false));
        Buffer expected(result, shape);
        specified().map(unary, expected.array, x.host());
        fast.map(unary, y.device(), x.device());
        CHECK(y.difference(expected.array, 0, dtype == f32 ? 1e-6 : 1e-15) == "");
      }
    }
}

TEST_CASE("cuda zip, where, clamp, copy, fill: every function, dtype and layout") {
  const auto device = accelerator_device();
  if (!device) return;
  const Kernels& fast = kernels(*device);
  Generator random(2);
  for (DType dtype : all_types)
    for (const Shape& shape : shapes) {
      CAPTURE(name_of(dtype));
      CAPTURE(shape.str());
      const int rank = shape.rank();
      auto input = [&](DType t) {
        return Input(*device, t, shape, any_layout(random, rank, true), whole(random, -3, 4));
      };
      const Input x = input(dtype), y = input(dtype), condition = input(boolean);
      for (int f = 0; f <= static_cast<int>(Binary::logical_xor); ++f) {
        const auto binary = static_cast<Binary>(f);
        if (!defined(dtype, binary)) continue;
        CAPTURE(f);
        const DType result = binary >= Binary::eq ? boolean : dtype;
        if (binary >= Binary::logical_and && dtype != boolean) continue;
        Output z(*device, result, shape, any_layout(random, rank, false));
        Buffer expected(result, shape);
        specified().zip(binary, expected.array, x.host(), y.host());
        fast.zip(binary, z.device(), x.device(), y.device());
        CHECK(z.difference(expected.array, 0, 1e-6) == "");
      }
      Output z(*device, dtype, shape, any_layout(random, rank, false));
      Buffer expected(dtype, shape);
      specified().where(expected.array, condition.host(), x.host(), y.host());
      each_schedule([&] {
        fast.where(z.device(), condition.device(), x.device(), y.device());
        CHECK(z.difference(expected.array) == "");
      });
      Output clamped(*device, dtype, shape, any_layout(random, rank, false));
      specified().clamp(expected.array, x.host(), -1, 2);
      fast.clamp(clamped.device(), x.device(), -1, 2);
      CHECK(clamped.difference(expected.array) == "");
      for (DType to : all_types) {
        Output copied(*device, to, shape, any_layout(random, rank, false));
        Buffer converted(to, shape);
        specified().copy(converted.array, x.host());
        fast.copy(copied.device(), x.device());
        CHECK(copied.difference(converted.array) == "");
      }
      Output filled(*device, dtype, shape, any_layout(random, rank, false));
      specified().fill(expected.array, 3);
      fast.fill(filled.device(), 3);
      CHECK(filled.difference(expected.array) == "");
    }
  const std::int64_t beyond = (std::int64_t{1} << 60) + 1;
  Output exact(*device, i64, {5});
  Buffer expected(i64, {5});
  specified().fill_i64(expected.array, beyond);
  fast.fill_i64(exact.device(), beyond);
  CHECK(exact.difference(expected.array) == "");
}

TEST_CASE("cuda dropout_mask: the same mask as on every device") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(3);
  for (DType dtype : {f32, f64})
    for (const Shape& shape : shapes) {
      CAPTURE(shape.str());
      Output mask(*device, dtype, shape, any_layout(random, shape.rank(), false));
      Buffer expected(dtype, shape);
      specified().dropout_mask(expected.array, 12345, 0.3);
      each_schedule([&] {
        kernels(*device).dropout_mask(mask.device(), 12345, 0.3);
        CHECK(mask.difference(expected.array) == "");
      });
    }
}
