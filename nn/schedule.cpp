#include "nn/schedule.h"

#include <cmath>
#include <numbers>
#include <string>

#include "engine/error.h"

namespace labgrad::optim {
namespace {

void check_steps(const char* function, std::int64_t steps) {
  if (steps < 1)
    fail(std::string(function) + ": " + std::to_string(steps) + " steps, at least 1 is needed");
}

}  // namespace

Schedule cosine(double lr, std::int64_t steps, double low) {
  check_steps("cosine", steps);
  return [=](std::int64_t step) {
    const double share = static_cast<double>(step) / static_cast<double>(steps);
    return low + (lr - low) * (1 + std::cos(std::numbers::pi * share)) / 2;
  };
}

Schedule step_decay(double lr, std::int64_t every, double factor) {
  check_steps("step_decay", every);
  return
      [=](std::int64_t step) { return lr * std::pow(factor, static_cast<double>(step / every)); };
}

Schedule linear_decay(double lr, std::int64_t steps, double to) {
  check_steps("linear_decay", steps);
  return [=](std::int64_t step) {
    if (step >= steps) return lr * to;
    const double share = static_cast<double>(step) / static_cast<double>(steps);
    return lr * (1 + (to - 1) * share);
  };
}

Schedule warm_up(double lr, std::int64_t steps, Schedule then) {
  check_steps("warm_up", steps);
  return [=](std::int64_t step) {
    if (step >= steps) return then(step - steps);
    return lr * static_cast<double>(step + 1) / static_cast<double>(steps);
  };
}

}  // namespace labgrad::optim
