// Elementwise functions, reductions, rows, indices and optimiser steps.

#include <cstdint>

#include "engine/create.h"
#include "tests/bench/bench.h"

namespace labgrad::bench {

namespace {

const Kernels& cpu() { return kernels(Device::cpu); }

void elementwise(Bench& bench) {
  for (const auto& size_row :
       {std::pair{" 64", std::int64_t{64}}, std::pair{" 16k", std::int64_t{16} << 10},
        std::pair{" 4M", std::int64_t{4} << 20}}) {
    const std::string label = size_row.first;
    const std::int64_t n = size_row.second;
    const Tensor x = noise({n}), y = noise({n});
    Tensor z = zeros({n}), mask = zeros({n}, {.dtype = boolean});
    const double size = 4 * double(n);
    auto unary = [&](const char* name, Unary f) {
      bench.row(name + label, {0, 2 * size}, [&] { cpu().map(f, z.array(), x.array()); });
    };
    auto binary = [&](const char* name, Binary f) {
      bench.row(name + label, {0, 3 * size},
                [&] { cpu().zip(f, z.array(), x.array(), y.array()); });
    };
    binary("add", Binary::add);
    binary("div", Binary::div);
    unary("relu", Unary::relu);
    unary("exp", Unary::exp);
    unary("log", Unary::log);
    unary("tanh", Unary::tanh);
    unary("sigmoid", Unary::sigmoid);
    unary("gelu", Unary::gelu);
    bench.row("compare" + std::string(label), {0, 2 * size + double(n)},
              [&] { cpu().zip(Binary::lt, mask.array(), x.array(), y.array()); });
  }
  const Tensor x = noise({2000, 500}), row = noise({1, 500});
  Tensor y = zeros({500, 2000}), z = zeros({2000, 500});
  bench.row("add row 2000x500", {0, 8e6}, [&] {
    cpu().zip(Binary::add, z.array(), x.array(), row.array().expanded({2000, 500}));
  });
  Array turned = x.array();
  std::swap(turned.shape[0], turned.shape[1]);
  std::swap(turned.strides[0], turned.strides[1]);
  bench.row("copy transposed 2000x500", {0, 8e6}, [&] { cpu().copy(y.array(), turned); });
  bench.row("dropout_mask 1M", {0, 4e6}, [&] { cpu().dropout_mask(z.array(), 7, 0.1); });
}

void reductions(Bench& bench) {
  struct Case {
    const char* name;
    Shape from, to;
  };
  for (const Case& c : {Case{"sum 8x8", {8, 8}, {1, 1}}, Case{"sum 4M", {2048, 2048}, {1, 1}},
                        Case{"sum rows 2048x2048", {2048, 2048}, {2048, 1}},
                        Case{"sum columns 2048x2048", {2048, 2048}, {1, 2048}},
                        Case{"sum columns 2688x192", {2688, 192}, {1, 192}},
                        Case{"sum rows 5120x20", {5120, 20}, {5120, 1}},
                        Case{"sum middle 128x100x64", {128, 100, 64}, {128, 1, 64}}}) {
    const Tensor x = noise(c.from);
    Tensor y = zeros(c.to);
    bench.row(c.name, {0, 4 * double(x.numel())},
              [&] { cpu().reduce(Reduction::sum, y.array(), x.array()); });
  }
  const Tensor x = noise({2048, 2048});
  Tensor y = zeros({2048, 1}), at = zeros({2048, 1}, {.dtype = i64});
  bench.row("max rows 2048x2048", {0, 4 * double(x.numel())},
            [&] { cpu().reduce(Reduction::max, y.array(), x.array()); });
  bench.row("argmax rows 2048x2048", {0, 4 * double(x.numel())},
            [&] { cpu().arg_reduce(true, y.array(), at.array(), x.array(), 1); });
}

void rows(Bench& bench) {
  for (const Shape& shape : {Shape{128, 21}, Shape{5120, 20}, Shape{1280, 32}, Shape{1792, 5893}}) {
    const Tensor x = noise(shape), dy = noise(shape), w = noise({shape[1]}), b = noise({shape[1]});
    Tensor y = zeros(shape), dx = zeros(shape), mean = zeros({shape[0], 1}),
           rstd = zeros({shape[0], 1}), dw = zeros({shape[1]}), db = zeros({shape[1]});
    const double size = 4 * double(x.numel());
    const std::string at = " " + std::to_string(shape[0]) + "x" + std::to_string(shape[1]);
    bench.row("softmax" + at, {0, 2 * size},
              [&] { cpu().softmax(y.array(), x.array(), 1, false); });
    bench.row("log_softmax" + at, {0, 2 * size},
              [&] { cpu().softmax(y.array(), x.array(), 1, true); });
    bench.row("softmax_backward" + at, {0, 3 * size},
              [&] { cpu().softmax_backward(dx.array(), y.array(), dy.array(), 1, false); });
    bench.row("layer_norm" + at, {0, 2 * size}, [&] {
      cpu().layer_norm(y.array(), mean.array(), rstd.array(), x.array(), w.array(), b.array(),
                       1e-5);
    });
    bench.row("layer_norm_backward" + at, {0, 3 * size}, [&] {
      cpu().layer_norm_backward(dx.array(), dw.array(), db.array(), dy.array(), x.array(),
                                mean.array(), rstd.array(), w.array());
    });
  }
}

void indices(Bench& bench) {
  Generator random(1);
  const Tensor table = noise({7855, 64});
  Tensor at = zeros({1920}, {.dtype = i64}), out = zeros({1920, 64}), sum = zeros({7855, 64});
  random.random_ints(at.writable_span<std::int64_t>(), 0, 7855);
  const double size = 4 * 1920 * 64;
  bench.row("index_select 1920 of 7855x64", {0, 2 * size},
            [&] { cpu().index_select(out.array(), table.array(), at.array(), 0); });
  bench.row("index_add 1920 to 7855x64", {0, 3 * size},
            [&] { cpu().index_add(sum.array(), at.array(), out.array(), 0); });
}

void optimisers(Bench& bench) {
  for (const auto& [label, n] :
       {std::pair{" 4k", std::int64_t{4} << 10}, std::pair{" 4M", std::int64_t{4} << 20}}) {
    Tensor w = noise({n}), g = noise({n}), m = zeros({n}), v = ones({n});
    const AdamStep adam{.lr = 1e-6,
                        .beta1 = 0.9,
                        .beta2 = 0.999,
                        .eps = 1e-8,
                        .weight_decay = 0,
                        .decoupled = false,
                        .t = 10};
    const SgdStep sgd{.lr = 1e-6,
                      .momentum = 0.9,
                      .dampening = 0,
                      .weight_decay = 0,
                      .nesterov = false,
                      .first = false};
    bench.row("adam" + std::string(label), {0, 28 * double(n)},
              [&] { cpu().adam_step(w.array(), g.array(), m.array(), v.array(), adam); });
    bench.row("sgd momentum" + std::string(label), {0, 20 * double(n)},
              [&] { cpu().sgd_step(w.array(), g.array(), m.array(), sgd); });
  }
}

}  // namespace

void bench_kernels(Bench& bench) {
  elementwise(bench);
  reductions(bench);
  rows(bench);
  indices(bench);
  optimisers(bench);
}

}  // namespace labgrad::bench
