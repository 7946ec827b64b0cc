#pragma once
// The one exception of the library. Messages are sentences for a student: the op or the file, the
// shapes and dtypes met, what was expected, and a hint.

#include <source_location>
#include <stdexcept>
#include <string>

namespace labgrad {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Where the user called an op. Ops whose misuse is common take it as a last, defaulted argument,
// so that the message can say which line of the user's program is meant.
using Caller = std::source_location;

// Throws Error(message).
[[noreturn]] void fail(const std::string& message);

// Throws Error(message + " (called from file:line)").
[[noreturn]] void fail(const std::string& message, const Caller& caller);

}  // namespace labgrad
