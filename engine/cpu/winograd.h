#pragma once
// Winograd's way to convolve with 3 x 3 filters: fewer multiplications, rounded otherwise.
//
// Off at first. When it is on, convolutions of f32 with 3 x 3 filters, stride, dilation and groups
// of 1, and numbers of channels and filters that are multiples of 16, with 65,536 pairs of both at
// most (all three products, where the channels lie side by side) multiply 36 times for each 4 x 4
// results where the sum as it is written multiplies 144 times. What it costs: the error is three
// times that of the sum; by the root mean square 0.6 to 1.1e-6 of the results' own (the sum: 0.2 to
// 0.4e-6), and at most 1.5e-5, in tests/engine/cpu/test_winograd.cpp. A result that the sum makes 0
// may be such an error, and a NaN or infinity in an image reaches all 4 x 4 results of the tiles
// that it lies under. Other devices and f64 take no notice.
//
// Source: S. Winograd, Arithmetic Complexity of Computations (1980); A. Lavin and S. Gray, Fast
// Algorithms for Convolutional Neural Networks (CVPR 2016).

namespace labgrad {

// Is it on? For all threads.
bool winograd();
void set_winograd(bool on);

// On (or off) for the length of a scope.
class UseWinograd {
 public:
  explicit UseWinograd(bool on = true) : before_(winograd()) { set_winograd(on); }
  ~UseWinograd() { set_winograd(before_); }
  UseWinograd(const UseWinograd&) = delete;
  UseWinograd& operator=(const UseWinograd&) = delete;

 private:
  bool before_;
};

}  // namespace labgrad
