// Reductions over any dimensions.
//
// Where the elements of one result lie side by side, a warp takes a result: its lanes read
// neighbours. Where neighbours belong to different results, a thread takes one. A long reduction
// with few results is cut into pieces of a fixed size, whose values a second launch folds.

#include "engine/cuda/cuda.h"
#include "engine/cuda/layout.h"
#include "engine/cuda/warp.h"
#include "engine/cuda/workspace.h"
#include "engine/naive/formulas.h"
#include "engine/naive/walk.h"

namespace labgrad {

using namespace naive;

namespace {

constexpr std::int64_t piece = 4096;         // elements of a reduction that one worker takes
constexpr std::int64_t many_results = 1024;  // that keep a device busy without cutting

// What f32 is folded in: f64; what bool is folded in: int, which lanes can exchange.
template <class T>
using Folded = std::conditional_t<std::is_same_v<T, bool>, int, Wide<T>>;

struct Combine {
  Reduction f;
  template <class W>
  __device__ W operator()(W a, W b) const {
    return combine(f, a, b);
  }
};

// result_i = f over x_ij. `lanes` threads (1 or a warp) work for each result and piece of it.
// results: where they lie in out and where they begin in x; elements: of one result, in x.
template <class Out, class T, int lanes>
__global__ void reduce_kernel(Reduction f, Memory<Out> out, Memory<const T> x, Layout<2> results,
                              Layout<1> elements, std::int64_t pieces) {
  const std::int64_t lane = threadIdx.x % lanes;
  for (std::int64_t w = first_index() / lanes; w < results.numel * pieces;
       w += index_step() / lanes) {
    const std::int64_t i = w % results.numel, p = w / results.numel;
    const Offsets<2> at = results[i];
    const std::int64_t end =
        pieces == 1 || (p + 1) * piece > elements.numel ? elements.numel : (p + 1) * piece;
    auto total = identity<Folded<T>>(f);
    for (std::int64_t j = p * piece + lane; j < end; j += lanes)
      total = combine(f, total, static_cast<Folded<T>>(x[at.at[1] + elements[j].at[0]]));
    if constexpr (lanes > 1) total = warp_fold(total, Combine{f});
    // Pieces are left one after another, each with all results.
    if (lane == 0) out[pieces == 1 ? at.at[0] : w] = static_cast<Out>(total);
  }
}

template <class Out, class T>
void launch_reduce(Reduction f, const Array& out, const Array& x, const Layout<2>& results,
                   const Layout<1>& elements, std::int64_t pieces) {
  const Memory<Out> o(out, "out");
  const Memory<const T> a(x, "x");
  const std::int64_t workers = results.numel * pieces;
  const std::int64_t innermost = elements.stride[0][elements.rank - 1];
  if (elements.numel >= 16 && (innermost == 1 || workers < 32))
    launch("reduce", reduce_kernel<Out, T, warp_lanes>, grid_of(workers * warp_lanes), block_size,
           f, o, a, results, elements, pieces);
  else
    launch("reduce", reduce_kernel<Out, T, 1>, grid_of(workers, 64), 64, f, o, a, results, elements,
           pieces);
}

}  // namespace

// out_i = f over the x_j whose position agrees with i in the dimensions kept
void Cuda::reduce(Reduction f, const Array& out, const Array& x) const {
  Shape reduced = x.shape;
  for (int d = 0; d < x.shape.rank(); ++d)
    if (out.shape[d] == x.shape[d]) reduced[d] = 1;
  const Array first{x.data, x.dtype, out.shape, x.strides};  // of each result
  const Array of_one{x.data, x.dtype, reduced, x.strides};
  const Layout<2> results = any_order({&out, &first});
  const Layout<1> elements = any_order({&of_one});
  if (results.numel == 0) return;
  const std::int64_t pieces =
      results.numel >= many_results ? 1 : (elements.numel + piece - 1) / piece;
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (pieces <= 1) return launch_reduce<T, T>(f, out, x, results, elements, 1);
    const Workspace part({pieces, results.numel}, dtype_of<Wide<T>>);
    launch_reduce<Wide<T>, T>(f, part.array(), x, results, elements, pieces);
    Layout<2> folded = results;
    for (std::int64_t d = results.rank, step = 1; d-- > 0; step *= results.size[d])
      folded.stride[1][d] = step;
    Layout<1> of_pieces;
    of_pieces.numel = of_pieces.size[0] = pieces;
    of_pieces.stride[0][0] = results.numel;
    launch_reduce<T, Wide<T>>(f, out, part.array(), folded, of_pieces, 1);
  });
}

namespace {

// best = the first k at which x_k beats all before it; a NaN beats every number. A warp for each
// line: lane l looks at k = l, l + 32, ..., then the lanes compare what they found.
template <class T>
__global__ void arg_reduce_kernel(bool largest, Memory<T> values, Memory<std::int64_t> indices,
                                  Memory<const T> x, Layout<3> lines, std::int64_t n,
                                  std::int64_t step) {
  auto beats = [largest](T a, std::int64_t at, T b, std::int64_t bt) {
    if (is_nan(a) || is_nan(b)) return is_nan(a) && (!is_nan(b) || at < bt);
    return a == b ? at < bt : largest ? a > b : a < b;
  };
  const std::int64_t lane = threadIdx.x % warp_lanes;
  for (std::int64_t i = first_index() / warp_lanes; i < lines.numel;
       i += index_step() / warp_lanes) {
    const Offsets<3> at = lines[i];
    // A lane beyond a short line starts from the first element like lane 0: that one wins as well.
    std::int64_t best = lane < n ? lane : 0;
    Folded<T> value = x[at.at[2] + best * step];
    for (std::int64_t k = lane + warp_lanes; k < n; k += warp_lanes) {
      const T now = x[at.at[2] + k * step];
      if (!beats(now, k, static_cast<T>(value), best)) continue;
      value = now;
      best = k;
    }
    for (int mask = warp_lanes / 2; mask > 0; mask /= 2) {
      const Folded<T> other = __shfl_xor_sync(all_lanes, value, mask);
      const std::int64_t there = __shfl_xor_sync(all_lanes, best, mask);
      if (!beats(static_cast<T>(other), there, static_cast<T>(value), best)) continue;
      value = other;
      best = there;
    }
    if (lane != 0) continue;
    if (values) values[at.at[0]] = static_cast<T>(value);
    if (indices) indices[at.at[1]] = best;
  }
}

}  // namespace

void Cuda::arg_reduce(bool largest, const Array& values, const Array& indices, const Array& x,
                      int dim) const {
  const Strides none = Strides::filled(x.shape.rank(), 0);
  const Layout<3> lines = row_major(
      without(x.shape, dim),
      {values.data ? &values.strides : &none, indices.data ? &indices.strides : &none, &x.strides});
  if (lines.numel == 0) return;
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch("arg_reduce", arg_reduce_kernel<T>, grid_of(lines.numel * warp_lanes), block_size,
           largest, Memory<T>(values, "values"), Memory<std::int64_t>(indices, "indices"),
           Memory<const T>(x, "x"), lines, x.shape[dim], x.strides[dim]);
  });
}

}  // namespace labgrad
