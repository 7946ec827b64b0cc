// The matrix product.

#include "engine/naive/formulas.h"
#include "engine/naive/naive.h"
#include "engine/naive/walk.h"

namespace labgrad {

using namespace naive;

// c_mn = Σ_k a_mk b_kn (+ c_mn), for each of the leading positions
void Naive::gemm(const Array& c, const Array& a, const Array& b, bool accumulate) const {
  const int row = c.shape.rank() - 2, column = row + 1;
  const std::int64_t rows = c.shape[row], columns = c.shape[column], inner = a.shape[column];
  const Shape leading = without(without(c.shape, row), column);
  dispatch(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    walk(
        leading,
        [&](auto ic, auto ia, auto ib) {
          for (std::int64_t m = 0; m < rows; ++m) {
            for (std::int64_t n = 0; n < columns; ++n) {
              const T* x = a.as<T>() + ia + m * a.strides[row];
              const T* y = b.as<T>() + ib + n * b.strides[column];
              T* z = c.as<T>() + ic + m * c.strides[row] + n * c.strides[column];
              Wide<T> total = accumulate ? Wide<T>(*z) : Wide<T>(0);
              for (std::int64_t k = 0; k < inner; ++k)
                total = plus(total, times(Wide<T>(x[k * a.strides[column]]),
                                          Wide<T>(y[k * b.strides[row]])));
              *z = static_cast<T>(total);
            }
          }
        },
        c.strides, a.strides, b.strides);
  });
}

}  // namespace labgrad
