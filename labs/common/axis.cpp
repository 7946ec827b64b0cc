#include "labs/common/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace labgrad::labs {
namespace {

// Beyond these sizes the arithmetic of an axis would overflow, or lose its digits.
constexpr double least_size = 1e-140, largest_size = 1e140;

bool drawable(double v, bool log) {
  return std::abs(v) <= largest_size && (!log || v >= least_size);  // NaN is neither
}

std::string superscript(int n) {
  static constexpr std::array<const char*, 10> digits{"⁰", "¹", "²", "³", "⁴",
                                                      "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out = n < 0 ? "⁻" : "";
  for (char c : std::to_string(std::abs(n))) out += digits[static_cast<std::size_t>(c - '0')];
  return out;
}

// 1, 2 or 5 times a power of ten, so that about `count` steps cover `span`.
double round_step(double span, int count) {
  const double raw = span / count;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * power * (1.0 + 1e-9)) return factor * power;
  return 10.0 * power;
}

// "-1234.5" as "−1,234.5", with a true minus sign.
std::string with_thousands(std::string digits) {
  const std::size_t start = digits[0] == '-' ? 1 : 0;
  std::size_t end = std::min(digits.find('.'), digits.size());
  while (end > start + 3) digits.insert(end -= 3, ",");
  return start == 0 ? digits : "−" + digits.substr(1);
}

// All labels of a linear axis with the same number of decimals and the same power of ten.
std::vector<Tick> linear_ticks(double low, double high, int count) {
  const double step = round_step(high - low, count);
  const double largest = std::max(std::abs(low), std::abs(high));
  const bool scientific = largest >= 1e6 || largest < 1e-3;
  const int exponent = scientific ? static_cast<int>(std::floor(std::log10(largest))) : 0;
  const double unit = std::pow(10.0, exponent);
  const int decimals =
      std::clamp(static_cast<int>(-std::floor(std::log10(step / unit) + 1e-9)), 0, 15);
  std::vector<Tick> ticks;
  const double first = std::ceil(low / step - 1e-9), last = std::floor(high / step + 1e-9);
  for (double k = first; k <= last; k += 1.0) {
    const double value = k * step;
    std::string label = k == 0.0 ? fmt::format("{:.{}f}", 0.0, scientific ? 0 : decimals)
                                 : fmt::format("{:.{}f}", value / unit, decimals);
    label = with_thousands(label);
    if (scientific && k != 0.0) label += "×10" + superscript(exponent);
    ticks.push_back({value, label});
  }
  return ticks;
}

std::vector<Tick> log_ticks(double low, double high, int count) {
  const double low_power = std::log10(low), high_power = std::log10(high);
  const int first = static_cast<int>(std::floor(low_power - 1e-9));
  const int last = static_cast<int>(std::ceil(high_power + 1e-9));
  const int decades =
      static_cast<int>(std::floor(high_power + 1e-9) - std::ceil(low_power - 1e-9)) + 1;
  // Too few powers of ten: a linear choice (within a factor of 3), or 1, 2 and 5 of each decade.
  if (decades < 2 && high / low < 3.0) return linear_ticks(low, high, count);
  const bool all_digits = decades < 3;
  const int stride = std::max(1, static_cast<int>(std::ceil(double(decades) / (count + 2))));
  // Powers of ten as such if they don't all read well as plain numbers.
  const bool plain = low >= 0.9e-3 && high <= 1.1e5;
  std::vector<Tick> ticks;
  for (int power = first; power <= last; ++power) {
    for (int digit = 1; digit <= 9; ++digit) {
      const double value = digit * std::pow(10.0, power);
      if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
      const bool labelled = high / low < 10.0 ? true
                            : all_digits      ? digit == 1 || digit == 2 || digit == 5
                                              : digit == 1 && power % stride == 0;
      if (labelled) {
        ticks.push_back({value, plain || digit > 1 ? tick_text(value) : "10" + superscript(power)});
      } else if (stride == 1 || (digit == 1 && decades <= 60)) {
        ticks.push_back({value, ""});
      }
    }
  }
  return ticks;
}

}  // namespace

std::string tick_text(double value) {
  const double size = std::abs(value);
  if (value == 0.0) return "0";
  if (size >= 1e-3 * (1 - 1e-9) && size < 1e5 * (1 + 1e-9)) {
    const double rounded = std::round(value);
    const bool whole = std::abs(value - rounded) <= 1e-9 * size;
    return with_thousands(whole ? fmt::format("{:.0f}", rounded) : fmt::format("{:.4g}", value));
  }
  int exponent = static_cast<int>(std::floor(std::log10(size) + 1e-9));
  const std::string mantissa =
      with_thousands(fmt::format("{:.3g}", value / std::pow(10.0, exponent)));
  if (mantissa == "1") return "10" + superscript(exponent);
  return mantissa + "×10" + superscript(exponent);
}

void Extent::include(double v) {
  if (!drawable(v, log_)) return;
  if (std::abs(v) < least_size) v = 0.0;
  if (empty()) {
    low_ = high_ = v;
  } else {
    low_ = std::min(low_, v);
    high_ = std::max(high_, v);
  }
}

Scale::Scale(const Axis& axis, const Extent& extent, double from, double to)
    : axis_(axis), low_(axis.log ? 1.0 : 0.0), high_(axis.log ? 10.0 : 1.0), from_(from), to_(to) {
  if (!extent.empty()) {
    low_ = extent.low();
    high_ = extent.high();
    // A little room around the data, unless the caller fixed the end.
    const double room = 0.04;
    if (axis.log) {
      const double factor = std::max(std::pow(high_ / low_, room), low_ == high_ ? 2.0 : 1.05);
      low_ /= factor;
      high_ *= factor;
    } else {
      const double span = high_ - low_;
      const double margin =
          span > 1e-12 * std::abs(high_) ? room * span : std::max(0.5 * std::abs(high_), 0.5);
      const bool touches_zero = low_ == 0.0;  // counts, losses and times start at zero, not below
      low_ -= touches_zero ? 0.0 : margin;
      high_ += margin;
    }
  }
  if (axis.min && (!axis.log || *axis.min > 0.0)) low_ = *axis.min;
  if (axis.max && (!axis.log || *axis.max > 0.0)) high_ = *axis.max;
  if (!(low_ < high_)) high_ = axis.log ? low_ * 10.0 : low_ + 1.0;
}

bool Scale::shows(double value) const { return drawable(value, axis_.log); }

double Scale::position(double value) const {
  if (axis_.log) return std::log(value / low_) / std::log(high_ / low_);
  return (value - low_) / (high_ - low_);
}

double Scale::operator()(double value) const { return from_ + position(value) * (to_ - from_); }

double Scale::value_at(double pixel) const {
  const double t = (pixel - from_) / (to_ - from_);
  return axis_.log ? low_ * std::pow(high_ / low_, t) : low_ + t * (high_ - low_);
}

void Scale::move(double from, double to) {
  from_ = from;
  to_ = to;
}

std::vector<Tick> Scale::ticks(int count) const {
  if (axis_.ticks.empty())
    return axis_.log ? log_ticks(low_, high_, count) : linear_ticks(low_, high_, count);
  std::vector<Tick> out;
  for (double value : axis_.ticks) {
    const double p = shows(value) ? position(value) : -1.0;
    if (p >= -1e-9 && p <= 1.0 + 1e-9) out.push_back({value, tick_text(value)});
  }
  return out;
}

}  // namespace labgrad::labs
