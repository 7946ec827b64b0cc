// Rung 7: the library's kernel (engine/cuda/gemm_tile.h), with its largest tiles.
//
// The loads of the next step are under way while this one is computed: they go to registers before
// the arithmetic, and to the other half of a twice as large tile after it, so that one barrier a
// step does and nobody waits for memory. The kernel takes ragged edges, any strides, batches, and
// long sums in chunks for more blocks; the same kernel reads the patches of a convolution. All of
// that is decided before the loop, and costs it nothing.

#include "engine/cuda/gemm_ladder/ladder.h"
#include "engine/cuda/gemm_tile.h"

namespace labgrad::ladder {
namespace {

void multiply(const Array& c, const Array& a, const Array& b) {
  using tiled::Matrix;
  const std::int64_t M = c.shape[0], N = c.shape[1], K = a.shape[1];
  const tiled::Sizes size{M, N, K, {}, false};
  // Rows of c and a (i), columns of c and b (j); neighbours in memory are terms of a, columns of b.
  const Matrix<float> to{Memory<float>(c, "c"), N, 1};
  const Matrix<const float> rows{Memory<const float>(a, "a"), K, 1, true, true};
  const Matrix<const float> columns{Memory<const float>(b, "b"), 1, N, false, true};
  tiled::multiply_tiled<tiled::Tiling<float, 128, 128, 8, 8, 8>>("ladder 7, the library's", size,
                                                                 to, rows, columns);
}

const bool added = add({"7 the library's", multiply});

}  // namespace
}  // namespace labgrad::ladder
