#pragma once
// The ladder from a first matrix product to the library's: c_ij = Σ_k a_ik b_kj for dense matrices
// of f32, whose sizes are multiples of 128 here, so that each rung shows one thing and no edges.
// docs/gemm_ladder.md goes through it.

#include <vector>

#include "engine/kernels.h"

namespace labgrad::ladder {

struct Rung {
  const char* name;
  void (*multiply)(const Array& c, const Array& a, const Array& b);
};

// All rungs, from the first; none in a build without a device of its own. Each file of this folder
// that has one adds it before main() begins.
inline std::vector<Rung>& rungs() {
  static std::vector<Rung> all;
  return all;
}
inline bool add(const Rung& rung) {
  rungs().push_back(rung);
  return true;
}

}  // namespace labgrad::ladder
