#pragma once
// What kernels read, counted exactly: what decides about their speed on a GPU, and can be known
// without one.

#include <cstdint>
#include <functional>

namespace labgrad::simt {

struct Traffic {
  std::int64_t loads = 0;         // of an element or a pack of 16 bytes, by a thread
  std::int64_t sectors = 0;       // of 32 bytes that memory brings for them
  std::int64_t shared_reads = 0;  // of an element of a shared array, by a thread
};

// Runs `f` on one host thread and counts what its kernels read through Memory<const T>. What a
// warp's lanes load at once comes in sectors of 32 bytes, each of them once: lanes that read
// neighbours share them. The n-th load of each lane of a block counts as one instruction of the
// warp, as it is where all lanes take the same way. No cache is assumed.
Traffic count_traffic(const std::function<void()>& f);

}  // namespace labgrad::simt
