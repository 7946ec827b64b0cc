// Gradients that several rows of a batch add to: the sums must not depend on who adds when.

#include <doctest/doctest.h>

#include "engine/cpu/threads.h"
#include "engine/engine.h"
#include "tests/check_close.h"

using namespace labgrad;
using tests::bit_difference;

// The backward passes of layer norm and embedding added into shared rows from several threads at
// once, so that the sums changed from run to run.
TEST_CASE("[threads] layer_norm, embedding, linear: gradients have the same bits for 1, 2, 8") {
  const int before = num_threads();
  for (DType dtype : {f32, f64}) {
    Generator g(1);
    const TensorOptions o{.dtype = dtype, .requires_grad = true};
    const Tensor table = randn({50, 96}, g, o), gain = randn({96}, g, o), shift = randn({96}, g, o);
    const Tensor W = randn({40, 96}, g, o), b = randn({40}, g, o);
    const Tensor ids = randint(0, 50, {16, 64}, g);  // each row some twenty times
    const Tensor dy = randn({16, 64, 40}, g, {.dtype = dtype});
    const auto gradients = [&](int threads) {
      set_num_threads(threads);
      const Tensor y = linear(layer_norm(embedding(table, ids), {96}, gain, shift), W, b);
      Tensors all = grad({y, sum(y)}, {table, gain, shift, W, b}, {dy, Tensor()});
      all.push_back(y.detach());
      return all;
    };
    const Tensors alone = gradients(1);
    for (int threads : {2, 8, 8})
      for (std::size_t i = 0; const Tensor& got : gradients(threads)) {
        CAPTURE(threads);
        CAPTURE(i);
        CHECK(bit_difference(got, alone[i++]) == "");
      }
  }
  set_num_threads(before);
}
