#include <doctest/doctest.h>

#include <limits>

#include "tests/check_close.h"

using namespace labgrad;
using tests::bit_difference;
using tests::difference;

namespace {

Tensor row(const std::vector<double>& values) {
  Tensor x = empty({static_cast<std::int64_t>(values.size())}, f64, Device::cpu);
  std::copy(values.begin(), values.end(), x.writable_span<double>().begin());
  return x;
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("difference names the worst element and both values") {
  CHECK(difference(row({1, 2, 3}), row({1, 2, 3})) == "");
  CHECK(difference(row({1, 2, 4}), row({1, 2.5, 3})) ==
        "2 of 3 elements differ; worst (2,): got 4, want 3");
  CHECK(difference(row({1, 2}), {1, 2}) == "");
  CHECK(difference(row({1, 2}), {1, 2, 3}) == "got shape (2,), want 3 elements");
  CHECK(difference(row({1, 1.1}), row({1, 1}), {.rtol = 0.2}) == "");
  CHECK(difference(Tensor(), row({1})) == "got an undefined tensor");
}

TEST_CASE("difference lets no NaN and no infinity pass") {
  CHECK(difference(row({not_a_number}), row({1})) != "");
  CHECK(difference(row({1}), row({not_a_number})) != "");
  CHECK(difference(row({not_a_number}), row({not_a_number})) != "");
  CHECK(difference(row({not_a_number}), row({not_a_number}), {.equal_nan = true}) == "");
  CHECK(difference(row({infinity}), row({infinity})) == "");
  CHECK(difference(row({1}), row({infinity}), {.rtol = 1}) != "");
  CHECK(difference(row({-infinity}), row({infinity}), {.rtol = 1}) != "");
}

TEST_CASE("difference refuses a comparison that could not fail") {
  CHECK(difference(row({}), row({})) == "nothing was compared: both are empty");
  CHECK(difference(row({0, 0}), row({0, 0})) == "nothing but zeros was compared");
  CHECK(difference(row({0, 0}), row({0, 0}), {.vacuous = true}) == "");
}

TEST_CASE("bit_difference tells -0 from 0 and one last digit") {
  CHECK(bit_difference(row({1, not_a_number}), row({1, not_a_number})) == "");
  CHECK(bit_difference(row({0}), row({-0.0})) != "");
  CHECK(bit_difference(row({1, 1}), row({1, 1 + 1e-15})) ==
        "the bits of element (1,) differ: got 1, want 1.0000000000000011");
}
