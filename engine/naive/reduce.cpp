// Reductions and running sums.

#include "engine/naive/formulas.h"
#include "engine/naive/naive.h"
#include "engine/naive/walk.h"

namespace labgrad {

using namespace naive;

// out_i = f over the x_j whose position agrees with i in the dimensions kept
void Naive::reduce(Reduction f, const Array& out, const Array& x) const {
  Shape reduced = x.shape;
  for (int d = 0; d < x.shape.rank(); ++d)
    if (out.shape[d] == x.shape[d]) reduced[d] = 1;
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* o = out.as<T>();
    const T* a = x.as<T>();
    walk(
        out.shape,
        [&](auto i, auto start) {
          Wide<T> total = identity<Wide<T>>(f);
          walk(
              reduced, [&](auto j) { total = combine(f, total, Wide<T>(a[start + j])); },
              x.strides);
          o[i] = static_cast<T>(total);
        },
        out.strides, x.strides);
  });
}

// best = the first k at which x_k beats all before it; a NaN beats every number
void Naive::arg_reduce(bool largest, const Array& values, const Array& indices, const Array& x,
                       int dim) const {
  const std::int64_t n = x.shape[dim], step = x.strides[dim];
  const Strides none = Strides::filled(x.shape.rank(), 0);
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    walk(
        without(x.shape, dim),
        [&](auto i, auto j, auto start) {
          const T* a = x.as<T>() + start;
          std::int64_t best = 0;
          for (std::int64_t k = 1; k < n; ++k) {
            const T now = a[k * step], old = a[best * step];
            const bool beats = largest ? now > old : now < old;
            if (!is_nan(old) && (beats || is_nan(now))) best = k;
          }
          if (values.data) values.as<T>()[i] = a[best * step];
          if (indices.data) indices.as<std::int64_t>()[j] = best;
        },
        values.data ? values.strides : none, indices.data ? indices.strides : none, x.strides);
  });
}

// out_k = x_0 + ... + x_k, or x_k + ... + x_{n-1} if reverse
void Naive::cumsum(const Array& out, const Array& x, int dim, bool reverse) const {
  const std::int64_t n = x.shape[dim];
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    walk(
        without(x.shape, dim),
        [&](auto i, auto j) {
          T* o = out.as<T>() + i;
          const T* a = x.as<T>() + j;
          Wide<T> total = 0;
          for (std::int64_t step = 0; step < n; ++step) {
            const std::int64_t k = reverse ? n - 1 - step : step;
            total = plus(total, Wide<T>(a[k * x.strides[dim]]));
            o[k * out.strides[dim]] = static_cast<T>(total);
          }
        },
        out.strides, x.strides);
  });
}

}  // namespace labgrad
