#pragma once
// The one exception of the library. Messages are sentences for a student: the op or the file, the
// shapes and dtypes met, what was expected, and a hint.

#include <stdexcept>
#include <string>

namespace labgrad {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Where the user called an op. Ops whose misuse is common take `Caller caller = Caller::here()` as
// last argument, so that the message can say which line of the user's program is meant. It is
// std::source_location in two fields: clang 14 has the built-ins below, but not that type.
struct Caller {
  const char* file;
  unsigned line;
  static constexpr Caller here(const char* file = __builtin_FILE(),
                               unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

// Throws Error(message).
[[noreturn]] void fail(const std::string& message);

// Throws Error(message + " (called from file:line)").
[[noreturn]] void fail(const std::string& message, const Caller& caller);

}  // namespace labgrad
