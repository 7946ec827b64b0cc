#pragma once
// Reads TensorBoard's event files back, written from the format's description and not from the
// writer: checks each CRC and keeps what the labs write.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace labgrad::tests {

struct EventPoint {
  double wall_time = 0;
  std::int64_t step = 0;
  std::string file_version;
  bool session_start = false;
  std::string tag;
  float value = 0;
  std::vector<double> bucket_limits, buckets;
};

// Throws std::runtime_error if the file is broken: a wrong CRC, a record that ends early.
std::vector<EventPoint> read_events(const std::filesystem::path& path);

}  // namespace labgrad::tests
