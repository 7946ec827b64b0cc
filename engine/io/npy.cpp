#include "engine/io/npy.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/error.h"
#include "engine/io/elements.h"
#include "engine/io/file.h"

namespace labgrad {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t max_header = std::size_t{1} << 20;  // eight sizes need far less

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Reads the header, which is a Python dictionary of three members:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::size_t start) : text_(text), start_(start) {}

  Header parse() {
    std::optional<std::string> descr;
    std::optional<bool> order;
    std::optional<std::vector<std::int64_t>> shape;
    expect('{');
    while (!take('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !descr) {
        if (peek('[')) fail_here("one type for all elements, not a record");
        descr = string();
      } else if (key == "fortran_order" && !order) {
        order = boolean_word();
      } else if (key == "shape" && !shape) {
        shape = tuple();
      } else {
        fail_here("each of 'descr', 'fortran_order' and 'shape' once, and nothing else");
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) fail_here("the end of the header");
    if (!descr || !order || !shape) fail_here("'descr', 'fortran_order' and 'shape'");
    return {std::move(*descr), *order, std::move(*shape)};
  }

 private:
  std::string string() {
    skip_space();
    const char quote = peek('"') ? '"' : '\'';
    expect(quote);
    const std::size_t end = text_.find(quote, at_);
    if (end == text_.npos) fail_here("a closing quote");
    std::string result(text_.substr(at_, end - at_));
    at_ = end + 1;
    return result;
  }

  bool boolean_word() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    fail_here("True or False");
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!take(')')) {
      skip_space();
      std::int64_t value = 0;
      const auto [end, problem] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (problem != std::errc() || value < 0) fail_here("a size, or ')'");
      at_ = static_cast<std::size_t>(end - text_.data());
      values.push_back(value);
      if (take(',')) continue;
      if (values.size() == 1) fail_here("',' after the only size");  // (3) is no tuple in Python
      expect(')');
      break;
    }
    return values;
  }

  bool peek(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }

  bool take(char c) {
    const bool there = peek(c);
    if (there) ++at_;
    return there;
  }

  void expect(char c) {
    if (!take(c)) fail_here(fmt::format("'{}'", c));
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != text_.npos) ++at_;
  }

  [[noreturn]] void fail_here(std::string_view expected) {
    fail(fmt::format("header, byte {}: expected {}", start_ + at_, expected));
  }

  std::string_view text_;
  std::size_t start_;  // of the text in the file
  std::size_t at_ = 0;
};

struct ElementType {
  FileType type;
  bool swapped;
};

ElementType element_type(const std::string& descr) {
  struct Name {
    std::string_view kind;
    FileType type;
  };
  constexpr std::array names = {
      Name{"f2", FileType::F16}, Name{"f4", FileType::F32}, Name{"f8", FileType::F64},
      Name{"i1", FileType::I8},  Name{"i2", FileType::I16}, Name{"i4", FileType::I32},
      Name{"i8", FileType::I64}, Name{"u1", FileType::U8},  Name{"u2", FileType::U16},
      Name{"u4", FileType::U32}, Name{"u8", FileType::U64}, Name{"b1", FileType::BOOL}};
  if (descr.size() == 3) {
    const char order = descr[0];
    for (const Name& name : names) {
      const bool one_byte = name.kind[1] == '1';
      const bool known_order = order == '<' || order == '>' || (order == '|' && one_byte);
      if (name.kind == descr.substr(1) && known_order) {
        return {name.type, order == '>' && !one_byte};
      }
    }
  }
  fail(
      fmt::format("elements of type '{}' cannot be read; possible are f2 f4 f8 i1 i2 i4 i8 u1 u2 "
                  "u4 u8 b1, little-endian (<) or big-endian (>)",
                  descr));
}

// The length of the header, and where its text begins.
std::pair<std::size_t, std::size_t> header_place(const InputFile& file) {
  std::array<std::byte, 12> start{};
  const std::size_t here = std::min<std::uint64_t>(file.size(), start.size());
  file.read(0, std::span(start).first(here));
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(start[i]); };
  for (std::size_t i = 0; i < magic.size(); ++i) {
    if (i >= here || byte(i) != static_cast<unsigned char>(magic[i])) {
      fail(fmt::format("byte {}: not a NumPy file, which begins with \\x93NUMPY", i));
    }
  }
  if (here < 10) fail("it ends within its first ten bytes");
  const std::size_t major = byte(6);
  if (major < 1 || major > 3 || byte(7) != 0) {
    fail(fmt::format("byte 6: version {}.{}, known are 1.0, 2.0 and 3.0", major, byte(7)));
  }
  if (major == 1) return {byte(8) | byte(9) << 8, 10};
  if (here < 12) fail("it ends within its first twelve bytes");
  return {byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24, 12};
}

// Reads the array; errors do not name the file yet.
Tensor load(const InputFile& file) {
  const auto [length, start] = header_place(file);
  if (length > max_header || length > file.size() - start) {
    fail(fmt::format("byte 8: a header of {} bytes; the file has {} more, and a header at most {}",
                     length, file.size() - start, max_header));
  }
  std::string text(length, '\0');
  file.read(start, std::as_writable_bytes(std::span(text)));
  const Header header = HeaderParser(text, start).parse();
  const ElementType element = element_type(header.descr);
  const CheckedShape checked = check_shape(header.shape, element.type, "the array");
  const std::uint64_t present = file.size() - start - length;
  if (present != checked.bytes) {
    fail(fmt::format("the array {} of {} needs {} bytes, from byte {} on there are {}",
                     checked.shape.str(), header.descr, checked.bytes, start + length, present));
  }
  const int rank = checked.shape.rank();
  Shape stored = checked.shape;
  if (header.fortran_order) {
    // Column-major is row-major with the dimensions in reverse.
    for (int d = 0; d < rank; ++d) stored[d] = checked.shape[rank - 1 - d];
  }
  const Tensor x =
      read_elements(file, start + length, element.type, element.swapped, stored, "the array");
  if (!header.fortran_order) return x;
  const Strides dense = contiguous_strides(stored);
  Strides reversed = dense;
  for (int d = 0; d < rank; ++d) reversed[d] = dense[rank - 1 - d];
  return packed(alias(x, checked.shape, reversed));
}

void write_header(AtomicFile& file, std::string_view descr, const Shape& shape) {
  // Shape::str writes a shape as Python does.
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, shape.str());
  // The elements begin at a multiple of 64; the header ends with a line end.
  constexpr std::size_t before = 10;
  header.resize((before + header.size() + 1 + 63) / 64 * 64 - before - 1, ' ');
  header += '\n';
  file.write(magic);
  const std::array<char, 4> version_and_length = {1, 0, static_cast<char>(header.size() & 0xff),
                                                  static_cast<char>(header.size() >> 8)};
  file.write(std::string_view(version_and_length.data(), version_and_length.size()));
  file.write(header);
}

std::string_view descr_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "<f4";
    case DType::f64:
      return "<f8";
    case DType::i64:
      return "<i8";
    case DType::boolean:
      break;
  }
  return "|b1";
}

}  // namespace

void save_npy(const std::filesystem::path& path, const Tensor& x) {
  if (!x.defined()) fail(fmt::format("{}: the tensor is undefined", path.string()));
  AtomicFile file(path);
  write_header(file, descr_of(x.dtype()), x.shape());
  write_elements(file, x);
  file.commit();
}

void save_npy(const std::filesystem::path& path, std::span<const std::uint8_t> bytes,
              const Shape& shape) {
  if (static_cast<std::uint64_t>(shape.numel()) != bytes.size())
    fail(fmt::format("{}: {} bytes do not fill an array {}", path.string(), bytes.size(),
                     shape.str()));
  AtomicFile file(path);
  write_header(file, "|u1", shape);
  file.write(std::as_bytes(bytes));
  file.commit();
}

Tensor load_npy(const std::filesystem::path& path) {
  const InputFile file(path);
  try {
    return load(file);
  } catch (const Error& error) {
    const std::string_view problem = error.what();
    // Errors that come from reading the file name it already.
    if (problem.starts_with(path.string())) throw;
    fail(fmt::format("{}: {}", path.string(), problem));
  }
}

}  // namespace labgrad
