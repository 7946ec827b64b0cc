#pragma once
// The specification: every primitive of engine/kernels.h as the plain loop of its formula.
// Complete, serial, never fast. The other devices are tested against it and fall back to it;
// `--device naive` runs a whole lab on it.

#include "engine/kernels.h"

namespace labgrad {

class Naive : public Kernels {
 public:
  // map.cpp
  void fill(const Array& out, double value) const override;
  void fill_i64(const Array& out, std::int64_t value) const override;
  void copy(const Array& out, const Array& in) const override;
  void map(Unary f, const Array& out, const Array& x) const override;
  void zip(Binary f, const Array& out, const Array& x, const Array& y) const override;
  void where(const Array& out, const Array& condition, const Array& x,
             const Array& y) const override;
  void clamp(const Array& out, const Array& x, double lo, double hi) const override;

  // reduce.cpp
  void reduce(Reduction f, const Array& out, const Array& x) const override;
  void arg_reduce(bool largest, const Array& values, const Array& indices, const Array& x,
                  int dim) const override;
  void cumsum(const Array& out, const Array& x, int dim, bool reverse) const override;

  // gemm.cpp
  void gemm(const Array& c, const Array& a, const Array& b, bool accumulate) const override;

  // rows.cpp
  void softmax(const Array& y, const Array& x, int dim, bool log) const override;
  void softmax_backward(const Array& dx, const Array& y, const Array& dy, int dim,
                        bool log) const override;
  void log_sum_exp(const Array& z, const Array& x, int dim) const override;
  void cross_entropy_backward(const Array& dx, const Array& x, const Array& z, const Array& target,
                              const Array& s, int dim) const override;
  void layer_norm(const Array& y, const Array& mean, const Array& rstd, const Array& x,
                  const Array& w, const Array& b, double eps) const override;
  void layer_norm_backward(const Array& dx, const Array& dw, const Array& db, const Array& dy,
                           const Array& x, const Array& mean, const Array& rstd,
                           const Array& w) const override;

  // conv.cpp
  void conv2d(const Array& y, const Array& x, const Array& w, const Convolution& c) const override;
  void conv2d_input_gradient(const Array& dx, const Array& dy, const Array& w,
                             const Convolution& c) const override;
  void conv2d_weight_gradient(const Array& dw, const Array& x, const Array& dy,
                              const Convolution& c) const override;

  // pool.cpp
  void max_pool2d(const Array& y, const Array& indices, const Array& x,
                  const Pooling& p) const override;
  void max_pool2d_backward(const Array& dx, const Array& dy, const Array& indices,
                           const Pooling& p) const override;
  void avg_pool2d(const Array& y, const Array& x, const Pooling& p,
                  bool count_padding) const override;
  void avg_pool2d_backward(const Array& dx, const Array& dy, const Pooling& p,
                           bool count_padding) const override;

  // batch_norm.cpp
  void channel_moments(const Array& mean, const Array& variance, const Array& x) const override;
  void batch_norm(const Array& y, const Array& x, const Array& mean, const Array& rstd,
                  const Array& w, const Array& b) const override;
  void batch_norm_backward(const Array& dx, const Array& dw, const Array& db, const Array& dy,
                           const Array& x, const Array& mean, const Array& rstd,
                           const Array& w) const override;

  // norm_relu_pool.cpp
  void norm_relu_pool(const Array& y, const Array& x, const Array& mean, const Array& rstd,
                      const Array& w, const Array& b, Plane window) const override;
  void norm_relu_pool_backward(const Array& dx, const Array& dw, const Array& db, const Array& dy,
                               const Array& x, const Array& mean, const Array& rstd, const Array& w,
                               const Array& b, Plane window, bool of_batch) const override;

  // attention.cpp
  void additive_scores(const Array& e, const Array& q, const Array& k,
                       const Array& v) const override;
  void additive_scores_backward(const Array& dq, const Array& dk, const Array& dv, const Array& de,
                                const Array& q, const Array& k, const Array& v) const override;

  // recurrent.cpp
  void gru_step(const Array& y, const Array& gates, const Array& xs, const Array& u, const Array& b,
                const Array& h, const Array& real) const override;
  void gru_step_backward(const Array& dxs, const Array& du, const Array& dh, const Array& dy,
                         const Array& gates, const Array& h) const override;

  // index.cpp
  void gather(const Array& out, const Array& x, const Array& index, int dim) const override;
  void scatter_add(const Array& out, const Array& index, const Array& src, int dim) const override;
  void index_select(const Array& out, const Array& x, const Array& index, int dim) const override;
  void index_add(const Array& out, const Array& index, const Array& src, int dim) const override;
  void sort(const Array& values, const Array& indices, const Array& x, int dim,
            bool descending) const override;

  // random.cpp
  void dropout_mask(const Array& mask, std::uint64_t key, double p) const override;

  // optim.cpp
  void sgd_step(const Array& weight, const Array& grad, const Array& buffer,
                const SgdStep& s) const override;
  void adam_step(const Array& weight, const Array& grad, const Array& m, const Array& v,
                 const AdamStep& s) const override;
};

}  // namespace labgrad
