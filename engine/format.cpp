// How a tensor is printed: PyTorch's rules for the numbers (but whole ones stay in fixed point up
// to 1e8), then shape, dtype and what made it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "engine/ops/broadcast.h"
#include "engine/tensor.h"

namespace labgrad {
namespace {

constexpr std::int64_t threshold = 1000;  // elements beyond which a tensor is summarised
constexpr std::int64_t edge = 3;          // slices shown at each end then
constexpr int line_width = 80;

std::string padded(const std::string& cell, std::size_t width) {
  return std::string(width - std::min(width, cell.size()), ' ') + cell;
}

// One form for all numbers shown: 1. if all are whole, 1.5000 as a rule, 1.5000e-07 when fixed
// point would hide digits.
std::vector<std::string> cells_of(const std::vector<double>& values) {
  double largest = 0, smallest = INFINITY;
  bool whole = true;
  for (double v : values) {
    if (!std::isfinite(v) || v == 0) continue;
    largest = std::max(largest, std::abs(v));
    smallest = std::min(smallest, std::abs(v));
    whole = whole && v == std::round(v);
  }
  const bool wide = largest > 0 && (largest / smallest > 1000 || largest > 1e8);
  const bool scientific = whole ? largest > 1e8 : wide || smallest < 1e-4;
  std::vector<std::string> cells;
  cells.reserve(values.size());
  for (double v : values) {
    if (!std::isfinite(v))
      cells.push_back(std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
    else if (scientific)
      cells.push_back(fmt::format("{:.4e}", v));
    else
      cells.push_back(whole ? fmt::format("{:.0f}.", v) : fmt::format("{:.4f}", v));
  }
  return cells;
}

std::vector<std::string> cells_of(const std::vector<std::int64_t>& values) {
  std::vector<std::string> cells;
  for (std::int64_t v : values) cells.push_back(std::to_string(v));
  return cells;
}

class Printer {
 public:
  explicit Printer(const Tensor& x) : x_(x), summarised_(x.numel() > threshold) {
    dispatch(x.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_same_v<T, bool>) {
        std::vector<std::int64_t> values;
        collect<bool>(0, 0, values);
        for (std::int64_t v : values) cells_.push_back(v != 0 ? "true" : "false");
      } else {
        std::vector<std::conditional_t<std::is_same_v<T, std::int64_t>, std::int64_t, double>>
            values;
        collect<T>(0, 0, values);
        cells_ = cells_of(values);
      }
    });
    for (const std::string& cell : cells_) width_ = std::max(width_, cell.size());
  }

  std::string print() {
    if (x_.rank() == 0) return cells_[0];
    print(0);
    return text_;
  }

 private:
  // The positions shown along a dimension of this size; -1 stands for the dots.
  std::vector<std::int64_t> shown(std::int64_t size) const {
    std::vector<std::int64_t> positions;
    for (std::int64_t i = 0; i < size; ++i) {
      if (summarised_ && size > 2 * edge && i == edge) {
        positions.push_back(-1);
        i = size - edge;
      }
      positions.push_back(i);
    }
    return positions;
  }

  template <class T, class V>
  void collect(int dim, std::int64_t offset, std::vector<V>& values) const {
    if (dim == x_.rank()) {
      values.push_back(static_cast<V>(x_.array().as<T>()[offset]));
      return;
    }
    for (std::int64_t i : shown(x_.shape()[dim]))
      if (i >= 0) collect<T>(dim + 1, offset + i * x_.strides()[dim], values);
  }

  void print(int dim) {
    const auto indent = static_cast<std::size_t>(dim) + 1;
    const bool last = dim == x_.rank() - 1;
    std::size_t column = indent;
    bool first = true;
    text_ += '[';
    for (std::int64_t i : shown(x_.shape()[dim])) {
      if (!first && last) {
        text_ += ", ";
      } else if (!first) {
        text_ += ',' + std::string(static_cast<std::size_t>(x_.rank() - 1 - dim), '\n') +
                 std::string(indent, ' ');
      }
      first = false;
      if (last) {
        const std::string cell = i < 0 ? "..." : padded(cells_[next_++], width_);
        if (column + cell.size() + 1 > line_width) {
          text_.back() = '\n';
          text_ += std::string(indent, ' ');
          column = indent;
        }
        text_ += cell;
        column += cell.size() + 2;
      } else if (i < 0) {
        text_ += "...";
      } else {
        print(dim + 1);
      }
    }
    text_ += ']';
  }

  const Tensor& x_;
  bool summarised_;
  std::vector<std::string> cells_;  // of the elements shown, in row-major order
  std::size_t width_ = 0, next_ = 0;
  std::string text_;
};

}  // namespace

std::string Tensor::str() const {
  if (!defined()) return "undefined";
  NoGrad no_grad;
  const std::string values = Printer(to(*this, Device::cpu)).print();
  std::string facts = "shape=" + shape().str() + ", dtype=" + name_of(dtype());
  if (device() != default_device()) facts += std::string(", device=") + name_of(device());
  if (!is_leaf())
    facts += std::string(", grad_fn=<") + grad_fn() + ">";
  else if (requires_grad())
    facts += ", requires_grad=true";
  return values + (values.find('\n') == std::string::npos ? "  " : "\n") + facts;
}

std::ostream& operator<<(std::ostream& out, const Tensor& x) { return out << x.str(); }

}  // namespace labgrad
