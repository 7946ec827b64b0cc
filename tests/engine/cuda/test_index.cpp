// Reading and adding at indices, and the optimisers, on a device against the specification.

#include <doctest/doctest.h>

#include <cstdint>

#include "engine/kernels.h"
#include "tests/engine/cuda/arrays.h"

using namespace labgrad;
using namespace labgrad::test;
using namespace labgrad::tests;

namespace {}  // namespace

TEST_CASE("cuda gather, scatter_add, index_select, index_add: any layout, exact") {
  const auto device = accelerator_device();
  if (!device) return;
  const Kernels& fast = kernels(*device);
  Generator random(1);
  for (DType dtype : {f32, f64, i64, boolean})
    for (int round = 0; round < 40; ++round) {
      const int rank = static_cast<int>(any_of(random, 1, 4));
      const int dim = static_cast<int>(any_of(random, 0, rank - 1));
      Shape shape, index_shape;
      for (int d = 0; d < rank; ++d) {
        shape.push_back(any_of(random, 1, 9));
        index_shape.push_back(d == dim ? any_of(random, 0, 40) : shape[d]);
      }
      CAPTURE(name_of(dtype));
      CAPTURE(shape.str());
      CAPTURE(index_shape.str());
      CAPTURE(dim);
      auto input = [&](DType t, const Shape& s, auto fill) {
        return Input(*device, t, s, any_layout(random, s.rank(), true), fill);
      };
      const std::int64_t last = shape[dim] - 1;
      const Input x = input(dtype, shape, whole(random, -9, 9));
      const Input index = input(i64, index_shape, whole(random, 0, last));
      const Input list = input(i64, {index_shape[dim]}, whole(random, 0, last));
      const Input source = input(dtype, index_shape, whole(random, -9, 9));

      Output gathered(*device, dtype, index_shape, any_layout(random, rank, false));
      Output selected(*device, dtype, index_shape, any_layout(random, rank, false));
      Output scattered(*device, dtype, shape, any_layout(random, rank, false));
      Output added(*device, dtype, shape, any_layout(random, rank, false));
      Buffer g(dtype, index_shape), s(dtype, index_shape), c(dtype, shape), a(dtype, shape);
      specified().gather(g.array, x.host(), index.host(), dim);
      specified().index_select(s.array, x.host(), list.host(), dim);
      specified().copy(c.array, x.host());
      specified().scatter_add(c.array, index.host(), source.host(), dim);
      specified().copy(a.array, x.host());
      specified().index_add(a.array, list.host(), source.host(), dim);
      each_schedule([&] {
        fast.gather(gathered.device(), x.device(), index.device(), dim);
        CHECK(gathered.difference(g.array) == "");
        fast.index_select(selected.device(), x.device(), list.device(), dim);
        CHECK(selected.difference(s.array) == "");
        fast.copy(scattered.device(), x.device());
        fast.scatter_add(scattered.device(), index.device(), source.device(), dim);
        CHECK(scattered.difference(c.array) == "");
        fast.copy(added.device(), x.device());
        fast.index_add(added.device(), list.device(), source.device(), dim);
        CHECK(added.difference(a.array) == "");
      });
    }
}

TEST_CASE("cuda index_add: additions to one row keep their order") {
  const auto device = accelerator_device();
  if (!device) return;
  Generator random(2);
  const Input source(*device, f32, {500, 3}, {}, normal(random));
  const Input list(*device, i64, {500}, {}, whole(random, 0, 2));
  Output out(*device, f32, {3, 3});
  Buffer expected(f32, {3, 3});
  specified().fill(expected.array, 0);
  specified().index_add(expected.array, list.host(), source.host(), 0);
  each_schedule([&] {
    kernels(*device).fill(out.device(), 0);
    kernels(*device).index_add(out.device(), list.device(), source.device(), 0);
    CHECK(out.difference(expected.array) == "");
  });
}

TEST_CASE("cuda sgd_step and adam_step: every option, three steps") {
  const auto device = accelerator_device();
  if (!device) return;
  const Kernels& fast = kernels(*device);
  Generator random(3);
  for (DType dtype : {f32, f64})
    for (std::int64_t n : {1, 31, 1000}) {
      const double close = dtype == f32 ? 1e-6 : 1e-14;
      const Input w(*device, dtype, {n}, {}, normal(random)),
          g(*device, dtype, {n}, {}, normal(random));
      // Runs the three steps on both and compares weights and state.
      auto compare = [&](auto step) {
        Output weight(*device, dtype, {n}), first(*device, dtype, {n}), second(*device, dtype, {n});
        Buffer w0(dtype, {n}), a(dtype, {n}), b(dtype, {n});
        specified().copy(w0.array, w.host());
        specified().fill(a.array, 0);
        specified().fill(b.array, 0);
        fast.copy(weight.device(), w.device());
        fast.fill(first.device(), 0);
        fast.fill(second.device(), 0);
        for (int t = 1; t <= 3; ++t) {
          step(specified(), t, w0.array, g.host(), a.array, b.array);
          step(fast, t, weight.device(), g.device(), first.device(), second.device());
        }
        CHECK(weight.difference(w0.array, close, close) == "");
        CHECK(first.difference(a.array, close, close) == "");
        CHECK(second.difference(b.array, close, close) == "");
      };
      for (bool nesterov : {false, true})
        compare([&](const Kernels& k, int t, const Array& weight, const Array& grad,
                    const Array& buffer, const Array&) {
          k.sgd_step(weight, grad, buffer,
                     {.lr = 0.1,
                      .momentum = 0.9,
                      .dampening = nesterov ? 0 : 0.2,
                      .weight_decay = 0.01,
                      .nesterov = nesterov,
                      .first = t == 1});
        });
      compare([&](const Kernels& k, int, const Array& weight, const Array& grad, const Array&,
                  const Array&) {
        k.sgd_step(weight, grad, {},
                   {.lr = 0.1,
                    .momentum = 0,
                    .dampening = 0,
                    .weight_decay = 0.01,
                    .nesterov = false,
                    .first = false});
      });
      for (bool decoupled : {false, true})
        compare([&](const Kernels& k, int t, const Array& weight, const Array& grad, const Array& m,
                    const Array& v) {
          k.adam_step(weight, grad, m, v,
                      {.lr = 0.01,
                       .beta1 = 0.9,
                       .beta2 = 0.999,
                       .eps = 1e-8,
                       .weight_decay = 0.1,
                       .decoupled = decoupled,
                       .t = t});
        });
    }
}
