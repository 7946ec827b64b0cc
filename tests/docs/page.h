#pragma once
// Reading the pages and the sources that the documentation tests compare.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace labgrad::tests {

// The whole file; "" if there is none. The tests run in the root of the repository.
inline std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace labgrad::tests
