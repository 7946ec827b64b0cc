#include "tests/labs/common/events.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace labgrad::tests {
namespace {

// CRC-32C bit by bit: division by the polynomial 0x1EDC6F41, bits reversed.
std::uint32_t slow_crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) ? (crc >> 1) ^ 0x82F63B78u : crc >> 1;
  }
  return crc ^ 0xFFFFFFFF;
}

std::uint32_t unmask(std::uint32_t masked) {
  const std::uint32_t rotated = masked - 0xA282EAD8u;
  return rotated << 15 | rotated >> 17;
}

template <class T>
T take(std::string_view& bytes) {
  if (bytes.size() < sizeof(T)) throw std::runtime_error("the file ends within a value");
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  bytes.remove_prefix(sizeof(T));
  return value;
}

std::string_view take_bytes(std::string_view& bytes, std::uint64_t n) {
  if (bytes.size() < n) throw std::runtime_error("the file ends within a record");
  const std::string_view out = bytes.substr(0, n);
  bytes.remove_prefix(n);
  return out;
}

std::uint64_t take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = take<std::uint8_t>(bytes);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (!(byte & 0x80)) return value;
  }
}

// Calls field(number, wire type, rest) for each field; `rest` starts at the value, which the
// function takes from it.
template <class Field>
void each_field(std::string_view message, Field field) {
  while (!message.empty()) {
    const std::uint64_t key = take_varint(message);
    field(key >> 3, key & 7, message);
  }
}

std::string_view take_message(std::string_view& bytes) {
  return take_bytes(bytes, take_varint(bytes));
}

void skip(std::uint64_t wire, std::string_view& rest) {
  if (wire == 0) {
    take_varint(rest);
  } else if (wire == 1) {
    take<std::uint64_t>(rest);
  } else if (wire == 2) {
    take_message(rest);
  } else if (wire == 5) {
    take<std::uint32_t>(rest);
  } else {
    throw std::runtime_error("unknown wire type");
  }
}

void read_histogram(std::string_view message, EventPoint& point) {
  each_field(message, [&](std::uint64_t number, std::uint64_t wire, std::string_view& rest) {
    if (number != 6 && number != 7) return skip(wire, rest);
    auto& list = number == 6 ? point.bucket_limits : point.buckets;
    for (std::string_view packed = take_message(rest); !packed.empty();)
      list.push_back(take<double>(packed));
  });
}

void read_value(std::string_view message, EventPoint& point) {
  each_field(message, [&](std::uint64_t number, std::uint64_t wire, std::string_view& rest) {
    if (number == 1 && wire == 2) {
      point.tag = std::string(take_message(rest));
    } else if (number == 2 && wire == 5) {
      point.value = take<float>(rest);
    } else if (number == 5 && wire == 2) {
      read_histogram(take_message(rest), point);
    } else {
      skip(wire, rest);
    }
  });
}

EventPoint read_event(std::string_view message) {
  EventPoint point;
  each_field(message, [&](std::uint64_t number, std::uint64_t wire, std::string_view& rest) {
    if (number == 1 && wire == 1) {
      point.wall_time = take<double>(rest);
    } else if (number == 2 && wire == 0) {
      point.step = static_cast<std::int64_t>(take_varint(rest));
    } else if (number == 3 && wire == 2) {
      point.file_version = std::string(take_message(rest));
    } else if (number == 5 && wire == 2) {
      each_field(take_message(rest),
                 [&](std::uint64_t n, std::uint64_t w, std::string_view& inner) {
                   n == 1 ? read_value(take_message(inner), point) : skip(w, inner);
                 });
    } else if (number == 7 && wire == 2) {
      each_field(take_message(rest),
                 [&](std::uint64_t n, std::uint64_t w, std::string_view& inner) {
                   n == 1 ? void(point.session_start = take_varint(inner) == 1) : skip(w, inner);
                 });
    } else {
      skip(wire, rest);
    }
  });
  return point;
}

}  // namespace

std::vector<EventPoint> read_events(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("no file " + path.string());
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  std::vector<EventPoint> points;
  for (std::string_view rest = file; !rest.empty();) {
    const std::string_view length_bytes = rest.substr(0, 8);
    const auto length = take<std::uint64_t>(rest);
    if (unmask(take<std::uint32_t>(rest)) != slow_crc32c(length_bytes))
      throw std::runtime_error("wrong CRC of a length");
    const std::string_view data = take_bytes(rest, length);
    if (unmask(take<std::uint32_t>(rest)) != slow_crc32c(data))
      throw std::runtime_error("wrong CRC of a record");
    points.push_back(read_event(data));
  }
  return points;
}

}  // namespace labgrad::tests
