// Dropout masks.

#include <algorithm>

#include "engine/cpu/cpu.h"
#include "engine/cpu/elementwise.h"
#include "engine/cpu/threads.h"
#include "engine/philox.h"

namespace labgrad {

using namespace cpu;

// u >= p is decided on the 32 bit words themselves: word >= p 2^32, rounded up to a whole number.
void Cpu::dropout_mask(const Array& mask, std::uint64_t key, double p) const {
  if (!is_contiguous(mask.shape, mask.strides)) return Naive::dropout_mask(mask, key, p);
  dispatch_floating(mask.dtype, "dropout_mask", [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const o = mask.as<T>();
    const auto least = static_cast<std::uint64_t>(std::ceil(p * 0x1p32));
    const T kept = T(1 / (1 - p));
    parallel_for(mask.shape.numel(), cheap_grain, [&](std::int64_t begin, std::int64_t end) {
      std::int64_t i = begin;  // a multiple of 4
      for (; i + 4 <= end; i += 4) {
        const PhiloxBlock block = philox(key, static_cast<std::uint64_t>(i) / 4);
        for (int w = 0; w < 4; ++w) o[i + w] = block.word[w] >= least ? kept : T(0);
      }
      const PhiloxBlock block = philox(key, static_cast<std::uint64_t>(i) / 4);
      for (int w = 0; i < end; ++i, ++w) o[i] = block.word[w] >= least ? kept : T(0);
    });
  });
}

}  // namespace labgrad
