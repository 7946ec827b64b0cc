#pragma once
// Index arithmetic: shapes and strides (in elements, not bytes), held inline up to 8 dimensions so
// that making a tensor allocates nothing for them.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "engine/error.h"

namespace labgrad {

inline constexpr int max_rank = 8;

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes) { assign(sizes.begin(), sizes.size()); }
  explicit Shape(std::span<const std::int64_t> sizes) { assign(sizes.data(), sizes.size()); }
  // `rank` dimensions of the same size.
  static Shape filled(int rank, std::int64_t size);

  int rank() const { return rank_; }
  std::int64_t operator[](int dim) const { return sizes_[static_cast<std::size_t>(dim)]; }
  std::int64_t& operator[](int dim) { return sizes_[static_cast<std::size_t>(dim)]; }
  const std::int64_t* begin() const { return sizes_.data(); }
  const std::int64_t* end() const { return sizes_.data() + rank_; }
  std::int64_t back() const { return sizes_[static_cast<std::size_t>(rank_ - 1)]; }

  // The number of elements: the product of the sizes; 1 for rank 0.
  std::int64_t numel() const {
    std::int64_t n = 1;
    for (int d = 0; d < rank_; ++d) n *= (*this)[d];
    return n;
  }

  void push_back(std::int64_t size) { insert(rank_, size); }
  void insert(int dim, std::int64_t size);  // before position dim, 0 <= dim <= rank
  void erase(int dim);                      // 0 <= dim < rank

  bool operator==(const Shape& other) const {
    if (rank_ != other.rank_) return false;
    for (int d = 0; d < rank_; ++d)
      if ((*this)[d] != other[d]) return false;
    return true;
  }

  std::string str() const;  // "(2, 3)", "(5,)", "()"

 private:
  void assign(const std::int64_t* sizes, std::size_t n);

  std::array<std::int64_t, max_rank> sizes_{};
  std::int32_t rank_ = 0;
};

using Strides = Shape;

// Row-major strides of a dense array of this shape.
Strides contiguous_strides(const Shape& shape);

// True if (shape, strides) visits memory in row-major order without gaps; sizes of 1 don't count.
bool is_contiguous(const Shape& shape, const Strides& strides);

// A dimension given as -rank .. rank-1 brought to 0 .. rank-1 (for rank 0, both 0 and -1 are 0).
// Error: names op, dim and the permitted range.
int wrap_dim(std::int64_t dim, int rank, const char* op);

// NumPy's broadcasting, aligned at the last dimension: sizes must agree or be 1.
// Error: both shapes, one under the other, with the offending dimension marked.
Shape broadcast_shapes(const Shape& a, const Shape& b, const char* op);
Shape broadcast_shapes(const Shape& a, const Shape& b, const char* op, const Caller& caller);

// Strides that read an array (shape, strides) as if it had the shape `to`: 0 where it is repeated.
// The caller has checked that shape broadcasts to `to`.
Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& to);

// True if an array of shape `from` can be expanded to `to`.
bool broadcasts_to(const Shape& from, const Shape& to);

}  // namespace labgrad
