#include "engine/io/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_set>

#include "engine/error.h"
#include "engine/io/json.h"

namespace labgrad {
namespace {

constexpr std::uint64_t max_header = 100'000'000;
constexpr std::uint64_t length_bytes = 8;
constexpr std::string_view metadata_name = "__metadata__";

struct TypeName {
  std::string_view name;
  FileType type;
};
constexpr std::array type_names = {
    TypeName{"F16", FileType::F16},  TypeName{"BF16", FileType::BF16},
    TypeName{"F32", FileType::F32},  TypeName{"F64", FileType::F64},
    TypeName{"I8", FileType::I8},    TypeName{"I16", FileType::I16},
    TypeName{"I32", FileType::I32},  TypeName{"I64", FileType::I64},
    TypeName{"U8", FileType::U8},    TypeName{"U16", FileType::U16},
    TypeName{"U32", FileType::U32},  TypeName{"U64", FileType::U64},
    TypeName{"BOOL", FileType::BOOL}};

std::string_view name_of_type(FileType type) {
  for (const TypeName& each : type_names) {
    if (each.type == type) return each.name;
  }
  return "?";
}

FileType type_of_name(std::string_view name, std::string_view what) {
  std::string known;
  for (const TypeName& each : type_names) {
    if (each.name == name) return each.type;
    known += fmt::format(" {}", each.name);
  }
  fail(fmt::format("{}: dtype \"{}\" is not one of{}", what, name, known));
}

std::uint64_t unsigned_of(const Json& json, std::string_view what) {
  const std::int64_t value = json.as_int(what);
  if (value < 0)
    fail(fmt::format("{}: expected a number that is not negative, got {}", what, value));
  return static_cast<std::uint64_t>(value);
}

SafetensorsReader::Entry entry_of(const std::string& name, const Json& json,
                                  const std::string& what) {
  for (const JsonMember& member : json.as_object(what)) {
    if (member.key != "dtype" && member.key != "shape" && member.key != "data_offsets") {
      fail(fmt::format("{}: unknown member \"{}\"", what, member.key));
    }
  }
  if (json.size() != 3) fail(fmt::format("{}: needs dtype, shape and data_offsets", what));
  const FileType type = type_of_name(json.at("dtype").as_string(what + ", dtype"), what);
  std::vector<std::int64_t> sizes;
  for (const Json& size : json.at("shape").as_array(what + ", shape")) {
    sizes.push_back(size.as_int(what + ", shape"));
  }
  const CheckedShape checked = check_shape(sizes, type, what);
  const Json::Array& offsets = json.at("data_offsets").as_array(what + ", data_offsets");
  if (offsets.size() != 2) fail(fmt::format("{}: data_offsets needs two numbers", what));
  const std::uint64_t begin = unsigned_of(offsets[0], what + ", data_offsets");
  const std::uint64_t end = unsigned_of(offsets[1], what + ", data_offsets");
  if (begin > end || end - begin != checked.bytes) {
    fail(fmt::format("{}: data_offsets {} to {}, but its shape {} of {} needs {} bytes", what,
                     begin, end, checked.shape.str(), name_of_type(type), checked.bytes));
  }
  return {name, type, checked.shape, begin, checked.bytes};
}

}  // namespace

SafetensorsReader::SafetensorsReader(const std::filesystem::path& path) : file_(path) {
  try {
    read_header();
  } catch (const Error& error) {
    const std::string_view problem = error.what();
    // Errors that come from the file itself name it already.
    if (problem.starts_with(path.string())) throw;
    fail(fmt::format("{}: {}", path.string(), problem));
  }
  check_places();
}

void SafetensorsReader::read_header() {
  if (file_.size() < length_bytes) {
    fail(fmt::format("no safetensors file: it has {} bytes, the header's length alone takes {}",
                     file_.size(), length_bytes));
  }
  std::array<std::byte, length_bytes> raw{};
  file_.read(0, raw);
  std::uint64_t length = 0;
  for (std::size_t i = raw.size(); i-- > 0;) {
    length = (length << 8) | std::to_integer<std::uint64_t>(raw[i]);
  }
  if (length > max_header || length > file_.size() - length_bytes) {
    fail(
        fmt::format("bytes 0 to 8 give a header of {} bytes; the file has {} more, and a header at "
                    "most {}",
                    length, file_.size() - length_bytes, max_header));
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  file_.read(length_bytes, std::as_writable_bytes(std::span(text)));
  data_start_ = length_bytes + length;
  if (!text.starts_with('{')) fail("byte 8: the header does not begin with '{'");
  Json header;
  try {
    header = Json::parse(text, {.max_depth = 4, .max_bytes = max_header});
  } catch (const Error& error) {
    fail(fmt::format("header, from byte {} on: {}", length_bytes, error.what()));
  }
  for (const auto& [name, value] : header.as_object()) {
    if (name == metadata_name) {
      for (const auto& [key, text_of_key] : value.as_object(metadata_name)) {
        metadata_.emplace_back(key, text_of_key.as_string(fmt::format("metadata \"{}\"", key)));
      }
    } else {
      entries_.push_back(entry_of(name, value, fmt::format("tensor \"{}\"", name)));
    }
  }
}

// In the order of their places, the tensors must cover the rest of the file without a hole.
void SafetensorsReader::check_places() const {
  std::vector<const Entry*> order;
  for (const Entry& entry : entries_) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
    return std::pair(a->begin, a->bytes) < std::pair(b->begin, b->bytes);
  });
  std::uint64_t end = 0;
  for (const Entry* entry : order) {
    if (entry->begin != end) {
      fail(fmt::format(
          "{}: begins at byte {} of the data, {} byte {}; tensors must follow one "
          "another",
          where(entry->name), entry->begin,
          entry->begin < end ? "inside the tensor that ends at" : "leaving a hole from", end));
    }
    end += entry->bytes;  // no overflow: both are below 2^63
  }
  const std::uint64_t present = file_.size() - data_start_;
  if (end != present) {
    fail(
        fmt::format("{}: the tensors end at byte {} of the data, which begins at byte {}, but the "
                    "file has {} bytes of data{}",
                    file_.path().string(), end, data_start_, present,
                    present < end ? "; it has been cut off" : ""));
  }
}

std::string SafetensorsReader::where(std::string_view name) const {
  return fmt::format("{}: tensor \"{}\"", file_.path().string(), name);
}

const SafetensorsReader::Entry* SafetensorsReader::find(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

Tensor SafetensorsReader::read(std::string_view name) const {
  const Entry* entry = find(name);
  if (!entry) fail(fmt::format("{} is not in the file", where(name)));
  return read(*entry);
}

Tensor SafetensorsReader::read(const Entry& entry) const {
  return read_elements(file_, data_start_ + entry.begin, entry.type, false, entry.shape,
                       where(entry.name));
}

void save_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                      const Metadata& metadata) {
  // The header lists the tensors as they were given; the data lie in the order of element sizes,
  // largest first, so that every element is aligned for readers that map the file.
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0);
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.defined()) fail(fmt::format("{}: tensor \"{}\" is undefined", path.string(), name));
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return size_of(tensors[a].second.dtype()) > size_of(tensors[b].second.dtype());
  });
  std::vector<std::uint64_t> begin(tensors.size());
  std::vector<std::uint64_t> end(tensors.size());
  std::uint64_t at = 0;
  for (const std::size_t i : order) {
    const Tensor& x = tensors[i].second;
    begin[i] = at;
    at += static_cast<std::uint64_t>(x.numel()) * size_of(x.dtype());
    end[i] = at;
  }

  Json::Object header;
  std::unordered_set<std::string> names = {std::string(metadata_name)};
  if (!metadata.empty()) {
    Json values;
    for (const auto& [key, text] : metadata) values.set(key, text);
    header.push_back({std::string(metadata_name), std::move(values)});
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, x] = tensors[i];
    if (!names.insert(name).second) {
      fail(fmt::format("{}: the name \"{}\" {}", path.string(), name,
                       name == metadata_name ? "is reserved" : "is given to two tensors"));
    }
    Json shape = Json::array();
    for (const std::int64_t size : x.shape()) shape.push_back(size);
    header.push_back({name, Json::object({{"dtype", name_of_type(file_type_of(x.dtype()))},
                                          {"shape", std::move(shape)},
                                          {"data_offsets", Json::array({begin[i], end[i]})}})});
  }
  std::string text = Json(std::move(header)).dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > max_header) {
    fail(fmt::format("{}: a header of {} bytes is longer than the {} that readers accept",
                     path.string(), text.size(), max_header));
  }
  std::string length;
  for (int shift = 0; shift < 64; shift += 8) length += static_cast<char>(text.size() >> shift);

  AtomicFile file(path);
  file.write(length);
  file.write(text);
  for (const std::size_t i : order) write_elements(file, tensors[i].second);
  file.commit();
}

Safetensors load_safetensors(const std::filesystem::path& path) {
  const SafetensorsReader reader(path);
  Safetensors all{.tensors = {}, .metadata = reader.metadata()};
  for (const SafetensorsReader::Entry& entry : reader.entries()) {
    all.tensors.emplace_back(entry.name, reader.read(entry));
  }
  return all;
}

}  // namespace labgrad
