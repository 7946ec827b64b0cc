#include "engine/io/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "engine/ops/broadcast.h"

namespace labgrad {
namespace {

static_assert(std::endian::native == std::endian::little,
              "files are little-endian and are read into memory as they are");

// Half precision: 1 sign bit, 5 of exponent, 10 of fraction (IEEE 754 binary16).
float float_of_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 31u;
  const std::uint32_t fraction = half & 0x3ffu;
  if (exponent == 0) {  // zero and the numbers below 2^-14, which are normal in single precision
    const float value = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -value : value;
  }
  const std::uint32_t wide = exponent == 31 ? 255u : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

// The upper half of a single.
float float_of_brain(std::uint16_t half) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

template <class Bits>
Bits load(const std::byte* bytes, bool swapped) {
  Bits bits;
  std::memcpy(&bits, bytes, sizeof bits);
  if (!swapped) return bits;
  auto raw = std::bit_cast<std::array<std::byte, sizeof(Bits)>>(bits);
  std::reverse(raw.begin(), raw.end());
  return std::bit_cast<Bits>(raw);
}

// Calls f with an integer of the type's width, and of its sign where it is one.
template <class F>
void with_raw_type(FileType type, F&& f) {
  switch (type) {
    case FileType::F16:
    case FileType::BF16:
    case FileType::U16:
      return f(std::uint16_t{});
    case FileType::I8:
      return f(std::int8_t{});
    case FileType::I16:
      return f(std::int16_t{});
    case FileType::F32:
    case FileType::I32:
      return f(std::int32_t{});
    case FileType::F64:
    case FileType::I64:
      return f(std::int64_t{});
    case FileType::BOOL:
    case FileType::U8:
      return f(std::uint8_t{});
    case FileType::U32:
      return f(std::uint32_t{});
    case FileType::U64:
      return f(std::uint64_t{});
  }
}

// One element, widened; `raw` has the bits of the file.
template <class Raw>
void store(FileType type, Raw raw, std::byte* out, std::string_view what, std::uint64_t at) {
  const auto put = [out](auto value) { std::memcpy(out, &value, sizeof value); };
  if (type == FileType::BOOL) {
    if (raw != 0 && raw != 1) {
      fail(fmt::format("{}: a bool must be 0 or 1, byte {} is {}", what, at,
                       static_cast<unsigned>(raw)));
    }
    put(raw == 1);
  } else if (type == FileType::F32 || type == FileType::F64) {
    put(raw);
  } else if (type == FileType::F16) {
    put(float_of_half(static_cast<std::uint16_t>(raw)));
  } else if (type == FileType::BF16) {
    put(float_of_brain(static_cast<std::uint16_t>(raw)));
  } else {
    if (!std::in_range<std::int64_t>(raw)) {
      fail(fmt::format("{}: the integer at byte {} is above 2^63 - 1", what, at));
    }
    put(static_cast<std::int64_t>(raw));
  }
}

// In memory as in the file, byte for byte.
bool same_in_memory(FileType type) {
  return type == FileType::F32 || type == FileType::F64 || type == FileType::I64;
}

}  // namespace

std::size_t size_of(FileType type) {
  std::size_t size = 0;
  with_raw_type(type, [&](auto raw) { size = sizeof raw; });
  return size;
}

DType dtype_of_file(FileType type) {
  switch (type) {
    case FileType::F16:
    case FileType::BF16:
    case FileType::F32:
      return f32;
    case FileType::F64:
      return f64;
    case FileType::BOOL:
      return boolean;
    default:
      return i64;
  }
}

FileType file_type_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return FileType::F32;
    case DType::f64:
      return FileType::F64;
    case DType::i64:
      return FileType::I64;
    case DType::boolean:
      return FileType::BOOL;
  }
  fail("file_type_of: unknown dtype");
}

Tensor read_elements(const InputFile& file, std::uint64_t offset, FileType type, bool swapped,
                     const Shape& shape, std::string_view what) {
  const NoGrad no_grad;
  const auto count = static_cast<std::uint64_t>(shape.numel());
  const std::uint64_t bytes = count * size_of(type);
  if (offset > file.size() || bytes > file.size() - offset) {
    fail(fmt::format("{}: needs bytes {} to {}, the file has {}", what, offset, offset + bytes,
                     file.size()));
  }
  const Tensor x = empty(shape, dtype_of_file(type), Device::cpu);
  std::byte* out = x.array().data;
  if (same_in_memory(type) && !swapped) {
    file.read(offset, {out, static_cast<std::size_t>(bytes)});
    return to(x, default_device());
  }
  const std::size_t step = labgrad::size_of(x.dtype());
  std::vector<std::byte> piece;
  with_raw_type(type, [&](auto raw_type) {
    using Raw = decltype(raw_type);
    for (std::uint64_t done = 0; done < bytes; done += piece.size()) {
      piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(bytes - done, 1 << 16)));
      file.read(offset + done, piece);
      for (std::size_t i = 0; i < piece.size(); i += sizeof(Raw), out += step) {
        store(type, load<Raw>(piece.data() + i, swapped), out, what, offset + done + i);
      }
    }
  });
  return to(x, default_device());
}

void write_elements(AtomicFile& file, const Tensor& x) {
  const NoGrad no_grad;
  const Tensor dense = packed(to(x.detach(), Device::cpu));
  const auto bytes = static_cast<std::size_t>(dense.numel()) * size_of(dense.dtype());
  file.write(std::span<const std::byte>(dense.array().data, bytes));
}

CheckedShape check_shape(std::span<const std::int64_t> sizes, FileType type,
                         std::string_view what) {
  if (sizes.size() > static_cast<std::size_t>(max_rank)) {
    fail(fmt::format("{}: has {} dimensions, at most {} are possible", what, sizes.size(),
                     max_rank));
  }
  // Sizes of 0 are left out, so that no product of the others can overflow later, in strides.
  constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max();
  std::uint64_t bytes = size_of(type);
  bool none = false;
  for (const std::int64_t size : sizes) {
    if (size < 0) fail(fmt::format("{}: a size of {} in its shape", what, size));
    none = none || size == 0;
    if (size == 0) continue;
    if (bytes > static_cast<std::uint64_t>(limit / size)) {
      fail(fmt::format("{}: its shape has more elements than 64 bits can count", what));
    }
    bytes *= static_cast<std::uint64_t>(size);
  }
  return {Shape(sizes), none ? 0 : bytes};
}

}  // namespace labgrad
