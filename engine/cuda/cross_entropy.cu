// The logarithm of a sum of exponentials along a dimension, and the gradient of cross entropy.

#include "engine/cuda/cuda.h"
#include "engine/cuda/rows.h"

namespace labgrad {

using namespace naive;

namespace {

// z_0 = max x,  z_1 = log Σ e^(x - z_0).  The threads of a team take every step-th element of their
// row, and the first of them writes.
template <class Team, class T>
__global__ void log_sum_exp_kernel(Memory<T> z, Memory<const T> x, Rows<2> rows) {
  const std::int64_t n = rows.columns, from = rows.step[1];
  for (std::int64_t row = Team::first_row(); row < rows.starts.numel; row += Team::row_step()) {
    const Offsets<2> start = rows.starts[row];
    const std::int64_t o = start.at[0], i = start.at[1];
    T shift = -std::numeric_limits<T>::infinity();
    for (std::int64_t k = Team::first(); k < n; k += Team::step())
      shift = larger(shift, x[i + k * from]);
    shift = Team::max(shift);
    Wide<T> sum = 0;
    for (std::int64_t k = Team::first(); k < n; k += Team::step())
      sum += std::exp(x[i + k * from] - shift);
    sum = Team::sum(sum);
    if (Team::first() != 0) continue;
    z[o] = shift;
    // Where the shift is infinite, the sum is of inf - inf.
    z[o + rows.step[0]] = std::isinf(shift) ? T(0) : static_cast<T>(std::log(sum));
  }
}

// dx = s (e^((x - z_0) - z_1) - [k == target]),  0 where s is
template <class Team, class T>
__global__ void cross_entropy_backward_kernel(Memory<T> dx, Memory<const T> x, Memory<const T> z,
                                              Memory<const std::int64_t> target, Memory<const T> s,
                                              Rows<5> rows) {
  const std::int64_t n = rows.columns, to = rows.step[0], from = rows.step[1];
  for (std::int64_t row = Team::first_row(); row < rows.starts.numel; row += Team::row_step()) {
    const Offsets<5> start = rows.starts[row];
    const std::int64_t o = start.at[0], i = start.at[1];
    const T shift = z[start.at[2]], log_sum = z[start.at[2] + rows.step[2]];
    const std::int64_t hit = target[start.at[3]];
    const T scale = s[start.at[4]];
    for (std::int64_t k = Team::first(); k < n; k += Team::step()) {
      const T p = std::exp((x[i + k * from] - shift) - log_sum);
      dx[o + k * to] = scale == 0 ? T(0) : scale * (p - (k == hit ? T(1) : T(0)));
    }
  }
}

}  // namespace

void Cuda::log_sum_exp(const Array& z, const Array& x, int dim) const {
  const Rows<2> rows = rows_along(dim, x.shape, {&z, &x});
  dispatch_floating(x.dtype, "log_sum_exp", [&](auto tag) {
    using T = typename decltype(tag)::type;
    share_rows(rows, [&](auto team, dim3 grid, dim3 block) {
      using Team = typename decltype(team)::type;
      launch("log_sum_exp", log_sum_exp_kernel<Team, T>, grid, block, Memory<T>(z, "z"),
             Memory<const T>(x, "x"), rows);
    });
  });
}

void Cuda::cross_entropy_backward(const Array& dx, const Array& x, const Array& z,
                                  const Array& target, const Array& s, int dim) const {
  const Rows<5> rows = rows_along(dim, x.shape, {&dx, &x, &z, &target, &s});
  dispatch_floating(x.dtype, "cross_entropy_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    share_rows(rows, [&](auto team, dim3 grid, dim3 block) {
      using Team = typename decltype(team)::type;
      launch("cross_entropy_backward", cross_entropy_backward_kernel<Team, T>, grid, block,
             Memory<T>(dx, "dx"), Memory<const T>(x, "x"), Memory<const T>(z, "z"),
             Memory<const std::int64_t>(target, "target"), Memory<const T>(s, "s"), rows);
    });
  });
}

}  // namespace labgrad
