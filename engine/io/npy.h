#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "engine/tensor.h"

namespace labgrad {

// NumPy's file of one array: np.save and np.load. The format is described in
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

// Writes x, any layout and device, as version 1.0 in C order: f32 as <f4, f64 as <f8, i64 as <i8,
// bool as |b1. The file appears whole or not at all. Throws Error if x is undefined, and what
// AtomicFile throws.
void save_npy(const std::filesystem::path& path, const Tensor& x);
// Writes unsigned bytes (|u1), as pictures have them, in row-major order. Throws Error if their
// number is not that of the shape's elements.
void save_npy(const std::filesystem::path& path, std::span<const std::uint8_t> bytes,
              const Shape& shape);

// Reads versions 1, 2 and 3, C and Fortran order, both byte orders, into a dense tensor on the
// default device. 16-bit floats become f32; integers of 8, 16, 32 and 64 bits, with and without
// sign, become i64. Throws MissingFile, or Error with the file and the byte for a header that is
// not as the format says, a type that is none of these (text, objects, complex numbers, records),
// a file that is cut off or has bytes after the array, and a u64 above 2^63 - 1.
Tensor load_npy(const std::filesystem::path& path);

}  // namespace labgrad
