// Pooling with the channels as vectors: for each window the elements are compared or added vector
// by vector. Samples are divided among threads, and rows of results where no two rows write to the
// same place.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "engine/cpu/channels.h"
#include "engine/cpu/cpu.h"
#include "engine/cpu/each_vector.h"
#include "engine/cpu/threads.h"
#include "engine/cpu/vec.h"

namespace labgrad {

using namespace cpu;

namespace {

constexpr std::int64_t grain_elements = 32768;

// A window along one axis: the elements begin, begin + step, ... below end.
struct Span {
  std::int64_t begin, end;
};

Span span(std::int64_t i, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
          std::int64_t dilation, std::int64_t n) {
  std::int64_t begin = i * stride - padding;
  const std::int64_t end = std::min(begin + (kernel - 1) * dilation + 1, n);
  if (begin < 0) begin += divide_up(-begin, dilation) * dilation;
  return {begin, end};
}

// The windows of a pooling over a plane.
struct Windows {
  Shape plane, result;
  Pooling p;

  Span rows(std::int64_t i) const {
    return span(i, p.kernel.h, p.stride.h, p.padding.h, p.dilation.h, plane[2]);
  }
  Span columns(std::int64_t j) const {
    return span(j, p.kernel.w, p.stride.w, p.padding.w, p.dilation.w, plane[3]);
  }
  // Calls f(place) for the elements of a window, in row-major order.
  template <class F>
  void each(Span h, Span w, F f) const {
    for (std::int64_t a = h.begin; a < h.end; a += p.dilation.h)
      for (std::int64_t b = w.begin; b < w.end; b += p.dilation.w) f(a * plane[3] + b);
  }
  bool overlap() const { return p.stride.h < p.kernel.h || p.stride.w < p.kernel.w; }
  std::int64_t places() const { return plane[2] * plane[3]; }

  // By what avg_pool2d divides window (i, j).
  std::int64_t divisor(std::int64_t i, std::int64_t j, bool count_padding) const {
    auto extent = [&](std::int64_t at, std::int64_t kernel, std::int64_t stride,
                      std::int64_t padding, std::int64_t n) {
      const std::int64_t begin = at * stride - padding;
      if (count_padding) return std::min(begin + kernel, n + padding) - begin;
      return std::min(begin + kernel, n) - std::max<std::int64_t>(begin, 0);
    };
    return extent(i, p.kernel.h, p.stride.h, p.padding.h, plane[2]) *
           extent(j, p.kernel.w, p.stride.w, p.padding.w, plane[3]);
  }
};

// Calls f(n, i) for each row of results, in parallel.
template <class F>
void each_row(const Shape& y, F f) {
  const std::int64_t rows = y[0] * y[2], width = std::max<std::int64_t>(1, y[1] * y[3]);
  parallel_for(rows, std::max<std::int64_t>(1, grain_elements / width),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t r = begin; r < end; ++r) f(r / y[2], r % y[2]);
               });
}

template <class F>
void each_sample(const Shape& x, F f) {
  const std::int64_t size = std::max<std::int64_t>(1, x[1] * x[2] * x[3]);
  parallel_for(x[0], std::max<std::int64_t>(1, grain_elements / size),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t n = begin; n < end; ++n) f(n);
               });
}

// Integers as wide as T's vectors have lanes.
template <class T>
using Place = Lane<Mask<Vec<T>>>;

template <class T>
void max_forward(T* y, std::int64_t* indices, const T* x, const Windows& w) {
  const std::int64_t C = w.plane[1];
  each_row(w.result, [&](std::int64_t n, std::int64_t i) {
    const T* image = x + n * w.places() * C;
    const std::int64_t row = (n * w.result[2] + i) * w.result[3];
    const Span h = w.rows(i);
    for (std::int64_t j = 0; j < w.result[3]; ++j) {
      const Span v = w.columns(j);
      T* to = y + (row + j) * C;
      std::int64_t* places = indices ? indices + (row + j) * C : nullptr;
      for (std::int64_t c = 0; c < C; c += lanes<T>) {
        const std::int64_t width = std::min<std::int64_t>(lanes<T>, C - c);
        const bool whole = width == lanes<T>;
        auto read = [&](std::int64_t at) {
          const T* p = image + at * C + c;
          return whole ? load(p) : load_part(p, width);
        };
        const std::int64_t first = h.begin * w.plane[3] + v.begin;
        Vec<T> best = read(first);
        Mask<Vec<T>> place = Mask<Vec<T>>{} + static_cast<Place<T>>(first);
        w.each(h, v, [&](std::int64_t at) {
          const Vec<T> value = read(at);
          const Mask<Vec<T>> larger = (value > best) | ((value != value) & (best == best));
          best = select(larger, value, best);
          place = larger ? Mask<Vec<T>>{} + static_cast<Place<T>>(at) : place;
        });
        if (whole)
          store(to + c, best);
        else
          store_part(to + c, best, width);
        if (!places) continue;
        Place<T> lane[lanes<T>];
        store(lane, place);
        for (std::int64_t l = 0; l < width; ++l) places[c + l] = lane[l];
      }
    }
  });
}

// Windows that lie apart: each row of windows writes rows of dx that no other one touches.
template <class T>
void max_backward_apart(T* dx, const T* dy, const std::int64_t* indices, const Windows& w) {
  const std::int64_t C = w.plane[1], H = w.plane[2], W = w.plane[3];
  each_row(w.result, [&](std::int64_t n, std::int64_t i) {
    T* image = dx + n * w.places() * C;
    const Span h = w.rows(i);
    // The rows from this window's first to the next one's belong to it, gaps included.
    const std::int64_t from = i == 0 ? 0 : i * w.p.stride.h - w.p.padding.h;
    const std::int64_t to =
        i + 1 == w.result[2] ? H : std::min(H, (i + 1) * w.p.stride.h - w.p.padding.h);
    std::fill(image + from * W * C, image + std::max(from, to) * W * C, T(0));
    for (std::int64_t j = 0; j < w.result[3]; ++j) {
      const Span v = w.columns(j);
      const std::int64_t at = ((n * w.result[2] + i) * w.result[3] + j) * C;
      for (std::int64_t c = 0; c < C; c += lanes<T>) {
        const std::int64_t width = std::min<std::int64_t>(lanes<T>, C - c);
        const bool whole = width == lanes<T>;
        const Vec<T> g = whole ? load(dy + at + c) : load_part(dy + at + c, width);
        Place<T> lane[lanes<T>] = {};
        for (std::int64_t l = 0; l < width; ++l)
          lane[l] = static_cast<Place<T>>(indices[at + c + l]);
        const Mask<Vec<T>> chosen = load(lane);
        w.each(h, v, [&](std::int64_t place) {
          const Vec<T> part = select(chosen == static_cast<Place<T>>(place), g, Vec<T>{});
          T* target = image + place * C + c;
          if (whole)
            store(target, part);
          else
            store_part(target, part, width);
        });
      }
    }
  });
}

template <class T>
void max_backward(T* dx, const T* dy, const std::int64_t* indices, const Windows& w) {
  const std::int64_t C = w.plane[1], windows = w.result[2] * w.result[3];
  each_sample(w.plane, [&](std::int64_t n) {
    T* image = dx + n * w.places() * C;
    std::fill(image, image + w.places() * C, T(0));
    for (std::int64_t k = n * windows; k < (n + 1) * windows; ++k)
      for (std::int64_t c = 0; c < C; ++c) image[indices[k * C + c] * C + c] += dy[k * C + c];
  });
}

template <class T>
void avg_forward(T* y, const T* x, const Windows& w, bool count_padding) {
  const std::int64_t C = w.plane[1];
  each_row(w.result, [&](std::int64_t n, std::int64_t i) {
    const T* image = x + n * w.places() * C;
    T* to = y + (n * w.result[2] + i) * w.result[3] * C;
    for (std::int64_t j = 0; j < w.result[3]; ++j, to += C) {
      const T m = static_cast<T>(w.divisor(i, j, count_padding));
      each_vector<T>(0, C, T(0), [&](auto read, auto write) {
        Vec<T> sum{};
        w.each(w.rows(i), w.columns(j),
               [&](std::int64_t place) { sum += read(image + place * C); });
        write(to, sum / m);
      });
    }
  });
}

template <class T>
void avg_backward(T* dx, const T* dy, const Windows& w, bool count_padding) {
  const std::int64_t C = w.plane[1];
  each_sample(w.plane, [&](std::int64_t n) {
    T* image = dx + n * w.places() * C;
    std::fill(image, image + w.places() * C, T(0));
    const T* from = dy + n * w.result[2] * w.result[3] * C;
    for (std::int64_t i = 0; i < w.result[2]; ++i)
      for (std::int64_t j = 0; j < w.result[3]; ++j, from += C) {
        const T m = static_cast<T>(w.divisor(i, j, count_padding));
        each_vector<T>(0, C, T(0), [&](auto read, auto write) {
          const Vec<T> part = read(from) / m;
          w.each(w.rows(i), w.columns(j), [&](std::int64_t place) {
            write(image + place * C, read(image + place * C) + part);
          });
        });
      }
  });
}

// Places in a plane are counted in lanes as wide as the elements.
bool countable(const Shape& x) { return x[2] * x[3] <= std::numeric_limits<std::int32_t>::max(); }

}  // namespace

void Cpu::max_pool2d(const Array& y, const Array& indices, const Array& x, const Pooling& p) const {
  if (y.shape.numel() == 0) return;
  if (!countable(x.shape)) return Naive::max_pool2d(y, indices, x, p);
  dispatch_floating(x.dtype, "max_pool2d", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const InChannels<T> in(x);
    const OutChannels<T> out(y);
    const Windows w{x.shape, y.shape, p};
    if (!indices.data) return max_forward<T>(out.data(), nullptr, in.data(), w);
    const OutChannels<std::int64_t> places(indices);
    max_forward<T>(out.data(), places.data(), in.data(), w);
  });
}

void Cpu::max_pool2d_backward(const Array& dx, const Array& dy, const Array& indices,
                              const Pooling& p) const {
  if (dx.shape.numel() == 0) return;
  if (dy.shape.numel() == 0 || !countable(dx.shape))
    return Naive::max_pool2d_backward(dx, dy, indices, p);
  dispatch_floating(dx.dtype, "max_pool2d_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const OutChannels<T> out(dx);
    const InChannels<T> gradient(dy);
    const InChannels<std::int64_t> places(indices);
    const Windows w{dx.shape, dy.shape, p};
    const bool apart = !w.overlap() && p.dilation == Plane(1);
    if (apart)
      max_backward_apart<T>(out.data(), gradient.data(), places.data(), w);
    else
      max_backward<T>(out.data(), gradient.data(), places.data(), w);
  });
}

void Cpu::avg_pool2d(const Array& y, const Array& x, const Pooling& p, bool count_padding) const {
  if (y.shape.numel() == 0) return;
  dispatch_floating(x.dtype, "avg_pool2d", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const InChannels<T> in(x);
    const OutChannels<T> out(y);
    avg_forward<T>(out.data(), in.data(), {x.shape, y.shape, p}, count_padding);
  });
}

void Cpu::avg_pool2d_backward(const Array& dx, const Array& dy, const Pooling& p,
                              bool count_padding) const {
  if (dx.shape.numel() == 0) return;
  if (dy.shape.numel() == 0) return Naive::avg_pool2d_backward(dx, dy, p, count_padding);
  dispatch_floating(dx.dtype, "avg_pool2d_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const OutChannels<T> out(dx);
    const InChannels<T> gradient(dy);
    avg_backward<T>(out.data(), gradient.data(), {dx.shape, dy.shape, p}, count_padding);
  });
}

}  // namespace labgrad
