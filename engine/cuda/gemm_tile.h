#pragma once
// The product c_ij = Σ_k a_ik b_kj in tiles: the kernel behind gemm and behind the convolutions,
// which differ in where their elements lie.
//
// A block of threads computes a tile of c, `depth` terms of the sum at a time:
//
//             k ->            Each step copies depth columns of the tile's rows of a and depth rows
//          +-------+          of its columns of b to shared memory. A tile of 128 x 128 then does
//          | b     |          128 · 128 · depth multiply-adds for (128 + 128) depth elements
//          +-------+          loaded: 64 for each, where a thread on its own would do half a one.
//   +---+  +-------+          Memory gives a GPU some 2 to 16 bytes in the time of 100 multiply-
//   | a |  | c     |          adds: this is what makes the product faster than its loads.
//   +---+  +-------+
//
// Within the tile each thread computes m x n elements in registers, for 8 x 8 from 8 + 8 elements
// of shared memory for each k: 4 multiply-adds an element, since shared memory gives a warp one
// word a lane in the time of about four multiply-adds. While a step is computed the next one's
// elements are on their way to registers, and from there to the other half of shared memory: one
// barrier a step. docs/gemm_ladder.md comes to this kernel step by step.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "engine/cpu/threads.h"
#include "engine/cuda/layout.h"
#include "engine/cuda/platform.h"
#include "engine/cuda/workspace.h"

namespace labgrad::tiled {

// Sizes of a tile and of a thread's share of it.
template <class T_, int rows_, int columns_, int depth_, int m_, int n_>
struct Tiling {
  using T = T_;
  static constexpr int rows = rows_, columns = columns_, depth = depth_, m = m_, n = n_;
  static constexpr int across = columns / n;  // threads side by side
  static constexpr int threads = rows / m * across;

  // A thread's rows lie in groups of four, so that it reads four neighbours of shared memory at
  // once, and the groups as far apart as they can: then the threads side by side read neighbours,
  // which lie in different banks. Likewise its columns.
  static constexpr int group = 4;
  __device__ static int row(int thread, int i) {
    constexpr int apart = rows / (m / group);
    return i / group * apart + thread / across * group + i % group;
  }
  __device__ static int column(int thread, int j) {
    constexpr int apart = columns / (n / group);
    return j / group * apart + thread % across * group + j % group;
  }
};

// What a product takes and gives. An operand says where its elements lie in two halves: outer(i),
// once for a row of a (a column of b), and inner(k). Elements come one by one, or `packed`: 16
// bytes along the direction in which they are neighbours, k if along_inner, else i.
template <class T>
struct Matrix {
  struct Place {
    std::int64_t offset;
  };
  Memory<T> memory;
  std::int64_t outer_stride = 0, inner_stride = 0;
  bool along_inner = false, packed = false;

  __device__ Place outer(std::int64_t i) const { return {i * outer_stride}; }
  __device__ Place inner(std::int64_t k) const { return {k * inner_stride}; }
  __device__ T at(Place i, Place k) const { return memory[i.offset + k.offset]; }
  __device__ auto pack(Place i, Place k) const { return memory.pack(i.offset + k.offset); }
};

// The sizes of a number of products, c (rows, columns) = a (rows, depth) b (depth, columns), and
// how far apart in memory their c, a and b begin.
struct Sizes {
  std::int64_t rows, columns, depth;
  Layout<3> batches;
  bool accumulate;
};

// Brings one operand's elements of a step, `side` rows (or columns) by S::depth, to the thread's
// registers and then to shared memory, where element (i, k) lies at tile(k, i). Neighbouring
// threads take neighbours in memory. What lies outside is 0.
template <class S, class Operand, int side>
class Loader {
 public:
  using T = typename S::T;
  static constexpr int lanes = Pack<T>::lanes;
  static constexpr int elements = side * S::depth / S::threads;  // for each thread
  static_assert(elements % lanes == 0 && S::threads % S::depth == 0);

  __device__ Loader(const Operand& from, std::int64_t first, std::int64_t size, std::int64_t offset)
      : from_(from), first_(first), size_(size) {
    if (from_.packed)
      find<lanes>(offset);
    else
      find<1>(offset);
  }

  __device__ void fetch(std::int64_t k, std::int64_t end) {
    if (from_.packed)
      fetch_by<lanes>(k, end);
    else
      fetch_by<1>(k, end);
  }

  template <class Tile>
  __device__ void store(Tile& tile, int half) const {
    if (from_.packed)
      store_by<lanes>(tile, half);
    else
      store_by<1>(tile, half);
  }

 private:
  struct Position {
    int i, k;
  };
  // Where in the step the thread's s-th element (or pack of elements) lies.
  template <int width>
  __device__ Position position(int s) const {
    const int unit = static_cast<int>(threadIdx.x) + s * S::threads;
    if (from_.along_inner) return {unit / (S::depth / width), unit % (S::depth / width) * width};
    return {unit % (side / width) * width, unit / (side / width)};
  }

  template <int width>
  __device__ void find(std::int64_t offset) {
    for (int s = 0; s < elements / width; ++s) {
      const std::int64_t i = first_ + position<width>(s).i;
      if (i < size_) place_[s] = from_.outer(i);
      place_[s].offset += offset;
    }
  }

  template <int width>
  __device__ void fetch_by(std::int64_t k, std::int64_t end) {
    for (int s = 0; s < elements / width; ++s) {
      const Position at = position<width>(s);
      const bool inside = first_ + at.i < size_ && k + at.k < end;
      if constexpr (width == 1) {
        value_[s] = inside ? from_.at(place_[s], from_.inner(k + at.k)) : T(0);
      } else {
        Pack<T> pack{};
        if (inside) pack = from_.pack(place_[s], from_.inner(k + at.k));
        for (int l = 0; l < width; ++l) value_[s * width + l] = pack.lane[l];
      }
    }
  }

  template <int width, class Tile>
  __device__ void store_by(Tile& tile, int half) const {
    for (int s = 0; s < elements / width; ++s) {
      const Position at = position<width>(s);
      for (int l = 0; l < width; ++l) {
        const bool down = from_.along_inner;
        tile(half * S::depth + at.k + (down ? l : 0), at.i + (down ? 0 : l)) =
            value_[s * width + l];
      }
    }
  }

  const Operand& from_;
  std::int64_t first_, size_;
  typename Operand::Place place_[elements] = {};
  T value_[elements];
};

// One block: tile blockIdx.x (of all products, one after the other), terms chunk · blockIdx.y and
// on. If there are several chunks, their sums go to `partial` (chunk, product, row, column).
template <class S, class A, class B, class C>
__global__ void product_kernel(C c, A a, B b, Memory<typename S::T> partial, Sizes size,
                               std::int64_t chunk) {
  using T = typename S::T;
  constexpr int depth = S::depth;
  // 4 columns more than needed: a warp that writes along k then meets different banks.
  shared_array(T, tile_a, 2 * depth, S::rows + 4);
  shared_array(T, tile_b, 2 * depth, S::columns + 4);

  const std::int64_t across = (size.columns + S::columns - 1) / S::columns;
  const std::int64_t tiles = across * ((size.rows + S::rows - 1) / S::rows);
  const std::int64_t batch = blockIdx.x / tiles, tile = blockIdx.x % tiles;
  const std::int64_t row = tile / across * S::rows, column = tile % across * S::columns;
  const Offsets<3> begins = size.batches[batch];
  const std::int64_t begin = blockIdx.y * chunk;
  const std::int64_t end = begin + chunk < size.depth ? begin + chunk : size.depth;

  const int thread = static_cast<int>(threadIdx.x);
  const bool idle =
      row + S::row(thread, 0) >= size.rows || column + S::column(thread, 0) >= size.columns;
  T sum[S::m][S::n] = {};
  const auto add_term = [&](int at) {
    T x[S::m], y[S::n];
    for (int i = 0; i < S::m; ++i) x[i] = tile_a(at, S::row(thread, i));
    for (int j = 0; j < S::n; ++j) y[j] = tile_b(at, S::column(thread, j));
    for (int i = 0; i < S::m; ++i)
      for (int j = 0; j < S::n; ++j) sum[i][j] += x[i] * y[j];
  };

  Loader<S, A, S::rows> load_a(a, row, size.rows, begins.at[1]);
  Loader<S, B, S::columns> load_b(b, column, size.columns, begins.at[2]);
  load_a.fetch(begin, end);
  load_b.fetch(begin, end);
  load_a.store(tile_a, 0);
  load_b.store(tile_b, 0);
  __syncthreads();
  int half = 0;
  for (std::int64_t k = begin; k < end; k += depth) {
    const bool more = k + depth < end;
    if (more) {
      load_a.fetch(k + depth, end);
      load_b.fetch(k + depth, end);
    }
    if (!idle) {
      if (k + depth <= end)
        for (int t = 0; t < depth; ++t) add_term(half * depth + t);
      else
        for (int t = 0; t < static_cast<int>(end - k); ++t) add_term(half * depth + t);
    }
    half = 1 - half;
    if (more) {
      load_a.store(tile_a, half);
      load_b.store(tile_b, half);
    }
    __syncthreads();
  }

  // The elements of c, or of its share of this chunk.
  const auto store = [&](auto&& at) {
    for (int i = 0; i < S::m; ++i)
      for (int j = 0; j < S::n; ++j) {
        const std::int64_t r = row + S::row(thread, i), s = column + S::column(thread, j);
        if (r < size.rows && s < size.columns) at(r, s, i, j);
      }
  };
  if (partial) {
    const std::int64_t product = blockIdx.y * size.batches.numel + batch;
    store([&](std::int64_t r, std::int64_t s, int i, int j) {
      partial[(product * size.rows + r) * size.columns + s] = sum[i][j];
    });
  } else {
    typename C::Place to_row[S::m], to_column[S::n];
    for (int i = 0; i < S::m; ++i) to_row[i] = c.outer(row + S::row(thread, i));
    for (int j = 0; j < S::n; ++j) to_column[j] = c.inner(column + S::column(thread, j));
    store([&](std::int64_t, std::int64_t, int i, int j) {
      T& to = c.memory[begins.at[0] + to_row[i].offset + to_column[j].offset];
      to = size.accumulate ? to + sum[i][j] : sum[i][j];
    });
  }
}

// c_ij = Σ over the chunks, in their order
template <class T, class C>
__global__ void add_chunks_kernel(C c, Memory<const T> partial, Sizes size, std::int64_t chunks) {
  const std::int64_t in_product = size.rows * size.columns;
  const std::int64_t n = size.batches.numel * in_product;
  for (std::int64_t i = first_index(); i < n; i += index_step()) {
    double sum = 0;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sum += partial[chunk * n + i];
    const std::int64_t batch = i / in_product, r = i % in_product / size.columns;
    T& to =
        c.memory[size.batches[batch].at[0] + c.outer(r).offset + c.inner(i % size.columns).offset];
    to = static_cast<T>(size.accumulate ? to + sum : sum);
  }
}

// ---- which tiles, how many blocks ----

// The number of results of all products.
inline std::int64_t results(const Sizes& size) {
  return size.batches.numel * size.rows * size.columns;
}

// So few terms, and in all so few multiply-adds, that tiles are not worth their barriers.
inline bool is_small(const Sizes& size) {
  return size.depth <= 64 && results(size) * size.depth <= (1 << 18);
}

// As many blocks as are good for a large GPU, which has more than a hundred multiprocessors.
inline constexpr std::int64_t enough_blocks = 128;

// How many terms of its sum a block adds. Long sums for few results are divided, so that there are
// enough blocks; where they are divided follows from how many results there are, and not from how
// they lie, so that the layout of an operand changes no bit.
inline std::int64_t chunk_length(const Sizes& size) {
  constexpr std::int64_t shortest = 512, step = 16;  // a multiple of each tiling's depth
  const std::int64_t chunks = std::clamp<std::int64_t>(
      enough_blocks * 64 * 64 / results(size), 1, std::max<std::int64_t>(1, size.depth / shortest));
  return std::max(step, divide_up(divide_up(size.depth, chunks), step) * step);
}

template <class S, class A, class B, class C>
void multiply_tiled(const char* name, const Sizes& size, const C& c, const A& a, const B& b) {
  using T = typename S::T;
  const std::int64_t tiles =
      divide_up(size.rows, S::rows) * divide_up(size.columns, S::columns) * size.batches.numel;
  const std::int64_t chunk = chunk_length(size);
  const std::int64_t chunks = std::max<std::int64_t>(1, divide_up(size.depth, chunk));
  const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(chunks));
  if (chunks == 1) {
    launch(name, product_kernel<S, A, B, C>, grid, S::threads, c, a, b, Memory<T>(), size, chunk);
    return;
  }
  const Workspace workspace({chunks, results(size)}, dtype_of<T>);
  const Array& partial = workspace.array();
  launch(name, product_kernel<S, A, B, C>, grid, S::threads, c, a, b, Memory<T>(partial, "partial"),
         size, chunk);
  launch("add chunks", add_chunks_kernel<T, C>, grid_of(results(size)), block_size, c,
         Memory<const T>(partial, "partial"), size, chunks);
}

// By the largest tiles that make enough blocks and are not half empty.
template <class T, class A, class B, class C>
void multiply(const char* name, const Sizes& size, const C& c, const A& a, const B& b) {
  if (results(size) == 0) return;
  const std::int64_t chunks = divide_up(size.depth, chunk_length(size));
  const auto suits = [&](int side) {
    const std::int64_t tiles =
        divide_up(size.rows, side) * divide_up(size.columns, side) * size.batches.numel;
    return std::min(size.rows, size.columns) > side / 2 && tiles * chunks >= enough_blocks;
  };
  if constexpr (std::is_same_v<T, float>)
    if (suits(128)) return multiply_tiled<Tiling<T, 128, 128, 8, 8, 8>>(name, size, c, a, b);
  if (suits(64))
    multiply_tiled<Tiling<T, 64, 64, 8, 8, 4>>(name, size, c, a, b);
  else
    multiply_tiled<Tiling<T, 32, 32, 16, 4, 4>>(name, size, c, a, b);
}

}  // namespace labgrad::tiled
