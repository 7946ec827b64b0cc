// Reductions. The dimensions fall into kept and reduced ones, each brought to the fewest loops:
//
//   rows     the innermost memory is reduced: each output is the reduction of dense runs
//   columns  the innermost memory is kept: a block of 256 outputs takes in one row after the other
//   else     runs with a stride
//
// Outputs are divided among threads. Where they are few and the elements many (the sum of all, the
// gradient of a bias), each reduction is cut into chunks of 32,768 elements, whose results are
// combined in order: the cut depends on the shape alone, so the bits don't depend on the threads.

#include <algorithm>
#include <cstdint>

#include "engine/cpu/cpu.h"
#include "engine/cpu/fold.h"
#include "engine/cpu/loops.h"
#include "engine/cpu/scratch.h"
#include "engine/cpu/threads.h"

namespace labgrad {

using namespace cpu;

namespace {

constexpr std::int64_t chunk = 32768;
constexpr std::int64_t block = 256;  // columns whose totals fit in the first cache with the rows

std::int64_t count_of(const Loops& loops) {
  std::int64_t n = 1;
  for (int d = 0; d < loops.rank; ++d) n *= loops.size[static_cast<std::size_t>(d)];
  return n;
}

// The dimensions of x that are kept, or those that are reduced; the others have size 1.
Array part_of(const Array& x, const Array& out, bool kept) {
  Array part = x;
  for (int d = 0; d < x.shape.rank(); ++d)
    if ((out.shape[d] == x.shape[d]) != kept) part.shape[d] = 1;
  return part;
}

struct Plan {
  Loops kept, reduced;  // operands of kept: the output and x
  std::int64_t outputs, count;

  Plan(const Array& out, const Array& x)
      : Plan(out, part_of(x, out, true), part_of(x, out, false)) {}

 private:
  Plan(const Array& out, const Array& kept_x, const Array& reduced_x)
      : Plan(out, &kept_x, reduced_x) {}
  Plan(const Array& out, const Array* kept_x, const Array& reduced_x)
      : kept(out, &kept_x, 1),
        reduced(reduced_x, nullptr, 0),
        outputs(count_of(kept)),
        count(count_of(reduced)) {}
};

// Calls f(o, offset of output o, offset in x) for the outputs [begin, end).
template <class F>
void each_output(const Plan& plan, std::int64_t begin, std::int64_t end, F f) {
  Cursor at(plan.kept, begin);
  for (std::int64_t o = begin; o < end; ++o, at.advance(1)) f(o, at.offset(0), at.offset(1));
}

template <class F>
void reduce_runs(const Plan& plan, typename F::Element* out, const typename F::Element* x) {
  using Element = typename F::Element;
  using Total = typename F::Total;
  const std::int64_t n = plan.reduced.line_size(), stride = plan.reduced.line_stride(0);
  const std::int64_t chunks = plan.reduced.rank == 1 ? divide_up(n, chunk) : 1;
  if (chunks > 1) {
    const Scratch<Total> part(plan.outputs * chunks);
    parallel_for(plan.outputs * chunks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t from = task % chunks * chunk;
        each_output(plan, task / chunks, task / chunks + 1, [&](auto, auto, std::int64_t start) {
          part.get()[task] = F::run(x + start + from * stride, std::min(chunk, n - from), stride);
        });
      }
    });
    each_output(plan, 0, plan.outputs, [&](std::int64_t o, std::int64_t to, auto) {
      Total total = part.get()[o * chunks];
      for (std::int64_t c = 1; c < chunks; ++c)
        total = F::combine(total, part.get()[o * chunks + c]);
      out[to] = static_cast<Element>(total);
    });
    return;
  }
  const std::int64_t grain = std::max<std::int64_t>(1, chunk / plan.count);
  parallel_for(plan.outputs, grain, [&](std::int64_t begin, std::int64_t end) {
    each_output(plan, begin, end, [&](auto, std::int64_t to, std::int64_t start) {
      Total total = F::run(x + start, n, stride);
      if (plan.count > n) {
        Cursor at(plan.reduced, n);
        for (std::int64_t done = n; done < plan.count; done += n, at.advance(n))
          total = F::combine(total, F::run(x + start + at.offset(0), n, stride));
      }
      out[to] = static_cast<Element>(total);
    });
  });
}

// total[j] takes in x[.. + j] of the reduced positions [begin, end).
template <class F>
void add_rows(const Plan& plan, typename F::Total* total, const typename F::Element* x,
              std::int64_t width, std::int64_t begin, std::int64_t end) {
  std::fill_n(total, width, F::identity());
  constexpr std::int64_t line = 64 / sizeof(typename F::Element);
  const std::int64_t stride = plan.reduced.line_stride(0);
  Cursor at(plan.reduced, begin);
  while (begin < end) {
    const std::int64_t run = std::min(end - begin, at.left());
    const typename F::Element* row = x + at.offset(0);
    for (std::int64_t i = 0; i < run; ++i, row += stride) {
      // A row's part is too short for the machine to see where the next one begins.
      const typename F::Element* ahead = row + std::min<std::int64_t>(2, run - 1 - i) * stride;
      for (std::int64_t j = 0; j < width; j += line) __builtin_prefetch(ahead + j, 0, 2);
      F::add_row(total, row, width);
    }
    at.advance(run);
    begin += run;
  }
}

template <class F>
void reduce_columns(const Plan& plan, typename F::Element* out, const typename F::Element* x) {
  using Element = typename F::Element;
  using Total = typename F::Total;
  const std::int64_t n = plan.kept.line_size(), to_stride = plan.kept.line_stride(0);
  const std::int64_t blocks = divide_up(n, block), tasks = plan.outputs / n * blocks;
  const std::int64_t across = std::min(n, block);
  const bool few = tasks < 8 && plan.count * across > 4 * chunk;
  const std::int64_t rows = few ? std::max<std::int64_t>(16, chunk / across) : plan.count;
  const std::int64_t pieces = divide_up(plan.count, rows);

  struct Task {
    std::int64_t to, start, width;
  };
  auto task_at = [&](std::int64_t task) {
    const std::int64_t j = task % blocks * block;
    const Cursor at(plan.kept, task / blocks * n + j);
    return Task{at.offset(0), at.offset(1), std::min(block, n - j)};
  };
  auto finish = [&](const Task& task, const Total* total) {
    for (std::int64_t j = 0; j < task.width; ++j)
      out[task.to + j * to_stride] = static_cast<Element>(total[j]);
  };

  if (pieces == 1) {
    const std::int64_t grain = std::max<std::int64_t>(1, chunk / (plan.count * across));
    parallel_for(tasks, grain, [&](std::int64_t begin, std::int64_t end) {
      alignas(64) Total total[block];
      for (std::int64_t t = begin; t < end; ++t) {
        const Task task = task_at(t);
        add_rows<F>(plan, total, x + task.start, task.width, 0, plan.count);
        finish(task, total);
      }
    });
    return;
  }
  const Scratch<Total> part(tasks * pieces * block);
  parallel_for(tasks * pieces, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      const Task task = task_at(t / pieces);
      const std::int64_t first = t % pieces * rows;
      add_rows<F>(plan, part.get() + t * block, x + task.start, task.width, first,
                  std::min(plan.count, first + rows));
    }
  });
  for (std::int64_t t = 0; t < tasks; ++t) {
    const Task task = task_at(t);
    Total* total = part.get() + t * pieces * block;
    for (std::int64_t p = 1; p < pieces; ++p)
      for (std::int64_t j = 0; j < task.width; ++j)
        total[j] = F::combine(total[j], total[p * block + j]);
    finish(task, total);
  }
}

template <Reduction f, class T>
void reduce_as(const Array& out, const Array& x) {
  using F = Fold<f, T>;
  auto* const o = out.as<typename F::Element>();
  const auto* const a = x.as<const typename F::Element>();
  // The commonest call, all of a small dense array, needs no plan.
  const std::int64_t n = x.shape.numel();
  if (n > 0 && n <= chunk && out.shape.numel() == 1 && is_contiguous(x.shape, x.strides)) {
    *o = static_cast<typename F::Element>(F::run(a, n));
    return;
  }
  const Plan plan(out, x);
  const bool across = plan.reduced.line_stride(0) != 1 && plan.kept.line_stride(1) == 1 &&
                      plan.kept.line_size() > 1;
  if (across)
    reduce_columns<F>(plan, o, a);
  else
    reduce_runs<F>(plan, o, a);
}

template <class T>
void reduce_number(Reduction f, const Array& out, const Array& x) {
  switch (f) {
    case Reduction::sum:
      return reduce_as<Reduction::sum, T>(out, x);
    case Reduction::prod:
      return reduce_as<Reduction::prod, T>(out, x);
    case Reduction::max:
      return reduce_as<Reduction::max, T>(out, x);
    default:
      return reduce_as<Reduction::min, T>(out, x);
  }
}

}  // namespace

void Cpu::reduce(Reduction f, const Array& out, const Array& x) const {
  const bool logical = f == Reduction::any || f == Reduction::all;
  if (out.shape.numel() == 0) return;
  if (x.shape.numel() == 0 || logical != (x.dtype == boolean)) return Naive::reduce(f, out, x);
  switch (x.dtype) {
    case f32:
      return reduce_number<float>(f, out, x);
    case f64:
      return reduce_number<double>(f, out, x);
    case i64:
      return reduce_number<std::int64_t>(f, out, x);
    case boolean:
      return f == Reduction::any ? reduce_as<Reduction::any, bool>(out, x)
                                 : reduce_as<Reduction::all, bool>(out, x);
  }
}

}  // namespace labgrad
