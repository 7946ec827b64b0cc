#include "engine/error.h"

#include <string_view>

namespace labgrad {

void fail(const std::string& message) { throw Error(message); }

void fail(const std::string& message, const Caller& caller) {
  std::string_view file = caller.file;
  if (auto slash = file.rfind('/'); slash != std::string_view::npos) file.remove_prefix(slash + 1);
  throw Error(message + " (called from " + std::string(file) + ":" + std::to_string(caller.line) +
              ")");
}

}  // namespace labgrad
