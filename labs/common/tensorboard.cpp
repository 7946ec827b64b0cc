#include "labs/common/tensorboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/error.h"

namespace labgrad::labs {
namespace {

namespace fs = std::filesystem;

std::string little_endian(std::uint64_t v, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(v >> (8 * i) & 0xFF);
  return out;
}

// ---- protobuf's wire format: each field is a key (number * 8 + wire type), then the value.
std::string varint(std::uint64_t v) {
  std::string out;
  for (; v >= 0x80; v >>= 7) out += static_cast<char>((v & 0x7F) | 0x80);
  return out + static_cast<char>(v);
}

std::string field_int(std::uint32_t number, std::int64_t v) {
  return varint(number << 3 | 0u) + varint(static_cast<std::uint64_t>(v));
}

std::string field_double(std::uint32_t number, double v) {
  return varint(number << 3 | 1u) + little_endian(std::bit_cast<std::uint64_t>(v), 8);
}

std::string field_float(std::uint32_t number, float v) {
  return varint(number << 3 | 5u) + little_endian(std::bit_cast<std::uint32_t>(v), 4);
}

std::string field_bytes(std::uint32_t number, std::string_view v) {
  return varint(number << 3 | 2u) + varint(v.size()) + std::string(v);
}

std::string field_doubles(std::uint32_t number, const std::vector<double>& values) {
  std::string packed;
  for (double v : values) packed += little_endian(std::bit_cast<std::uint64_t>(v), 8);
  return field_bytes(number, packed);
}

// Event: wall_time = 1, step = 2, file_version = 3, summary = 5, session_log = 7.
// Summary: value = 1. Value: tag = 1, simple_value = 2, histo = 5. SessionLog: status = 1.
std::string summary(const std::string& value) { return field_bytes(5, field_bytes(1, value)); }

double seconds_since_1970() {
  const std::chrono::duration<double> d = std::chrono::system_clock::now().time_since_epoch();
  return d.count();
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      t[i] = i;
      for (int bit = 0; bit < 8; ++bit) t[i] = (t[i] >> 1) ^ (t[i] & 1 ? 0x82F63B78u : 0u);
    }
    return t;
  }();
  std::uint32_t crc = ~0u;
  for (char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

std::uint32_t masked_crc32c(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xA282EAD8u;
}

EventWriter::EventWriter(const fs::path& dir, std::int64_t first_step, std::function<double()> now)
    : now_(now ? std::move(now) : seconds_since_1970) {
  std::error_code code;
  fs::create_directories(dir, code);
  // TensorBoard reads the files of a folder in the order of their names, and only those with
  // "tfevents" in it. Mode "x" makes sure that two runs in one second don't share a file.
  const auto second = static_cast<std::int64_t>(now_());
  for (int n = 0; n < 1000 && !file_; ++n) {
    path_ = dir / fmt::format("events.out.tfevents.{:010}.labgrad.{}", second, n);
    file_.reset(std::fopen(path_.c_str(), "wbx"));
    if (!file_ && errno != EEXIST) break;
  }
  if (!file_)
    fail(fmt::format("{}: this file cannot be made: {}", path_.string(), std::strerror(errno)));
  record(field_double(1, now_()) + field_bytes(3, "brain.Event:2"));
  // status START = 1: TensorBoard drops what it has for later steps.
  if (first_step > 0) record(event_head(first_step) + field_bytes(7, field_int(1, 1)));
  flush();
}

std::string EventWriter::event_head(std::int64_t step) const {
  return field_double(1, now_()) + field_int(2, step);
}

void EventWriter::record(const std::string& event) {
  const std::string length = little_endian(event.size(), 8);
  const std::string bytes = length + little_endian(masked_crc32c(length), 4) + event +
                            little_endian(masked_crc32c(event), 4);
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size())
    fail(fmt::format("{}: writing failed: {}", path_.string(), std::strerror(errno)));
}

void EventWriter::scalar(std::string_view tag, double value, std::int64_t step) {
  record(event_head(step) +
         summary(field_bytes(1, tag) + field_float(2, static_cast<float>(value))));
}

void EventWriter::histogram(std::string_view tag, std::span<const float> values,
                            std::int64_t step) {
  constexpr std::size_t bins = 30;
  double low = 0, high = 0, sum = 0, squares = 0, count = 0;
  for (const float value : values) {
    const double v = value;
    if (!std::isfinite(v)) continue;
    low = count == 0 ? v : std::min(low, v);
    high = count == 0 ? v : std::max(high, v);
    sum += v;
    squares += v * v;
    ++count;
  }
  const double width = high > low ? (high - low) / bins : 1.0;
  std::vector<double> limits, counts(bins, 0.0);
  for (std::size_t b = 0; b < bins; ++b) limits.push_back(low + width * static_cast<double>(b + 1));
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    const auto bin = static_cast<std::size_t>((static_cast<double>(value) - low) / width);
    counts[std::min(bin, bins - 1)] += 1.0;
  }
  // HistogramProto: min, max, num, sum, sum_squares, bucket_limit, bucket.
  const std::string histogram =
      field_double(1, low) + field_double(2, high) + field_double(3, count) + field_double(4, sum) +
      field_double(5, squares) + field_doubles(6, limits) + field_doubles(7, counts);
  record(event_head(step) + summary(field_bytes(1, tag) + field_bytes(5, histogram)));
}

void remove_events(const fs::path& dir) {
  std::error_code code;
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(dir, code)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("events.out.tfevents.", 0) == 0 && name.find(".labgrad.") != std::string::npos)
      old.push_back(entry.path());
  }
  for (const fs::path& path : old) fs::remove(path, code);
}

void EventWriter::flush() {
  if (std::fflush(file_.get()) != 0)
    fail(fmt::format("{}: writing failed: {}", path_.string(), std::strerror(errno)));
}

}  // namespace labgrad::labs
