#pragma once
// The fast kernels of the host: vector code (vec.h) on all cores (threads.h). What is not
// overridden here falls back to the specification.

#include "engine/naive/naive.h"

namespace labgrad {

class Cpu : public Naive {
 public:
  // map.cpp, zip.cpp
  void map(Unary f, const Array& out, const Array& x) const override;
  void zip(Binary f, const Array& out, const Array& x, const Array& y) const override;
  void where(const Array& out, const Array& condition, const Array& x,
             const Array& y) const override;
  void clamp(const Array& out, const Array& x, double lo, double hi) const override;

  // copy.cpp
  void fill(const Array& out, double value) const override;
  void fill_i64(const Array& out, std::int64_t value) const override;
  void copy(const Array& out, const Array& in) const override;

  // random.cpp
  void dropout_mask(const Array& mask, std::uint64_t key, double p) const override;

  // gemm.cpp
  void gemm(const Array& c, const Array& a, const Array& b, bool accumulate) const override;
};

}  // namespace labgrad
