// Normalisation by channels, ReLU and max-pooling in one pass, and their gradients in two.
//
//   for each row of windows                                    the tasks, divided among threads
//     for each group of up to four vectors of channels         μ, scale and shift in registers
//       for each window of the row
//         z = (x - μ) scale + shift at each of its pixels      read once: 2 x 336 x 32 numbers, or
//         the largest z                                        84 KiB, are a row of the widest
//         layer
//
// The place of the largest is not kept: backward has to read all of x in any case (each channel
// chooses a pixel of its own, so all of a window's cache lines are wanted), and what it reads tells
// the place again, by the same arithmetic. It reads x twice, because dx needs the finished sums.
//
// Bytes that must move, with X and Y the bytes of x and y:
//   forward   X + Y          (and X for the statistics before)
//   backward  X + Y for the sums, 2 X + Y for dx

#include <array>
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

// Rows of windows over images whose channels lie side by side.
struct WindowRows {
  Shape x, y;
  Plane window;
  std::int64_t C, count, block;      // channels; rows in all, and in a block
  std::vector<std::int64_t> offset;  // from a window's first pixel to each of its pixels

  WindowRows(const Shape& of_x, const Shape& of_y, Plane by)
      : x(of_x),
        y(of_y),
        window(by),
        C(x[1]),
        count(y[0] * y[2]),
        block(std::max<std::int64_t>(1, block_elements / (by.h * x[3] * C))) {
    for (std::int64_t a = 0; a < by.h; ++a)
      for (std::int64_t b = 0; b < by.w; ++b) offset.push_back((a * x[3] + b) * C);
  }
  std::int64_t blocks() const { return divide_up(count, block); }
  // Row r's first element of x and of y, and the steps from window to window.
  std::int64_t in(std::int64_t r) const {
    return (r / y[2] * x[2] + r % y[2] * window.h) * x[3] * C;
  }
  std::int64_t out(std::int64_t r) const { return r * y[3] * C; }
  std::int64_t in_step() const { return window.w * C; }

  // Calls f(offset) for the pixels of row r that no window holds: at the right, and below the last.
  template <class F>
  void each_left_over(std::int64_t r, F f) const {
    const std::int64_t below = r % y[2] + 1 == y[2] ? x[2] - y[2] * window.h : 0;
    for (std::int64_t a = 0; a < window.h + below; ++a)
      for (std::int64_t b = a < window.h ? y[3] * window.w : 0; b < x[3]; ++b)
        f((a * x[3] + b) * C);
  }
};

// Calls f(c, vectors, width, first, last) for groups of channels and blocks of rows, in parallel.
template <class T, class F>
void each_block(const WindowRows& rows, F f) {
  parallel_for(rows.blocks(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b)
      each_group<T>(rows.C, [&](std::int64_t c, auto vectors, std::int64_t width) {
        f(c, vectors, width, b * rows.block, std::min(rows.count, (b + 1) * rows.block));
      });
  });
}

// Calls f(pixels) with their number in a window, as a constant where it is the usual 4.
template <class F>
void with_pixels(const WindowRows& rows, F f) {
  if (rows.offset.size() == 4)
    f(std::integral_constant<std::size_t, 4>());
  else
    f(rows.offset.size());
}

// z = (x - μ) scale + shift for one channel after another.
template <class T>
struct Line {
  const T* mean;
  std::vector<T> scale;
  const T* shift;

  Line(std::int64_t C, const Array& mu, const Array& rstd, const Array& w, const Array& b)
      : mean(mu.as<T>()), scale(static_cast<std::size_t>(C)), shift(b.as<T>()) {
    for (std::int64_t c = 0; c < C; ++c)
      scale[static_cast<std::size_t>(c)] = rstd.as<T>()[c] * w.as<T>()[c];
  }
};

// The same for a group.
template <class T, int V>
struct LineGroup {
  Group<T, V> mean, scale, shift;

  LineGroup(const Line<T>& line, std::int64_t c, std::int64_t width)
      : mean(Group<T, V>::read(line.mean + c, width)),
        scale(Group<T, V>::read(line.scale.data() + c, width)),
        shift(Group<T, V>::read(line.shift + c, width)) {}
  Vec<T> z(Vec<T> x, int i) const { return (x - mean.v[i]) * scale.v[i] + shift.v[i]; }
};

template <class T>
void forward(const WindowRows& rows, T* y, const T* x, const Line<T>& line) {
  with_pixels(rows, [&](auto pixels) {
    each_block<T>(rows, [&](std::int64_t c, auto vectors, std::int64_t width, std::int64_t first,
                            std::int64_t last) {
      constexpr int V = decltype(vectors)::value;
      using G = Group<T, V>;
      const LineGroup<T, V> of(line, c, width);
      for (std::int64_t r = first; r < last; ++r) {
        const T* from = x + rows.in(r) + c;
        T* to = y + rows.out(r) + c;
        for (std::int64_t j = 0; j < rows.y[3]; ++j, from += rows.in_step(), to += rows.C) {
          G best = G::read(from, width);
          for (int i = 0; i < V; ++i) best.v[i] = of.z(best.v[i], i);
          for (std::size_t p = 1; p < pixels; ++p) {
            const G next = G::read(from + rows.offset[p], width);
            for (int i = 0; i < V; ++i) best.v[i] = max(best.v[i], of.z(next.v[i], i));
          }
          for (int i = 0; i < V; ++i) best.v[i] = select(best.v[i] <= 0, Vec<T>{}, best.v[i]);
          best.write(to, width);
        }
      }
    });
  });
}

// What a window passes on: g, which is dy where the largest z is above 0 (or NaN), and its place.
template <class T, int V>
struct Chosen {
  Group<T, V> g, x;
  Mask<Vec<T>> place[V];

  template <class P>
  Chosen(const LineGroup<T, V>& of, const T* from, const std::int64_t* offset, P pixels,
         const T* dy, std::int64_t width)
      : g(Group<T, V>::read(dy, width)), x(Group<T, V>::read(from, width)), place{} {
    Group<T, V> best;
    for (int i = 0; i < V; ++i) best.v[i] = of.z(x.v[i], i);
    for (std::size_t p = 1; p < pixels; ++p) {
      const auto next = Group<T, V>::read(from + offset[p], width);
      for (int i = 0; i < V; ++i) {
        const Vec<T> z = of.z(next.v[i], i);
        const Mask<Vec<T>> larger = (z > best.v[i]) | ((z != z) & (best.v[i] == best.v[i]));
        best.v[i] = select(larger, z, best.v[i]);
        x.v[i] = select(larger, next.v[i], x.v[i]);
        place[i] = larger ? Mask<Vec<T>>{} + static_cast<Lane<Mask<Vec<T>>>>(p) : place[i];
      }
    }
    for (int i = 0; i < V; ++i) g.v[i] = select(best.v[i] <= 0, Vec<T>{}, g.v[i]);
  }
};

// db = Σ g and dw = Σ g h, both over blocks of rows of windows, joined in order.
template <class T>
void gradient_sums(const WindowRows& rows, const T* dy, const T* x, const Line<T>& line,
                   const Array& rstd, const Array& dw, const Array& db) {
  const std::int64_t C = rows.C;
  const Scratch<T> partial(rows.blocks() * 2 * C);
  with_pixels(rows, [&](auto pixels) {
    each_block<T>(rows, [&](std::int64_t c, auto vectors, std::int64_t width, std::int64_t first,
                            std::int64_t last) {
      constexpr int V = decltype(vectors)::value;
      const LineGroup<T, V> of(line, c, width);
      Group<T, V> sum{}, product{};
      for (std::int64_t r = first; r < last; ++r) {
        const T *from = x + rows.in(r) + c, *gradient = dy + rows.out(r) + c;
        for (std::int64_t j = 0; j < rows.y[3]; ++j, from += rows.in_step(), gradient += C) {
          const Chosen<T, V> at(of, from, rows.offset.data(), pixels, gradient, width);
          for (int i = 0; i < V; ++i) {
            sum.v[i] += at.g.v[i];
            product.v[i] += at.g.v[i] * (at.x.v[i] - of.mean.v[i]);
          }
        }
      }
      T* to = partial.get() + first / rows.block * 2 * C + c;
      sum.write(to, width);
      product.write(to + C, width);
    });
  });
  for (std::int64_t c = 0; c < C; ++c) {
    double sum = 0, product = 0;
    for (std::int64_t b = 0; b < rows.blocks(); ++b) {
      sum += double(partial.get()[b * 2 * C + c]);
      product += double(partial.get()[(b * 2 + 1) * C + c]);
    }
    db.as<T>()[c] = static_cast<T>(sum);
    dw.as<T>()[c] = static_cast<T>(product * double(rstd.as<T>()[c]));
  }
}

// dx = w r (g - db / m - h dw / m) = (g - level) scale - (x - μ) slope, or scale g.
template <bool of_batch, class T>
void input_gradient(const WindowRows& rows, T* dx, const T* dy, const T* x, const Line<T>& line,
                    const Array& rstd, const Array& dw, const Array& db) {
  const std::int64_t C = rows.C;
  const double m = double(rows.x.numel() / C);
  std::vector<T> slopes(static_cast<std::size_t>(C)), levels(slopes);
  for (std::int64_t c = 0; c < C; ++c) {
    const auto k = static_cast<std::size_t>(c);
    slopes[k] =
        static_cast<T>(double(line.scale[k]) * double(rstd.as<T>()[c]) * double(dw.as<T>()[c]) / m);
    levels[k] = static_cast<T>(double(db.as<T>()[c]) / m);
  }
  const bool past_caches = streams(dx, rows.x.numel(), C);
  with_pixels(rows, [&](auto pixels) {
    each_block<T>(rows, [&](std::int64_t c, auto vectors, std::int64_t width, std::int64_t first,
                            std::int64_t last) {
      constexpr int V = decltype(vectors)::value;
      using G = Group<T, V>;
      const LineGroup<T, V> of(line, c, width);
      const G slope = G::read(slopes.data() + c, width), level = G::read(levels.data() + c, width);
      auto gradient = [&](Vec<T> g, Vec<T> value, int i) {
        if constexpr (of_batch)
          return (g - level.v[i]) * of.scale.v[i] - (value - of.mean.v[i]) * slope.v[i];
        else
          return g * of.scale.v[i];
      };
      for (std::int64_t r = first; r < last; ++r) {
        const T *from = x + rows.in(r) + c, *dy_row = dy + rows.out(r) + c;
        T* to = dx + rows.in(r) + c;
        for (std::int64_t j = 0; j < rows.y[3]; ++j) {
          const T* window = from + j * rows.in_step();
          const Chosen<T, V> at(of, window, rows.offset.data(), pixels, dy_row + j * C, width);
          for (std::size_t p = 0; p < pixels; ++p) {
            G pixel = G::read(window + rows.offset[p], width);
            for (int i = 0; i < V; ++i) {
              const auto here = at.place[i] == static_cast<Lane<Mask<Vec<T>>>>(p);
              pixel.v[i] = gradient(select(here, at.g.v[i], Vec<T>{}), pixel.v[i], i);
            }
            T* place = to + j * rows.in_step() + rows.offset[p];
            if (past_caches)
              pixel.write_past_caches(place);
            else
              pixel.write(place, width);
          }
        }
        rows.each_left_over(r, [&](std::int64_t offset) {
          G pixel = G::read(from + offset, width);
          for (int i = 0; i < V; ++i) pixel.v[i] = gradient(Vec<T>{}, pixel.v[i], i);
          pixel.write(to + offset, width);
        });
      }
      if (past_caches) finish_streams();
    });
  });
}

}  // namespace

void Cpu::norm_relu_pool(const Array& y, const Array& x, const Array& mean, const Array& rstd,
                         const Array& w, const Array& b, Plane window) const {
  if (y.shape.numel() == 0) return;
  dispatch_floating(x.dtype, "norm_relu_pool", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const InChannels<T> in(x);
    const OutChannels<T> out(y);
    forward<T>({x.shape, y.shape, window}, out.data(), in.data(), {x.shape[1], mean, rstd, w, b});
  });
}

void Cpu::norm_relu_pool_backward(const Array& dx, const Array& dw, const Array& db,
                                  const Array& dy, const Array& x, const Array& mean,
                                  const Array& rstd, const Array& w, const Array& b, Plane window,
                                  bool of_batch) const {
  if (dy.shape.numel() == 0)
    return Naive::norm_relu_pool_backward(dx, dw, db, dy, x, mean, rstd, w, b, window, of_batch);
  dispatch_floating(x.dtype, "norm_relu_pool_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const WindowRows rows(x.shape, dy.shape, window);
    const Line<T> line(rows.C, mean, rstd, w, b);
    const InChannels<T> in(x), gradient(dy);
    gradient_sums<T>(rows, gradient.data(), in.data(), line, rstd, dw, db);
    if (!dx.data) return;
    const OutChannels<T> out(dx);
    const auto f = of_batch ? input_gradient<true, T> : input_gradient<false, T>;
    f(rows, out.data(), gradient.data(), in.data(), line, rstd, dw, db);
  });
}

}  // namespace labgrad
