// Elementwise primitives: each thread takes the elements i, i + all threads, ... The formulas are
// those of engine/naive/formulas.h.

#include "engine/cuda/cuda.h"
#include "engine/cuda/layout.h"
#include "engine/naive/formulas.h"
#include "engine/philox.h"

namespace labgrad {

using namespace naive;

namespace {

template <class T>
__global__ void fill_kernel(Memory<T> out, Layout<1> layout, T value) {
  for (std::int64_t i = first_index(); i < layout.numel; i += index_step())
    out[layout[i].at[0]] = value;
}

template <class To, class From>
__global__ void copy_kernel(Memory<To> out, Memory<const From> x, Layout<2> layout) {
  for (std::int64_t i = first_index(); i < layout.numel; i += index_step()) {
    const Offsets<2> o = layout[i];
    out[o.at[0]] = convert<To>(x[o.at[1]]);
  }
}

// y_i = f(x_i)
template <class T>
__global__ void map_kernel(Unary f, Memory<T> y, Memory<const T> x, Layout<2> layout) {
  for (std::int64_t i = first_index(); i < layout.numel; i += index_step()) {
    const Offsets<2> o = layout[i];
    y[o.at[0]] = apply(f, x[o.at[1]]);
  }
}

template <class T>
__global__ void is_finite_kernel(Memory<bool> y, Memory<const T> x, Layout<2> layout) {
  for (std::int64_t i = first_index(); i < layout.numel; i += index_step()) {
    const Offsets<2> o = layout[i];
    y[o.at[0]] = std::isfinite(x[o.at[1]]);
  }
}

// z_i = f(x_i, y_i)
template <class T>
__global__ void zip_kernel(Binary f, Memory<T> z, Memory<const T> x, Memory<const T> y,
                           Layout<3> layout) {
  for (std::int64_t i = first_index(); i < layout.numel; i += index_step()) {
    const Offsets<3> o = layout[i];
    z[o.at[0]] = apply(f, x[o.at[1]], y[o.at[2]]);
  }
}

template <class T>
__global__ void compare_kernel(Binary f, Memory<bool> z, Memory<const T> x, Memory<const T> y,
                               Layout<3> layout) {
  for (std::int64_t i = first_index(); i < layout.numel; i += index_step()) {
    const Offsets<3> o = layout[i];
    z[o.at[0]] = compare(f, x[o.at[1]], y[o.at[2]]);
  }
}

// z_i = c_i ? x_i : y_i
template <class T>
__global__ void where_kernel(Memory<T> z, Memory<const bool> c, Memory<const T> x,
                             Memory<const T> y, Layout<4> layout) {
  for (std::int64_t i = first_index(); i < layout.numel; i += index_step()) {
    const Offsets<4> o = layout[i];
    z[o.at[0]] = c[o.at[1]] ? x[o.at[2]] : y[o.at[3]];
  }
}

// y_i = min(max(x_i, low), high)
template <class T>
__global__ void clamp_kernel(Memory<T> y, Memory<const T> x, T low, T high, Layout<2> layout) {
  for (std::int64_t i = first_index(); i < layout.numel; i += index_step()) {
    const Offsets<2> o = layout[i];
    y[o.at[0]] = smaller(larger(x[o.at[1]], low), high);
  }
}

// Each thread takes four elements, whose random words are one block of Philox.
template <class T>
__global__ void dropout_kernel(Memory<T> mask, std::uint64_t key, double p, T kept,
                               Layout<1> layout) {
  for (std::int64_t block = first_index(); block * 4 < layout.numel; block += index_step()) {
    const PhiloxBlock random = philox(key, static_cast<std::uint64_t>(block));
    for (int j = 0; j < 4 && block * 4 + j < layout.numel; ++j)
      mask[layout[block * 4 + j].at[0]] = random.word[j] * 0x1p-32 >= p ? kept : T(0);
  }
}

template <class T>
void fill_with(const Array& out, T value) {
  const Layout<1> layout = any_order({&out});
  if (layout.numel == 0) return;
  launch("fill", fill_kernel<T>, grid_of(layout.numel), block_size, Memory<T>(out, "out"), layout,
         value);
}

}  // namespace

void Cuda::fill(const Array& out, double value) const {
  dispatch(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    fill_with(out, convert<T>(value));
  });
}

void Cuda::fill_i64(const Array& out, std::int64_t value) const {
  dispatch(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    fill_with(out, convert<T>(value));
  });
}

void Cuda::copy(const Array& out, const Array& in) const {
  const Layout<2> layout = any_order({&out, &in});
  if (layout.numel == 0) return;
  dispatch(out.dtype, [&](auto to) {
    using To = typename decltype(to)::type;
    dispatch(in.dtype, [&](auto from) {
      using From = typename decltype(from)::type;
      launch("copy", copy_kernel<To, From>, grid_of(layout.numel), block_size,
             Memory<To>(out, "out"), Memory<const From>(in, "in"), layout);
    });
  });
}

void Cuda::map(Unary f, const Array& out, const Array& x) const {
  const Layout<2> layout = any_order({&out, &x});
  if (layout.numel == 0) return;
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    check_defined<T>(f);
    if (f != Unary::is_finite)
      return launch("map", map_kernel<T>, grid_of(layout.numel), block_size, f,
                    Memory<T>(out, "out"), Memory<const T>(x, "x"), layout);
    if constexpr (std::is_floating_point_v<T>)
      launch("is_finite", is_finite_kernel<T>, grid_of(layout.numel), block_size,
             Memory<bool>(out, "out"), Memory<const T>(x, "x"), layout);
  });
}

void Cuda::zip(Binary f, const Array& out, const Array& x, const Array& y) const {
  const Layout<3> layout = any_order({&out, &x, &y});
  if (layout.numel == 0) return;
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    check_defined<T>(f);
    const Memory<const T> a(x, "x"), b(y, "y");
    if (is_comparison(f))
      launch("compare", compare_kernel<T>, grid_of(layout.numel), block_size, f,
             Memory<bool>(out, "out"), a, b, layout);
    else
      launch("zip", zip_kernel<T>, grid_of(layout.numel), block_size, f, Memory<T>(out, "out"), a,
             b, layout);
  });
}

void Cuda::where(const Array& out, const Array& condition, const Array& x, const Array& y) const {
  const Layout<4> layout = any_order({&out, &condition, &x, &y});
  if (layout.numel == 0) return;
  dispatch(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch("where", where_kernel<T>, grid_of(layout.numel), block_size, Memory<T>(out, "out"),
           Memory<const bool>(condition, "condition"), Memory<const T>(x, "x"),
           Memory<const T>(y, "y"), layout);
  });
}

void Cuda::clamp(const Array& out, const Array& x, double lo, double hi) const {
  const Layout<2> layout = any_order({&out, &x});
  if (layout.numel == 0) return;
  dispatch(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch("clamp", clamp_kernel<T>, grid_of(layout.numel), block_size, Memory<T>(out, "out"),
           Memory<const T>(x, "x"), convert<T>(lo), convert<T>(hi), layout);
  });
}

void Cuda::dropout_mask(const Array& mask, std::uint64_t key, double p) const {
  const Layout<1> layout = row_major(mask.shape, {&mask.strides});
  if (layout.numel == 0) return;
  dispatch_floating(mask.dtype, "dropout_mask", [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch("dropout_mask", dropout_kernel<T>, grid_of(layout.numel / 4 + 1), block_size,
           Memory<T>(mask, "mask"), key, p, static_cast<T>(1 / (1 - p)), layout);
  });
}

}  // namespace labgrad
