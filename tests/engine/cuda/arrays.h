#pragma once
// Arrays of any layout in a device's memory, for tests that call its kernels and the specification.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/accelerator.h"
#include "tests/engine/arrays.h"
#include "tests/engine/cuda/device.h"

namespace labgrad::test {

inline const Kernels& specified() { return kernels(Device::naive); }

// A buffer's copy in the device's memory, gaps and guards included.
class OnDevice {
 public:
  OnDevice(Device device, Buffer& host)
      : array(host.array),
        device_(accelerator(device)),
        host_(host),
        block_(device_.allocate(host.bytes().size())) {
    device_.upload(block_, host.bytes().data(), host.bytes().size());
    array.data = block_ + (host.array.data - host.bytes().data());
  }
  ~OnDevice() { device_.deallocate(block_, host_.bytes().size()); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  void download() { device_.download(host_.bytes().data(), block_, host_.bytes().size()); }

  Array array;

 private:
  Accelerator& device_;
  Buffer& host_;
  std::byte* block_;
};

// An array that kernels read, on the host and on the device; fill(array) sets its elements.
class Input {
 public:
  template <class F>
  Input(Device device, DType dtype, const Shape& shape, const Layout& layout, F fill)
      : buffer_(dtype, shape, layout), on_device_(device, filled(buffer_, fill)) {}

  const Array& host() const { return buffer_.array; }
  const Array& device() const { return on_device_.array; }

 private:
  template <class F>
  static Buffer& filled(Buffer& buffer, F fill) {
    fill(buffer.array);
    return buffer;
  }

  Buffer buffer_;
  OnDevice on_device_;
};

// An array that kernels write, all of whose elements are NaN at first (integers: -1).
class Output {
 public:
  Output(Device device, DType dtype, const Shape& shape, const Layout& layout = {})
      : buffer_(dtype, shape, layout), on_device_(device, buffer_) {}

  const Array& device() const { return on_device_.array; }

  // Where the elements differ from `expected`, as a sentence; "" if nowhere. Differs, too, if bytes
  // between the elements were written, or other bits than at the last comparison: one output is to
  // be compared after the same kernel under several schedules.
  std::string difference(const Array& expected, double absolute = 0, double relative = 0) {
    on_device_.download();
    if (!buffer_.intact()) return "bytes beside the elements are written";
    std::vector<std::byte> now(buffer_.bytes().begin(), buffer_.bytes().end());
    if (!last_.empty() && last_ != now) return "other bits than under another schedule";
    last_ = std::move(now);
    return test::difference(buffer_.array, expected, absolute, relative);
  }

 private:
  Buffer buffer_;
  OnDevice on_device_;
  std::vector<std::byte> last_;
};

// What an Input is filled with: normal numbers; whole numbers in low .. high.
inline auto normal(Generator& random, double mean = 0, double std = 1) {
  return [&random, mean, std](const Array& a) { fill_normal(random, a, mean, std); };
}
inline auto whole(Generator& random, std::int64_t low, std::int64_t high) {
  return [&random, low, high](const Array& a) { fill_whole(random, a, low, high); };
}

// Some layout of a batch of images (N, C, H, W), one time in two channels-last.
inline Layout any_images(Generator& random, bool input) {
  if (any_of(random, 0, 1) == 1) return {.order = {0, 2, 3, 1}};
  return any_layout(random, 4, input);
}

}  // namespace labgrad::test
