#pragma once
// The kernels of engine/kernels.h in CUDA C++. nvcc compiles them for a GPU (Device::cuda), a C++
// compiler with simt.h for the emulator (Device::simt): the same source, one of the two in a build.

#include "engine/naive/naive.h"

namespace labgrad {

class Cuda final : public Naive {
 public:
  // map.cu
  void fill(const Array& out, double value) const override;
  void fill_i64(const Array& out, std::int64_t value) const override;
  void copy(const Array& out, const Array& in) const override;
  void map(Unary f, const Array& out, const Array& x) const override;
  void zip(Binary f, const Array& out, const Array& x, const Array& y) const override;
  void where(const Array& out, const Array& condition, const Array& x,
             const Array& y) const override;
  void clamp(const Array& out, const Array& x, double lo, double hi) const override;
  void dropout_mask(const Array& mask, std::uint64_t key, double p) const override;
};

}  // namespace labgrad
