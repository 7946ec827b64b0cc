#pragma once
// Axes of a plot: from a range of numbers to pixels, with ticks at round numbers.

#include <optional>
#include <string>
#include <vector>

namespace labgrad::labs {

// How the caller wants an axis; what is left open follows from the data.
struct Axis {
  std::string label = {};
  bool log = false;  // logarithmic; numbers that aren't positive are then left out
  std::optional<double> min = {}, max = {};
  std::vector<double> ticks = {};  // at these values, instead of round numbers
};

struct Tick {
  double value;
  std::string label = {};  // empty: a minor tick
};

// Smallest and largest of the numbers an axis can show.
class Extent {
 public:
  explicit Extent(const Axis& axis) : log_(axis.log) {}
  void include(double v);
  bool empty() const { return !(low_ <= high_); }
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  bool log_;
  double low_ = 1.0, high_ = 0.0;  // empty
};

// Maps values to pixels. `from` and `to` are the pixels of the two ends.
class Scale {
 public:
  Scale(const Axis& axis, const Extent& extent, double from, double to);

  double operator()(double value) const;
  bool shows(double value) const;  // finite, and positive on a logarithmic axis
  double value_at(double pixel) const;
  double low() const { return low_; }
  double high() const { return high_; }
  void move(double from, double to);  // to other pixels, when the margins are known
  // About `count` labelled ticks.
  std::vector<Tick> ticks(int count) const;

 private:
  double position(double value) const;  // 0 at the low end, 1 at the high end

  Axis axis_;
  double low_, high_, from_, to_;
};

// 2 · 10ⁿ as on an axis: 1200 is "1,200", 3e-7 "3×10⁻⁷", 1e6 "10⁶".
std::string tick_text(double value);

}  // namespace labgrad::labs
