#pragma once
// The kernels of engine/kernels.h in CUDA C++. nvcc compiles them for a GPU (Device::cuda), a C++
// compiler with simt.h for the emulator (Device::simt): the same source, one of the two in a build.

#include "engine/kernels.h"

namespace labgrad {

class Cuda final : public Kernels {
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

  // gemm.cu
  void gemm(const Array& c, const Array& a, const Array& b, bool accumulate) const override;

  // conv.cu
  void conv2d(const Array& y, const Array& x, const Array& w, const Convolution& v) const override;
  void conv2d_input_gradient(const Array& dx, const Array& dy, const Array& w,
                             const Convolution& v) const override;
  void conv2d_weight_gradient(const Array& dw, const Array& x, const Array& dy,
                              const Convolution& v) const override;

  // recurrent.cu
  void gru_step(const Array& y, const Array& gates, const Array& xs, const Array& u, const Array& b,
                const Array& h, const Array& real) const override;
  void gru_step_backward(const Array& dxs, const Array& du, const Array& dh, const Array& dy,
                         const Array& gates, const Array& h) const override;

  // attention.cu
  void additive_scores(const Array& e, const Array& q, const Array& k,
                       const Array& v) const override;
  void additive_scores_backward(const Array& dq, const Array& dk, const Array& dv, const Array& de,
                                const Array& q, const Array& k, const Array& v) const override;

  // softmax.cu
  void softmax(const Array& y, const Array& x, int dim, bool log) const override;
  void softmax_backward(const Array& dx, const Array& y, const Array& dy, int dim,
                        bool log) const override;

  // cross_entropy.cu
  void log_sum_exp(const Array& z, const Array& x, int dim) const override;
  void cross_entropy_backward(const Array& dx, const Array& x, const Array& z, const Array& target,
                              const Array& s, int dim) const override;

  // layer_norm.cu
  void layer_norm(const Array& y, const Array& mean, const Array& rstd, const Array& x,
                  const Array& w, const Array& b, double eps) const override;
  void layer_norm_backward(const Array& dx, const Array& dw, const Array& db, const Array& dy,
                           const Array& x, const Array& mean, const Array& rstd,
                           const Array& w) const override;

  // pool.cu
  void max_pool2d(const Array& y, const Array& indices, const Array& x,
                  const Pooling& p) const override;
  void max_pool2d_backward(const Array& dx, const Array& dy, const Array& indices,
                           const Pooling& p) const override;
  void avg_pool2d(const Array& y, const Array& x, const Pooling& p,
                  bool count_padding) const override;
  void avg_pool2d_backward(const Array& dx, const Array& dy, const Pooling& p,
                           bool count_padding) const override;

  // batch_norm.cu
  void channel_moments(const Array& mean, const Array& variance, const Array& x) const override;
  void batch_norm(const Array& y, const Array& x, const Array& mean, const Array& rstd,
                  const Array& w, const Array& b) const override;
  void batch_norm_backward(const Array& dx, const Array& dw, const Array& db, const Array& dy,
                           const Array& x, const Array& mean, const Array& rstd,
                           const Array& w) const override;

  // norm_relu_pool.cu
  void norm_relu_pool(const Array& y, const Array& x, const Array& mean, const Array& rstd,
                      const Array& w, const Array& b, Plane window) const override;
  void norm_relu_pool_backward(const Array& dx, const Array& dw, const Array& db, const Array& dy,
                               const Array& x, const Array& mean, const Array& rstd, const Array& w,
                               const Array& b, Plane window, bool of_batch) const override;

  // reduce.cu
  void reduce(Reduction f, const Array& out, const Array& x) const override;
  void arg_reduce(bool largest, const Array& values, const Array& indices, const Array& x,
                  int dim) const override;

  // order.cu
  void cumsum(const Array& out, const Array& x, int dim, bool reverse) const override;
  void sort(const Array& values, const Array& indices, const Array& x, int dim,
            bool descending) const override;

  // index.cu
  void gather(const Array& out, const Array& x, const Array& index, int dim) const override;
  void scatter_add(const Array& out, const Array& index, const Array& src, int dim) const override;
  void index_select(const Array& out, const Array& x, const Array& index, int dim) const override;
  void index_add(const Array& out, const Array& index, const Array& src, int dim) const override;

  // optim.cu
  void sgd_step(const Array& weight, const Array& grad, const Array& buffer,
                const SgdStep& s) const override;
  void adam_step(const Array& weight, const Array& grad, const Array& m, const Array& v,
                 const AdamStep& s) const override;
};

}  // namespace labgrad
