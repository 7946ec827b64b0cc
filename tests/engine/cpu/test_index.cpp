#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "engine/cpu/threads.h"
#include "engine/kernels.h"
#include "tests/engine/arrays.h"

using namespace labgrad;
using namespace labgrad::test;

namespace {

const Kernels& fast() { return kernels(Device::cpu); }
const Kernels& specified() { return kernels(Device::naive); }

}  // namespace

TEST_CASE("gather, scatter_add, index_select, index_add: any layout, exact") {
  Generator random(1);
  for (DType dtype : {f32, f64, i64, boolean})
    for (int round = 0; round < 150; ++round) {
      const int rank = static_cast<int>(any_of(random, 1, 4));
      const int dim = static_cast<int>(any_of(random, 0, rank - 1));
      Shape shape, index_shape;
      for (int d = 0; d < rank; ++d) {
        shape.push_back(any_of(random, 1, 12));
        index_shape.push_back(d == dim ? any_of(random, 0, 12) : shape[d]);
      }
      const std::int64_t size = shape[dim], count = index_shape[dim];
      INFO(name_of(dtype) << shape.str() << " dim " << dim << " indices " << count);
      const bool plain = round % 2 == 0;
      auto layout = [&](bool input) { return plain ? Layout{} : any_layout(random, rank, input); };

      Buffer x(dtype, shape, layout(true));
      fill_whole(random, x.array, -9, 9);
      Buffer index(i64, index_shape, layout(true)), list(i64, {count}, {.step = plain ? 1 : 2});
      fill_whole(random, index.array, 0, size - 1);
      fill_whole(random, list.array, 0, size - 1);

      for (bool rows : {false, true}) {
        Buffer out(dtype, index_shape, layout(false)), expected(dtype, index_shape);
        for (const Kernels* k : {&fast(), &specified()}) {
          const Array& to = k == &fast() ? out.array : expected.array;
          if (rows)
            k->index_select(to, x.array, list.array, dim);
          else
            k->gather(to, x.array, index.array, dim);
        }
        CHECK(difference(out.array, expected.array) == "");
        CHECK(out.intact());

        Buffer source(dtype, index_shape, layout(true));
        fill_whole(random, source.array, -9, 9);
        Buffer sum(dtype, shape, layout(false)), sum2(dtype, shape);
        fill_whole(random, sum2.array, -9, 9);
        specified().copy(sum.array, sum2.array);
        for (const Kernels* k : {&fast(), &specified()}) {
          const Array& to = k == &fast() ? sum.array : sum2.array;
          if (rows)
            k->index_add(to, list.array, source.array, dim);
          else
            k->scatter_add(to, index.array, source.array, dim);
        }
        CHECK(difference(sum.array, sum2.array) == "");
        CHECK(sum.intact());
      }
    }
}

TEST_CASE("[threads] index_select: chunks that begin inside a stretch of the index") {
  const int before = num_threads();
  Generator random(3);
  Buffer x(f32, {4, 30, 300}), list(i64, {50});  // 109 rows of 300 make a chunk
  fill_normal(random, x.array);
  fill_whole(random, list.array, 0, 29);
  Buffer expected(f32, {4, 50, 300});
  specified().index_select(expected.array, x.array, list.array, 1);
  for (int threads : {1, 2, 3}) {
    set_num_threads(threads);
    Buffer out(f32, {4, 50, 300});
    fast().index_select(out.array, x.array, list.array, 1);
    CHECK(difference(out.array, expected.array) == "");
  }
  set_num_threads(before);
}

TEST_CASE("[threads] index_add: additions to one row keep their order") {
  const int before = num_threads();
  Generator random(2);
  Buffer source(f32, {4000, 100}), list(i64, {4000});
  fill_normal(random, source.array);
  fill_whole(random, list.array, 0, 6);
  Buffer expected(f32, {7, 100});
  specified().fill(expected.array, 0);
  specified().index_add(expected.array, list.array, source.array, 0);
  for (int threads : {1, 2, 3}) {
    set_num_threads(threads);
    Buffer out(f32, {7, 100});
    fast().fill(out.array, 0);
    fast().index_add(out.array, list.array, source.array, 0);
    CHECK(difference(out.array, expected.array) == "");  // the specification adds in f32, too
  }
  set_num_threads(before);
}
