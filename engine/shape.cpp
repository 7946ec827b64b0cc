#include "engine/shape.h"

#include <algorithm>

namespace labgrad {

void Shape::assign(const std::int64_t* sizes, std::size_t n) {
  if (n > max_rank)
    fail("shape: " + std::to_string(n) + " dimensions given, at most 8 are supported");
  std::copy(sizes, sizes + n, sizes_.begin());
  rank_ = static_cast<std::int32_t>(n);
}

Shape Shape::filled(int rank, std::int64_t size) {
  Shape s;
  for (int d = 0; d < rank; ++d) s.push_back(size);
  return s;
}

void Shape::insert(int dim, std::int64_t size) {
  if (rank_ == max_rank) fail("shape: more than 8 dimensions are not supported");
  for (int d = rank_; d > dim; --d) (*this)[d] = (*this)[d - 1];
  ++rank_;
  (*this)[dim] = size;
}

void Shape::erase(int dim) {
  for (int d = dim; d + 1 < rank_; ++d) (*this)[d] = (*this)[d + 1];
  --rank_;
}

std::string Shape::str() const {
  std::string s = "(";
  for (int d = 0; d < rank_; ++d) {
    if (d > 0) s += ", ";
    s += std::to_string((*this)[d]);
  }
  return s + (rank_ == 1 ? ",)" : ")");
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides = shape;
  std::int64_t step = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    strides[d] = step;
    step *= shape[d];
  }
  return strides;
}

bool is_contiguous(const Shape& shape, const Strides& strides) {
  std::int64_t step = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    if (shape[d] == 0) return true;
    if (shape[d] != 1 && strides[d] != step) return false;
    step *= shape[d];
  }
  return true;
}

int wrap_dim(std::int64_t dim, int rank, const char* op) {
  const int n = std::max(rank, 1);
  if (dim < -n || dim >= n)
    fail(std::string(op) + ": dim " + std::to_string(dim) +
         " is out of range for a tensor of rank " + std::to_string(rank) + "; expected " +
         std::to_string(-n) + " to " + std::to_string(n - 1));
  return static_cast<int>(dim < 0 ? dim + n : dim);
}

namespace {

// The two shapes right-aligned, with a caret under the dimension that does not fit:
//   (2, 4, 5)
//      (3, 5)
//       ^
std::string aligned(const Shape& a, const Shape& b, int from_end) {
  const int rank = std::max(a.rank(), b.rank());
  std::string lines[3] = {"  ", "  ", "  "};
  for (int d = 0; d < rank; ++d) {
    const int k = rank - d;  // counted from the end: 1 is the last dimension
    auto cell = [k](const Shape& s) {
      return k > s.rank() ? std::string() : std::to_string(s[s.rank() - k]);
    };
    const std::size_t width = std::max(cell(a).size(), cell(b).size());
    int row = 0;
    for (const Shape* s : {&a, &b}) {
      const std::string text = cell(*s);
      const char open = k == s->rank() ? '(' : ' ';
      lines[row] += std::string(width - text.size(), ' ') + open + text;
      lines[row] += k == 1 ? ')' : (k > s->rank() ? ' ' : ',');
      ++row;
    }
    lines[2] += ' ' + std::string(width, k == from_end ? '^' : ' ') + ' ';
  }
  lines[2].erase(lines[2].find_last_not_of(' ') + 1);
  return "\n" + lines[0] + "\n" + lines[1] + "\n" + lines[2];
}

Shape broadcast_or(const Shape& a, const Shape& b, const char* op, const Caller* caller) {
  Shape out = a.rank() >= b.rank() ? a : b;
  for (int k = 1; k <= out.rank(); ++k) {
    const std::int64_t x = k <= a.rank() ? a[a.rank() - k] : 1;
    const std::int64_t y = k <= b.rank() ? b[b.rank() - k] : 1;
    if (x != y && x != 1 && y != 1) {
      const std::string message = std::string(op) + ": shapes " + a.str() + " and " + b.str() +
                                  " do not broadcast: sizes " + std::to_string(x) + " and " +
                                  std::to_string(y) + " differ at dimension " + std::to_string(-k) +
                                  " and neither is 1" + aligned(a, b, k);
      if (caller) fail(message, *caller);
      fail(message);
    }
    out[out.rank() - k] = x == 1 ? y : x;
  }
  return out;
}

}  // namespace

Shape broadcast_shapes(const Shape& a, const Shape& b, const char* op) {
  return broadcast_or(a, b, op, nullptr);
}

Shape broadcast_shapes(const Shape& a, const Shape& b, const char* op, const Caller& caller) {
  return broadcast_or(a, b, op, &caller);
}

Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& to) {
  Strides out = to;
  for (int k = 1; k <= to.rank(); ++k) {
    const int d = shape.rank() - k;
    const bool repeated = d < 0 || (shape[d] == 1 && to[to.rank() - k] != 1);
    out[to.rank() - k] = repeated ? 0 : strides[d];
  }
  return out;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.rank() > to.rank()) return false;
  for (int k = 1; k <= from.rank(); ++k) {
    const std::int64_t x = from[from.rank() - k];
    if (x != 1 && x != to[to.rank() - k]) return false;
  }
  return true;
}

}  // namespace labgrad
