#pragma once
// Time and memory, as section 7 measures them. No check depends on a time.

#include <cstddef>
#include <functional>
#include <optional>

namespace labgrad::labs::autograd {

double seconds(const std::function<void()>& work);

// Nanoseconds for one call: the fastest of several rounds of about `round` seconds each, for what
// disturbs a measurement only ever makes it longer.
double nanoseconds_each(const std::function<void()>& work, double round);

// The stack that a thread may use, where it has a limit.
std::optional<double> stack_limit_bytes();

}  // namespace labgrad::labs::autograd
