#pragma once
// Dense rows as vectors: short ones are held in registers from the first load to the last store,
// long ones are walked over in full vectors.
//
// The end of a row that is no multiple of the lanes is read as the row's last L elements, of which
// the first `hidden` have been seen before and are replaced by a pad. No partial load or store is
// needed, which the vector types lack and which memory would make slow.

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "engine/cpu/vec.h"

namespace labgrad::cpu {

// What fills a row up where its exponentials are added: e^none = 0.
template <class T>
inline constexpr T none = -std::numeric_limits<T>::infinity();

// op over the lanes, by halves: always in the same order.
template <class V, class Op>
Lane<V> fold_lanes(V v, Op op) {
  constexpr int n = lanes_of<V>;
  if constexpr (n == 2) {
    return op(v[0], v[1]);
  } else {
    Vec<Lane<V>, n / 2> half[2];
    std::memcpy(half, &v, sizeof v);
    return fold_lanes(op(half[0], half[1]), op);
  }
}
template <class V>
Lane<V> sum_lanes(V v) {
  return fold_lanes(v, [](auto a, auto b) { return a + b; });
}
template <class V>
Lane<V> max_lanes(V v) {
  return fold_lanes(v, []<class W>(W a, W b) -> W {
    if constexpr (std::is_arithmetic_v<W>)
      return a > b || a != a ? a : b;
    else
      return max(a, b);
  });
}

// v with lanes i and i ^ distance exchanged.
template <int distance, class V>
V exchanged(V v) {
  return [v]<int... i>(std::integer_sequence<int, i...>)->V {
    return __builtin_shufflevector(v, v, (i ^ distance)...);
  }
  (std::make_integer_sequence<int, lanes_of<V>>{});
}
// In each group of 2 distance lanes all get the group's sum.
template <int distance, class V>
V sum_groups(V v) {
  if constexpr (distance == 0)
    return v;
  else
    return sum_groups<distance / 2>(v + exchanged<distance>(v));
}
// The sum of all lanes in each of them.
template <class V>
V sum_everywhere(V v) {
  return sum_groups<lanes_of<V> / 2>(v);
}
// The sum of a's lanes in each of the lower half, that of b's in the upper: hardly more work than
// one of the sums.
template <class V>
V sum_both(V a, V b) {
  constexpr int half = lanes_of<V> / 2;
  return [ a, b ]<int... i>(std::integer_sequence<int, i...>)->V {
    const V low = __builtin_shufflevector(a, b, (i < half ? i : i + half)...);
    const V high = __builtin_shufflevector(a, b, (i < half ? i + half : i + 2 * half)...);
    return sum_groups<half / 2>(low + high);
  }
  (std::make_integer_sequence<int, lanes_of<V>>{});
}

// v with its first `hidden` lanes replaced by the pad.
template <class V>
V hide(V v, std::int64_t hidden, Lane<V> pad) {
  using I = Lane<Mask<V>>;
  Mask<V> lane;
  for (int i = 0; i < lanes_of<V>; ++i) lane[i] = static_cast<I>(i);
  return select<V>(lane >= static_cast<I>(hidden), v, splat<V>(pad));
}

// ---- short rows: K vectors of L lanes, (K - 1) L < n <= K L ----
template <class T, int L, int K>
struct Row {
  using V = Vec<T, L>;
  V v[K];

  static Row load(const T* p, std::int64_t n, T pad) {
    Row row;
    if (K == 1 && n < L) {
      T part[L];
      store(part, splat<V>(pad));
      copy_part<L / 2>(part, p, n);
      row.v[0] = cpu::load<T, L>(part);
      return row;
    }
    for (int k = 0; k < K - 1; ++k) row.v[k] = cpu::load<T, L>(p + k * L);
    row.v[K - 1] = cpu::load<T, L>(p + n - L);
    return row.padded(n, pad);
  }
  // The last vector's lanes that don't count set to the pad. (For n < L these come last.)
  Row padded(std::int64_t n, T pad) const {
    Row row = *this;
    if (K == 1 && n < L)
      row.v[0] = select<V>(hide(splat<V>(T(0)), n, T(1)) == T(1), v[0], splat<V>(pad));
    else
      row.v[K - 1] = hide(v[K - 1], K * L - n, pad);
    return row;
  }
  // The last vector first: the others then overwrite what it stored in their place.
  void store_to(T* p, std::int64_t n) const {
    if (K == 1 && n < L) return store_part(p, v[0], n);
    store(p + n - L, v[K - 1]);
    for (int k = 0; k < K - 1; ++k) store(p + k * L, v[k]);
  }
  template <class F>
  Row map(F f) const {
    Row row;
    for (int k = 0; k < K; ++k) row.v[k] = f(v[k]);
    return row;
  }
  template <class F>
  Row zip(const Row& other, F f) const {
    Row row;
    for (int k = 0; k < K; ++k) row.v[k] = f(v[k], other.v[k]);
    return row;
  }
  // The sum of the vectors, and of all elements.
  V sum() const {
    V s = v[0];
    for (int k = 1; k < K; ++k) s += v[k];
    return s;
  }
  T total() const { return sum_lanes(sum()); }
  T largest() const {
    V m = v[0];
    for (int k = 1; k < K; ++k) m = max(m, v[k]);
    return max_lanes(m);
  }
};

template <class T>
inline constexpr std::int64_t short_row = 4 * lanes<T>;

// Calls f.template operator()<L, K>() with the shape for rows of n elements, 0 < n <= short_row.
template <class T, int L = lanes<T>, class F>
void with_row_shape(std::int64_t n, F&& f) {
  if constexpr (L * static_cast<int>(sizeof(T)) > 16) {
    if (n < L) return with_row_shape<T, L / 2>(n, f);
  }
  if (n <= L) return f.template operator()<L, 1>();
  if (n <= 2 * L) return f.template operator()<L, 2>();
  if (n <= 3 * L) return f.template operator()<L, 3>();
  f.template operator()<L, 4>();
}

// ---- long rows: n / lanes full vectors, and the end ----

// The end of a row, n >= lanes: its first lanes hidden by the pad. Nothing but pad if there is
// none.
template <class T>
Vec<T> load_end(const T* p, std::int64_t n, T pad) {
  return hide(load(p + n - lanes<T>), lanes<T> - n % lanes<T>, pad);
}
template <class T>
void store_end(T* p, std::int64_t n, Vec<T> v) {
  const std::int64_t hidden = lanes<T> - n % lanes<T>;
  const Vec<T> shown = hide(splat<Vec<T>>(T(0)), hidden, T(1));
  store(p + n - lanes<T>, select<Vec<T>>(shown == T(0), v, load(p + n - lanes<T>)));
}

// op over f(0), f(1), ... f(count - 1), in four chains.
template <class V, class Op, class F>
V fold_vectors(std::int64_t count, V start, Op op, F f) {
  V a = start, b = start, c = start, d = start;
  std::int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    a = op(a, f(k));
    b = op(b, f(k + 1));
    c = op(c, f(k + 2));
    d = op(d, f(k + 3));
  }
  for (; k < count; ++k) a = op(a, f(k));
  return op(op(a, b), op(c, d));
}
template <class T, class F>
Vec<T> sum_vectors(std::int64_t count, F f) {
  return fold_vectors(
      count, Vec<T>{}, [](Vec<T> a, Vec<T> b) { return a + b; }, f);
}

// The largest number of a row of `count` whole vectors and `end`.
template <class T>
T largest(const T* x, std::int64_t count, Vec<T> end) {
  using V = Vec<T>;
  return max_lanes(fold_vectors(
      count, end, [](V a, V b) { return max(a, b); },
      [&](auto k) { return load(x + k * lanes<T>); }));
}

}  // namespace labgrad::cpu
