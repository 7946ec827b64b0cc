#pragma once
// CUDA's words for a C++ compiler: kernels written in the portable subset of docs/gpu.md run on the
// host, thread by thread, and what a GPU would not tell is reported as an Error that names kernel,
// block, thread and variable:
// - an access out of bounds, in the device's memory or in a shared array;
// - a read of a shared element that nobody in the block has written;
// - two threads at one shared element, one of them writing, without a barrier between;
// - a barrier that only some threads of the block (or of the warp) reach.
//
// The threads of a block are fibers of one host thread, each with a stack of its own: at a barrier
// one is parked and the next resumed. A kernel without barriers needs none: its threads are plain
// calls. Blocks may run on several host threads.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "engine/kernels.h"

#define __global__
#define __device__
#define __host__

namespace labgrad {

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x_, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

inline constinit thread_local dim3 threadIdx{0, 0, 0};
inline constinit thread_local dim3 blockIdx{0, 0, 0};
inline constinit thread_local dim3 blockDim{0, 0, 0};
inline constinit thread_local dim3 gridDim{0, 0, 0};

inline constexpr int warpSize = 32;

// Blocks until every thread of the block is here, and orders what they wrote before.
void __syncthreads(int line = __builtin_LINE());
// The same for the 32 threads of the warp; the mask must name all of them.
void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE());

namespace simt {

// In which order the threads of a block go on. A race that the order hides from one of them shows
// in another.
enum class Schedule : std::uint8_t {
  forward,      // thread 0, 1, 2, ... each to its next barrier
  reversed,     // the last one first
  warp_by_warp  // a warp as far as it goes, then the next
};
// For all launches from now on; without one they take turns, so that any long run meets all three.
void set_schedule(Schedule schedule);
void rotate_schedules();

// Fails in the name of the running kernel, block and thread.
[[noreturn]] void report(const char* variable, const char* what);
[[noreturn]] void out_of_bounds(const char* variable, std::int64_t i, std::int64_t low,
                                std::int64_t high);

// While reads are counted (simt_traffic.h): tells of one.
inline bool counting = false;
void count_load(const void* first, std::size_t bytes);
void count_shared_read();

// The place of the running thread in its warp.
int lane();
// The value of lane `lane` of this warp, when all its lanes have called.
std::uint64_t exchange(unsigned mask, std::uint64_t value, int lane, int line);

// What the checks of shared elements need to know of the running thread.
struct Now {
  std::uint32_t clock = 0;        // counts the barriers of all blocks and never goes back
  std::uint32_t block_start = 0;  // the clock when this block began
  std::uint32_t epoch = 0;        // the warp's own count of barriers
  std::uint16_t thread = 0;

  bool in_warp_of(std::uint16_t other) const { return thread / 32 == other / 32; }
  // Was what thread `other` did then, a barrier ago for this one?
  bool is_after(std::uint32_t clock_then, std::uint32_t epoch_then, std::uint16_t other) const {
    return other == thread || clock_then != clock || (in_warp_of(other) && epoch_then != epoch);
  }
};
inline constinit thread_local Now now;

// Who touched a shared element last; clock and epoch of the last write and reads.
struct Mark {
  std::uint32_t written = 0, read = 0, read_elsewhere = 0;
  std::uint32_t written_epoch = 0, read_epoch = 0;
  std::uint16_t writer = 0, reader = 0, reader_elsewhere = 0;  // the latter in another warp
  bool read_by_several = false;  // of the reader's warp, with no barrier between
};
[[noreturn]] void never_written(const char* variable, std::int64_t i);
[[noreturn]] void race(const char* variable, std::int64_t i, const char* did, std::uint16_t other,
                       const char* does);

inline void check_read(Mark& m, const char* variable, std::int64_t i) {
  const Now& n = now;
  if (m.written < n.block_start) never_written(variable, i);
  if (!n.is_after(m.written, m.written_epoch, m.writer))
    race(variable, i, "written", m.writer, "read");
  bool several = false;
  if (m.read == n.clock) {
    if (n.in_warp_of(m.reader)) {
      several = m.read_epoch == n.epoch && (m.read_by_several || m.reader != n.thread);
    } else {
      m.read_elsewhere = n.clock;
      m.reader_elsewhere = m.reader;
    }
  }
  m.read_by_several = several;
  m.read = n.clock;
  m.read_epoch = n.epoch;
  m.reader = n.thread;
}

inline void check_write(Mark& m, const char* variable, std::int64_t i) {
  const Now& n = now;
  if (!n.is_after(m.written, m.written_epoch, m.writer))
    race(variable, i, "written", m.writer, "written");
  if (!n.is_after(m.read, m.read_epoch, m.reader) ||
      (m.read_by_several && m.read == n.clock && m.read_epoch == n.epoch))
    race(variable, i, "read", m.reader, "written");
  if (m.read_elsewhere == n.clock && !n.in_warp_of(m.reader_elsewhere))
    race(variable, i, "read", m.reader_elsewhere, "written");
  m.written = n.clock;
  m.written_epoch = n.epoch;
  m.writer = n.thread;
}

// Stands for one element of a shared array.
template <class T>
class Element {
 public:
  Element(T& value, Mark& mark, const char* name, std::int64_t i)
      : value_(value), mark_(mark), name_(name), i_(i) {}
  operator T() const {
    check_read(mark_, name_, i_);
    if (counting) count_shared_read();
    return value_;
  }
  T operator=(T v) const {
    check_write(mark_, name_, i_);
    return value_ = v;
  }
  T operator=(const Element& other) const { return *this = T(other); }
  T operator+=(T v) const { return *this = T(*this) + v; }

 private:
  T& value_;
  Mark& mark_;
  const char* name_;
  std::int64_t i_;
};

template <class T, int rows, int columns = 1>
struct SharedMemory {
  T value[static_cast<std::size_t>(rows * columns)];
  Mark mark[static_cast<std::size_t>(rows * columns)];
};

// A shared array of one or two dimensions, as a kernel sees it.
template <class T, int rows, int columns = 1>
class Shared {
 public:
  Shared(SharedMemory<T, rows, columns>& memory, const char* name) : memory_(memory), name_(name) {}

  Element<T> operator[](int i) const {
    if (i < 0 || i >= rows * columns) out_of_bounds(name_, i, 0, rows * columns);
    const auto at = static_cast<std::size_t>(i);
    return {memory_.value[at], memory_.mark[at], name_, i};
  }
  Element<T> operator()(int i, int j) const {
    if (j < 0 || j >= columns) out_of_bounds(name_, j, 0, columns);
    return (*this)[i * columns + j];
  }

 private:
  SharedMemory<T, rows, columns>& memory_;
  const char* name_;
};

// How far the elements of an array reach from its first one: [low, high).
struct Extent {
  std::int64_t low, high;
};
Extent extent(const Array& a);
// Error: the array is not of this type, or not in the emulated device's memory.
void check_argument(const Array& a, DType dtype, const char* name);

using Body = void (*)(void* context);
void run(const char* kernel, dim3 grid, dim3 block, Body body, void* context);

}  // namespace simt

// `shared_array(float, tile, 16, 17)` declares what all threads of the block share.
#define shared_array(T, name, ...)                                                 \
  static thread_local ::labgrad::simt::SharedMemory<T, __VA_ARGS__> name##_memory; \
  const ::labgrad::simt::Shared<T, __VA_ARGS__> name(name##_memory, #name)

// Neighbouring elements that one instruction loads: 16 bytes.
template <class T>
struct alignas(16) Pack {
  static constexpr int lanes = 16 / static_cast<int>(sizeof(T));
  T lane[lanes];
};

// The elements of an array in the device's memory, as a kernel sees them: m[i] is i elements from
// the first. Empty if the array's data is nullptr.
template <class T>
class Memory {
 public:
  Memory() = default;
  Memory(const Array& a, const char* name) : data_(a.as<T>()), name_(name) {
    if (!data_) return;
    simt::check_argument(a, dtype_of<std::remove_const_t<T>>, name);
    const simt::Extent e = simt::extent(a);
    low_ = e.low;
    high_ = e.high;
  }

  explicit operator bool() const { return data_ != nullptr; }
  T& operator[](std::int64_t i) const {
    if (i < low_ || i >= high_) simt::out_of_bounds(name_, i, low_, high_);
    if (std::is_const_v<T> && simt::counting) simt::count_load(data_ + i, sizeof(T));
    return data_[i];
  }
  // Elements i, i + 1, ... of a pack; the first must lie at a multiple of 16 bytes.
  Pack<std::remove_const_t<T>> pack(std::int64_t i) const {
    Pack<std::remove_const_t<T>> p;
    const std::int64_t last = i + p.lanes - 1;
    if (i < low_ || last >= high_) simt::out_of_bounds(name_, i < low_ ? i : last, low_, high_);
    if (reinterpret_cast<std::uintptr_t>(data_ + i) % alignof(decltype(p)) != 0)
      simt::report(name_, "is read by packs of 16 bytes, but this one does not lie at a multiple");
    if (simt::counting) simt::count_load(data_ + i, sizeof(p.lane));
    __builtin_memcpy(p.lane, data_ + i, sizeof(p.lane));
    return p;
  }

 private:
  T* data_ = nullptr;
  std::int64_t low_ = 0, high_ = 0;
  const char* name_ = "";
};

template <class T>
T shuffle(unsigned mask, T value, int lane, int line) {
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  bits = simt::exchange(mask, bits, lane, line);
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int line = __builtin_LINE()) {
  return shuffle(mask, value, simt::lane() ^ lane_mask, line);
}
template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int line = __builtin_LINE()) {
  return shuffle(mask, value, lane, line);
}

// Runs kernel(args...) for all threads of all blocks.
template <class... P, class... A>
void launch(const char* name, void (*kernel)(P...), dim3 grid, dim3 block, const A&... args) {
  struct Call {
    void (*kernel)(P...);
    std::tuple<P...> args;
  } call{kernel, std::tuple<P...>(static_cast<P>(args)...)};
  simt::run(
      name, grid, block,
      [](void* context) {
        auto& c = *static_cast<Call*>(context);
        std::apply(c.kernel, c.args);
      },
      &call);
}

}  // namespace labgrad
