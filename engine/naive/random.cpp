// Counter-based random masks.

#include "engine/naive/naive.h"
#include "engine/naive/walk.h"
#include "engine/philox.h"

namespace labgrad {

// mask_i = u_i >= p ? 1 / (1 - p) : 0, with u_i uniform in [0, 1): word i mod 4 of block i / 4
void Naive::dropout_mask(const Array& mask, std::uint64_t key, double p) const {
  dispatch_floating(mask.dtype, "dropout_mask", [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* o = mask.as<T>();
    std::uint64_t position = 0;
    walk(
        mask.shape,
        [&](auto i) {
          o[i] = philox_uniform(key, position) >= p ? T(1 / (1 - p)) : T(0);
          ++position;
        },
        mask.strides);
  });
}

}  // namespace labgrad
