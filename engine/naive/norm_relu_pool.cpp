// Normalisation by channels, ReLU and max-pooling, one after another on memory of their own.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/naive/formulas.h"
#include "engine/naive/naive.h"
#include "engine/naive/walk.h"

namespace labgrad {

using namespace naive;

namespace {

// A dense array of its own.
struct Own {
  std::vector<std::byte> bytes;
  Array array;

  Own(const Shape& shape, DType dtype)
      : bytes(static_cast<std::size_t>(shape.numel()) * size_of(dtype)),
        array{bytes.data(), dtype, shape, contiguous_strides(shape)} {}
};

// n = (x - μ) r ⊙ w + b, z = max(n, 0), and the place of the largest z in each window.
struct Layers {
  Own z, largest, places;
  Pooling pooling;

  Layers(const Naive& k, const Shape& windows, const Array& x, const Array& mean, const Array& rstd,
         const Array& w, const Array& b, Plane window)
      : z(x.shape, x.dtype), largest(windows, x.dtype), places(windows, i64) {
    pooling.kernel = pooling.stride = window;
    k.Naive::batch_norm(z.array, x, mean, rstd, w, b);
    k.Naive::map(Unary::relu, z.array, z.array);
    k.Naive::max_pool2d(largest.array, places.array, z.array, pooling);
  }
};

}  // namespace

void Naive::norm_relu_pool(const Array& y, const Array& x, const Array& mean, const Array& rstd,
                           const Array& w, const Array& b, Plane window) const {
  const Layers layers(*this, y.shape, x, mean, rstd, w, b, window);
  Naive::copy(y, layers.largest.array);
}

// g = dy at the places where z is not 0
void Naive::norm_relu_pool_backward(const Array& dx, const Array& dw, const Array& db,
                                    const Array& dy, const Array& x, const Array& mean,
                                    const Array& rstd, const Array& w, const Array& b, Plane window,
                                    bool of_batch) const {
  const Layers layers(*this, dy.shape, x, mean, rstd, w, b, window);
  const Own g(x.shape, x.dtype);
  Naive::max_pool2d_backward(g.array, dy, layers.places.array, layers.pooling);
  dispatch_floating(x.dtype, "norm_relu_pool_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* z = layers.z.array.as<T>();
    for (std::int64_t i = 0; i < x.shape.numel(); ++i)
      if (z[i] == 0) g.array.as<T>()[i] = 0;
    Naive::batch_norm_backward(of_batch ? dx : Array{}, dw, db, g.array, x, mean, rstd, w);
    if (of_batch || !dx.data) return;
    walk(
        x.shape,
        [&](auto o, auto i, auto c) {
          const T scale = rstd.as<T>()[c] * w.as<T>()[c];
          dx.as<T>()[o] = g.array.as<T>()[i] * scale;
        },
        dx.strides, g.array.strides, Strides{0, 1, 0, 0});
  });
}

}  // namespace labgrad
