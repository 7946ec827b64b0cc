// Softmax along a dimension. A row is read three times; what fits the cache of a multiprocessor
// comes from memory once.

#include "engine/cuda/cuda.h"
#include "engine/cuda/rows.h"

namespace labgrad {

using namespace naive;

namespace {

// With s = max x and z = Σ e^(x - s):  y = e^(x - s) / z,  or with log: y = (x - s) - log z.
// The threads of a team take every step-th element of their row.
template <class Team, class T>
__global__ void softmax_kernel(Memory<T> y, Memory<const T> x, Rows<2> rows, bool log) {
  const std::int64_t n = rows.columns, to = rows.step[0], from = rows.step[1];
  for (std::int64_t row = Team::first_row(); row < rows.starts.numel; row += Team::row_step()) {
    const Offsets<2> start = rows.starts[row];
    const std::int64_t o = start.at[0], i = start.at[1];
    T s = -std::numeric_limits<T>::infinity();
    for (std::int64_t k = Team::first(); k < n; k += Team::step()) s = larger(s, x[i + k * from]);
    s = Team::max(s);
    Wide<T> z = 0;
    for (std::int64_t k = Team::first(); k < n; k += Team::step())
      z += std::exp(x[i + k * from] - s);
    z = Team::sum(z);
    const T scale = static_cast<T>(1 / z), log_z = static_cast<T>(std::log(z));
    for (std::int64_t k = Team::first(); k < n; k += Team::step()) {
      const T d = x[i + k * from] - s;
      y[o + k * to] = log ? d - log_z : std::exp(d) * scale;
    }
  }
}

// dx = y (dy - Σ dy y),  or with log: dx = dy - e^y Σ dy.  Shared in the same way.
template <class Team, class T>
__global__ void softmax_backward_kernel(Memory<T> dx, Memory<const T> y, Memory<const T> dy,
                                        Rows<3> rows, bool log) {
  const std::int64_t n = rows.columns;
  for (std::int64_t row = Team::first_row(); row < rows.starts.numel; row += Team::row_step()) {
    const Offsets<3> start = rows.starts[row];
    const auto y_at = [&](std::int64_t k) { return y[start.at[1] + k * rows.step[1]]; };
    const auto dy_at = [&](std::int64_t k) { return dy[start.at[2] + k * rows.step[2]]; };
    Wide<T> sum = 0;
    for (std::int64_t k = Team::first(); k < n; k += Team::step())
      sum += log ? Wide<T>(dy_at(k)) : Wide<T>(dy_at(k)) * Wide<T>(y_at(k));
    const T total = static_cast<T>(Team::sum(sum));
    for (std::int64_t k = Team::first(); k < n; k += Team::step())
      dx[start.at[0] + k * rows.step[0]] =
          log ? dy_at(k) - std::exp(y_at(k)) * total : y_at(k) * (dy_at(k) - total);
  }
}

}  // namespace

void Cuda::softmax(const Array& y, const Array& x, int dim, bool log) const {
  const Rows<2> rows = rows_along(dim, x.shape, {&y, &x});
  dispatch_floating(x.dtype, "softmax", [&](auto tag) {
    using T = typename decltype(tag)::type;
    share_rows(rows, [&](auto team, dim3 grid, dim3 block) {
      using Team = typename decltype(team)::type;
      launch("softmax", softmax_kernel<Team, T>, grid, block, Memory<T>(y, "y"),
             Memory<const T>(x, "x"), rows, log);
    });
  });
}

void Cuda::softmax_backward(const Array& dx, const Array& y, const Array& dy, int dim,
                            bool log) const {
  const Rows<3> rows = rows_along(dim, y.shape, {&dx, &y, &dy});
  dispatch_floating(y.dtype, "softmax_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    share_rows(rows, [&](auto team, dim3 grid, dim3 block) {
      using Team = typename decltype(team)::type;
      launch("softmax_backward", softmax_backward_kernel<Team, T>, grid, block, Memory<T>(dx, "dx"),
             Memory<const T>(y, "y"), Memory<const T>(dy, "dy"), rows, log);
    });
  });
}

}  // namespace labgrad
