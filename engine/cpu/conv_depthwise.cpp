#include "engine/cpu/conv_depthwise.h"

#include <type_traits>

#include "engine/cpu/conv_chunks.h"
#include "engine/cpu/scratch.h"
#include "engine/cpu/threads.h"

namespace labgrad::cpu {

namespace {

// A row of pixels as it will be written: in place if the channels are dense, else by way of a copy.
template <class T>
class OutPixels {
 public:
  OutPixels(T* row, const Images<T>& y, std::int64_t pixels, std::int64_t channels)
      : copy_(y.channel == 1 ? 0 : pixels * channels), row_(row), y_(y), n_(pixels), c_(channels) {}
  ~OutPixels() {
    if (y_.channel == 1) return;
    for (std::int64_t j = 0; j < n_; ++j)
      for (std::int64_t c = 0; c < c_; ++c)
        row_[j * y_.column + c * y_.channel] = copy_.get()[j * c_ + c];
  }
  OutPixels(const OutPixels&) = delete;
  OutPixels& operator=(const OutPixels&) = delete;
  T* at(std::int64_t j) const {
    return y_.channel == 1 ? row_ + j * y_.column : copy_.get() + j * c_;
  }

 private:
  Scratch<T> copy_;
  T* row_;
  const Images<T>& y_;
  std::int64_t n_, c_;
};

// Calls f(j, count) for blocks of up to four of n neighbours, `count` a constant: four sums at
// once, for an addition takes as long as four that do not wait for each other.
template <class F>
void each_block(std::int64_t n, F f) {
  std::int64_t j = 0;
  for (; j + 4 <= n; j += 4) f(j, std::integral_constant<int, 4>());
  if (n - j == 3) f(j, std::integral_constant<int, 3>());
  if (n - j == 2) f(j, std::integral_constant<int, 2>());
  if (n - j == 1) f(j, std::integral_constant<int, 1>());
}

}  // namespace

template <class T>
void slide_depthwise(const Array& y, const Array& x, const T* w, std::int64_t channel,
                     std::int64_t row, std::int64_t column, Slide s) {
  const Images<T> to(y);
  const Images<const T> from(x);
  const std::int64_t channels = y.shape[1];
  s.channels = channels;
  const std::int64_t taps = s.h.kernel * s.w.kernel, step = s.w.stride * channels;
  const Scratch<T> filters(taps * channels);  // [tap][channel]
  for (std::int64_t t = 0; t < taps; ++t)
    for (std::int64_t c = 0; c < channels; ++c)
      filters.get()[t * channels + c] =
          w[c * channel + t / s.w.kernel * row + t % s.w.kernel * column];

  const std::int64_t rows = strip_rows<T>(s, y.shape[0]), strips = divide_up(s.h.result, rows);
  const std::int64_t tasks = y.shape[0] * strips;
  const bool worth = y.shape.numel() * taps > 200'000;
  parallel_for(tasks, worth ? 1 : tasks, [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> plane(s.h.reach(rows) * s.width() * channels);
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t n = task / strips, first = task % strips * rows;
      const std::int64_t height = std::min(rows, s.h.result - first);
      fill_plane<T>(plane.get(), from.at(n, 0, 0), from, s, first, height);
      for (std::int64_t i = 0; i < height; ++i) {
        const OutPixels<T> out(to.at(n, 0, first + i), to, s.w.result, channels);
        each_block(s.w.result, [&](std::int64_t j, auto pixels) {
          constexpr int P = decltype(pixels)::value;
          each_vector<T>(0, channels, T(0), [&](auto read, auto write) {
            Vec<T> sum[P] = {};
            for (std::int64_t a = 0, t = 0; a < s.h.kernel; ++a)
              for (std::int64_t b = 0; b < s.w.kernel; ++b, ++t) {
                const Vec<T> w_ab = read(filters.get() + t * channels);
                const T* under = plane.get() + s.pixel(i, j, a, b);
#pragma GCC unroll 4
                for (int q = 0; q < P; ++q) sum[q] += read(under + q * step) * w_ab;
              }
#pragma GCC unroll 4
            for (int q = 0; q < P; ++q) write(out.at(j + q), sum[q]);
          });
        });
      }
    }
  });
}

template <class T>
void depthwise_weight_gradient(const Array& dw, const Array& x, const Array& dy, Slide s) {
  const Images<const T> from(x), gradient(dy);
  const std::int64_t channels = dy.shape[1], taps = s.h.kernel * s.w.kernel;
  s.channels = channels;
  const Slide line{
      {1, 1, 1, 0, 1, s.h.result, 1}, {s.w.result, 1, 1, 0, 1, s.w.result, 1}, channels};
  const Chunks<T> chunks(s, x.shape[0], taps * channels);
  chunks.run([&](T* sums, T* plane, std::int64_t n, std::int64_t first, std::int64_t height) {
    fill_plane<T>(plane, from.at(n, 0, 0), from, s, first, height);
    const Scratch<T> row(s.w.result * channels);
    for (std::int64_t i = 0; i < height; ++i) {
      fill_plane<T>(row.get(), gradient.at(n, 0, first + i), gradient, line, 0, 1);
      for (std::int64_t a = 0, t = 0; a < s.h.kernel; ++a)
        for (std::int64_t b = 0; b < s.w.kernel; ++b, ++t)
          each_vector<T>(0, channels, T(0), [&](auto read, auto write) {
            T* place = sums + t * channels;
            Vec<T> sum = read(place);
            for (std::int64_t j = 0; j < s.w.result; ++j)
              sum += read(plane + s.pixel(i, j, a, b)) * read(row.get() + j * channels);
            write(place, sum);
          });
    }
  });
  const Images<T> to(dw);
  chunks.total(channels, [&](std::int64_t c, auto sum) {
    for (std::int64_t t = 0; t < taps; ++t)
      to.at(c, 0, t / s.w.kernel)[t % s.w.kernel * to.column] = sum(t * channels + c);
  });
}

template void slide_depthwise<float>(const Array&, const Array&, const float*, std::int64_t,
                                     std::int64_t, std::int64_t, Slide);
template void slide_depthwise<double>(const Array&, const Array&, const double*, std::int64_t,
                                      std::int64_t, std::int64_t, Slide);
template void depthwise_weight_gradient<float>(const Array&, const Array&, const Array&, Slide);
template void depthwise_weight_gradient<double>(const Array&, const Array&, const Array&, Slide);

}  // namespace labgrad::cpu
