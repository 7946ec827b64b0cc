#pragma once

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "engine/error.h"
#include "engine/tensor.h"

// What the tests of file formats share.
namespace files {

// A path in a folder of its own, which is removed with everything in it.
class Scratch {
 public:
  // The process is part of the name: two runs of the tests at one time must not meet.
  explicit Scratch(const std::string& name)
      : folder_(std::filesystem::temp_directory_path() /
                ("labgrad_test_" + name + "_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path file(const std::string& name) const { return folder_ / name; }
  long entries() const { return std::distance(std::filesystem::directory_iterator(folder_), {}); }

 private:
  std::filesystem::path folder_;
};

// Plain writing: the fuzz tests write thousands of files, which need not survive a power cut.
inline void write(const std::filesystem::path& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

template <class T>
labgrad::Tensor tensor(const labgrad::Shape& shape, const std::vector<T>& values) {
  labgrad::Tensor x = labgrad::empty(shape, labgrad::dtype_of<T>, labgrad::Device::cpu);
  const std::span<T> out = x.writable_span<T>();
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = values[i];
  return labgrad::moved(x, labgrad::default_device());
}

// Equal shape, dtype and bits.
inline bool same(const labgrad::Tensor& a, const labgrad::Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const labgrad::Tensor x = labgrad::packed(labgrad::moved(a, labgrad::Device::cpu));
  const labgrad::Tensor y = labgrad::packed(labgrad::moved(b, labgrad::Device::cpu));
  const auto bytes = static_cast<std::size_t>(x.numel()) * labgrad::size_of(x.dtype());
  return bytes == 0 || std::memcmp(x.array().data, y.array().data, bytes) == 0;
}

// The message of the Error that `call` must end in.
template <class F>
std::string problem(F&& call) {
  try {
    call();
  } catch (const labgrad::Error& error) {
    return error.what();
  }
  return "no error";
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

}  // namespace files
