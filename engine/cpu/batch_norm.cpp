// Statistics of channels, and normalisation by them. Channels lie side by side, so they are the
// vectors, and all pixels of the batch are rows.
//
// Sums over the rows are made in blocks whose size the shape alone decides: a block's sums are made
// in f32, as many vectors of channels at once as hide an addition's delay, and the blocks' sums are
// added in order in double. A block is read from memory once: its second pass, over the squared
// distances from its own mean, finds it in the cache.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/cpu/channel_groups.h"
#include "engine/cpu/channels.h"
#include "engine/cpu/cpu.h"
#include "engine/cpu/scratch.h"
#include "engine/cpu/threads.h"
#include "engine/cpu/vec.h"

namespace labgrad {

using namespace cpu;

namespace {

constexpr std::int64_t block_elements = 32768;

struct Rows {
  std::int64_t count, channels, block;  // rows in all, their width, rows in a block

  explicit Rows(const Shape& x)
      : count(x.numel() / x[1]),
        channels(x[1]),
        block(std::max<std::int64_t>(1, block_elements / x[1])) {}
  std::int64_t blocks() const { return divide_up(count, block); }
  std::int64_t size(std::int64_t b) const { return std::min(block, count - b * block); }
};

template <class T>
void moments(const Array& mean, const Array& variance, const Array& x) {
  const Rows rows(x.shape);
  const std::int64_t C = rows.channels;
  const InChannels<T> in(x);
  const Scratch<T> partial(rows.blocks() * 3 * C);  // a block's m, Σ (x - m) and Σ (x - m)²
  parallel_for(rows.blocks(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      const T* block = in.data() + b * rows.block * C;
      const std::int64_t n = rows.size(b);
      T* to = partial.get() + b * 3 * C;
      each_group<T>(C, [&](std::int64_t c, auto vectors, std::int64_t width) {
        constexpr int V = decltype(vectors)::value;
        using G = Group<T, V>;
        G mu{}, rest{}, squares{};
        for (std::int64_t r = 0; r < n; ++r) {
          const G row = G::read(block + r * C + c, width);
          for (int i = 0; i < V; ++i) mu.v[i] += row.v[i];
        }
        for (int i = 0; i < V; ++i) mu.v[i] /= static_cast<T>(n);
        for (std::int64_t r = 0; r < n; ++r) {
          const G row = G::read(block + r * C + c, width);
          for (int i = 0; i < V; ++i) {
            const Vec<T> d = row.v[i] - mu.v[i];
            rest.v[i] += d;
            squares.v[i] += d * d;
          }
        }
        mu.write(to + c, width);
        rest.write(to + C + c, width);
        squares.write(to + 2 * C + c, width);
      });
    }
  });
  // Chan, Golub and LeVeque 1979: a block of n rows joins N others.
  for (std::int64_t c = 0; c < C; ++c) {
    double mu = 0, squares = 0, N = 0;
    for (std::int64_t b = 0; b < rows.blocks(); ++b) {
      // m is rounded: what it lacks to the mean is in the sum of x - m.
      const T* of = partial.get() + b * 3 * C + c;
      const double n = double(rows.size(b)), rest = double(of[C]) / n;
      const double d = double(of[0]) + rest - mu;
      squares += double(of[2 * C]) - n * rest * rest + d * d * N * n / (N + n);
      N += n;
      mu += d * n / N;
    }
    mean.as<T>()[c] = static_cast<T>(mu);
    variance.as<T>()[c] = static_cast<T>(squares / N);
  }
}

// Calls f(c, width, begin, end) for groups of channels and blocks of rows, in parallel.
template <class T, class F>
void each_block(const Rows& rows, F f) {
  parallel_for(rows.blocks(), 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t b = first; b < last; ++b)
      each_group<T>(rows.channels, [&](std::int64_t c, auto vectors, std::int64_t width) {
        f(c, vectors, width, b * rows.block, b * rows.block + rows.size(b));
      });
  });
}

template <class T>
void normalise(const Array& y, const Array& x, const Array& mean, const Array& rstd, const Array& w,
               const Array& b) {
  const Rows rows(x.shape);
  const std::int64_t C = rows.channels;
  const InChannels<T> in(x);
  const OutChannels<T> out(y);
  std::vector<T> scale(static_cast<std::size_t>(C)), shift(static_cast<std::size_t>(C), T(0));
  for (std::int64_t c = 0; c < C; ++c) {
    const auto i = static_cast<std::size_t>(c);
    scale[i] = w.data ? rstd.as<T>()[c] * w.as<T>()[c] : rstd.as<T>()[c];
    if (b.data) shift[i] = b.as<T>()[c];
  }
  each_block<T>(rows, [&](std::int64_t c, auto vectors, std::int64_t width, std::int64_t begin,
                          std::int64_t end) {
    using G = Group<T, decltype(vectors)::value>;
    const G mu = G::read(mean.as<const T>() + c, width), by = G::read(scale.data() + c, width),
            plus = G::read(shift.data() + c, width);
    for (std::int64_t r = begin; r < end; ++r) {
      G row = G::read(in.data() + r * C + c, width);
      for (int i = 0; i < decltype(vectors)::value; ++i)
        row.v[i] = (row.v[i] - mu.v[i]) * by.v[i] + plus.v[i];
      row.write(out.data() + r * C + c, width);
    }
  });
}

// db = Σ dy and dw = Σ dy h, both over blocks of rows.
template <class T>
void gradient_sums(const Rows& rows, const T* dy, const T* x, const Array& mean, const Array& rstd,
                   const Array& dw, const Array& db) {
  const std::int64_t C = rows.channels;
  const Scratch<T> partial(rows.blocks() * 2 * C);
  each_block<T>(rows, [&](std::int64_t c, auto vectors, std::int64_t width, std::int64_t begin,
                          std::int64_t end) {
    constexpr int V = decltype(vectors)::value;
    using G = Group<T, V>;
    const G mu = G::read(mean.as<const T>() + c, width);
    G sum{}, product{};
    for (std::int64_t r = begin; r < end; ++r) {
      const G g = G::read(dy + r * C + c, width), row = G::read(x + r * C + c, width);
      for (int i = 0; i < V; ++i) {
        sum.v[i] += g.v[i];
        product.v[i] += g.v[i] * (row.v[i] - mu.v[i]);
      }
    }
    T* to = partial.get() + begin / rows.block * 2 * C + c;
    sum.write(to, width);
    product.write(to + C, width);
  });
  for (std::int64_t c = 0; c < C; ++c) {
    double sum = 0, product = 0;
    for (std::int64_t b = 0; b < rows.blocks(); ++b) {
      sum += partial.get()[b * 2 * C + c];
      product += partial.get()[(b * 2 + 1) * C + c];
    }
    db.as<T>()[c] = static_cast<T>(sum);
    dw.as<T>()[c] = static_cast<T>(product * double(rstd.as<T>()[c]));
  }
}

// dx = w r (dy - db / m - h dw / m) = scale dy - (x - μ) slope - level
template <class T>
void input_gradient(const Rows& rows, T* dx, const T* dy, const T* x, const Array& mean,
                    const Array& rstd, const Array& w, const Array& dw, const Array& db) {
  const std::int64_t C = rows.channels;
  const auto size = static_cast<std::size_t>(C);
  std::vector<T> scale(size), slope(size), level(size);
  for (std::int64_t c = 0; c < C; ++c) {
    const auto i = static_cast<std::size_t>(c);
    const double m = double(rows.count), r = rstd.as<T>()[c];
    const double by = r * (w.data ? double(w.as<T>()[c]) : 1.0);
    scale[i] = static_cast<T>(by);
    slope[i] = static_cast<T>(by * r * double(dw.as<T>()[c]) / m);
    level[i] = static_cast<T>(double(db.as<T>()[c]) / m);
  }
  each_block<T>(rows, [&](std::int64_t c, auto vectors, std::int64_t width, std::int64_t begin,
                          std::int64_t end) {
    using G = Group<T, decltype(vectors)::value>;
    const G mu = G::read(mean.as<const T>() + c, width), by = G::read(scale.data() + c, width),
            s = G::read(slope.data() + c, width), l = G::read(level.data() + c, width);
    for (std::int64_t r = begin; r < end; ++r) {
      const G g = G::read(dy + r * C + c, width), row = G::read(x + r * C + c, width);
      G result;
      for (int i = 0; i < decltype(vectors)::value; ++i)
        result.v[i] = (g.v[i] - l.v[i]) * by.v[i] - (row.v[i] - mu.v[i]) * s.v[i];
      result.write(dx + r * C + c, width);
    }
  });
}

}  // namespace

void Cpu::channel_moments(const Array& mean, const Array& variance, const Array& x) const {
  if (x.shape.numel() == 0) return Naive::channel_moments(mean, variance, x);
  if (x.dtype == f32)
    moments<float>(mean, variance, x);
  else
    moments<double>(mean, variance, x);
}

void Cpu::batch_norm(const Array& y, const Array& x, const Array& mean, const Array& rstd,
                     const Array& w, const Array& b) const {
  if (x.shape.numel() == 0) return;
  if (x.dtype == f32)
    normalise<float>(y, x, mean, rstd, w, b);
  else
    normalise<double>(y, x, mean, rstd, w, b);
}

void Cpu::batch_norm_backward(const Array& dx, const Array& dw, const Array& db, const Array& dy,
                              const Array& x, const Array& mean, const Array& rstd,
                              const Array& w) const {
  if (x.shape.numel() == 0) return Naive::batch_norm_backward(dx, dw, db, dy, x, mean, rstd, w);
  dispatch_floating(x.dtype, "batch_norm_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Rows rows(x.shape);
    const InChannels<T> gradient(dy), in(x);
    gradient_sums<T>(rows, gradient.data(), in.data(), mean, rstd, dw, db);
    if (!dx.data) return;
    const OutChannels<T> out(dx);
    input_gradient<T>(rows, out.data(), gradient.data(), in.data(), mean, rstd, w, dw, db);
  });
}

}  // namespace labgrad
