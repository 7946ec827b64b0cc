#pragma once
// Training curves for TensorBoard: event files as it reads them, written without protobuf.
//
// A file is a row of records (TFRecord): length (8 bytes, little endian), masked CRC-32C of the
// length, data, masked CRC-32C of the data. Each record's data is an Event message
// (tensorflow/core/util/event.proto).

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace labgrad::labs {

// CRC-32C (Castagnoli), RFC 3720 B.4: crc32c("123456789") is 0xE3069283.
std::uint32_t crc32c(std::string_view bytes);

// As TFRecord stores it, so that a CRC of data that holds CRCs is no fixed value.
std::uint32_t masked_crc32c(std::string_view bytes);

// Appends to one event file in a folder of its own for each run. Throws Error if it can't be
// written.
class EventWriter {
 public:
  // Makes a new file in `dir` (and `dir`). `first_step` > 0 tells TensorBoard that this file
  // continues a run there, so that it forgets points that a stopped run wrote beyond that step.
  // `now` gives the seconds since 1970; only tests set it.
  explicit EventWriter(const std::filesystem::path& dir, std::int64_t first_step = 0,
                       std::function<double()> now = {});

  // A point of the curve `tag`.
  void scalar(std::string_view tag, double value, std::int64_t step);
  // The distribution of `values` (weights, gradients) in 30 bins of equal width; values that
  // aren't finite are left out.
  void histogram(std::string_view tag, std::span<const float> values, std::int64_t step);
  // Hands everything to the operating system; done by the destructor as well.
  void flush();

  const std::filesystem::path& path() const { return path_; }

 private:
  void record(const std::string& event);
  std::string event_head(std::int64_t step) const;

  std::filesystem::path path_;
  std::function<double()> now_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, &std::fclose};
};

// Removes the event files that EventWriter made in `dir`, so that a run that starts anew doesn't
// mix its curves with the last one's. Other files stay.
void remove_events(const std::filesystem::path& dir);

}  // namespace labgrad::labs
