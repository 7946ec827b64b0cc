#pragma once
// Elements as they lie in a file, and the tensors they become. For safetensors.cpp and npy.cpp.

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/io/file.h"
#include "engine/tensor.h"

namespace labgrad {

// The element types of files. Those the library does not compute with are widened when they are
// read: 16-bit floats to f32, integers to i64.
enum class FileType : std::uint8_t {
  F16,
  BF16,
  F32,
  F64,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  BOOL
};

std::size_t size_of(FileType type);
// The tensor's type for a type in a file, and the type in which a tensor is written.
DType dtype_of_file(FileType type);
FileType file_type_of(DType dtype);

// The dense tensor of `shape` whose elements begin at `offset`, on the default device. `swapped`
// says that they are big-endian. Throws Error, beginning with `what`, for a bool that is neither 0
// nor 1, for a u64 that no i64 can hold, and if the file ends before.
Tensor read_elements(const InputFile& file, std::uint64_t offset, FileType type, bool swapped,
                     const Shape& shape, std::string_view what);

// Writes the elements in row-major order, whatever the layout of the tensor.
void write_elements(AtomicFile& file, const Tensor& x);

// Sizes from a file as a Shape, with the number of bytes they need. Throws Error, beginning with
// `what`, for a negative size, more than max_rank sizes, and sizes whose product is beyond 2^63 - 1
// bytes, not counting sizes of 0.
struct CheckedShape {
  Shape shape;
  std::uint64_t bytes;
};
CheckedShape check_shape(std::span<const std::int64_t> sizes, FileType type, std::string_view what);

}  // namespace labgrad
