#pragma once
// Learning rates over time. Each is a function of the number of steps done, in closed form, so that
// a resumed run needs the step number alone: optimizer.lr = schedule(step).

#include <cstdint>
#include <functional>

namespace labgrad::optim {

// The learning rate after `step` steps of the schedule (0 at the start). All that make one: error
// if `steps` or `every` is below 1.
using Schedule = std::function<double(std::int64_t step)>;

// low + (lr - low)(1 + cos(π step / steps)) / 2: `low` at `steps`, and rising again after it, as
// PyTorch's does; a run that may go on longer asks for min(step, steps).
// Loshchilov and Hutter 2017, equation 5.                                        [schedule.cosine]
Schedule cosine(double lr, std::int64_t steps, double low = 0);
// lr · factor^⌊step / every⌋                                                        [schedule.step]
Schedule step_decay(double lr, std::int64_t every, double factor = 0.1);
// Straight from lr at step 0 to lr · to at `steps`, then constant.               [schedule.linear]
Schedule linear_decay(double lr, std::int64_t steps, double to = 0);
// lr · (step + 1) / steps for the first `steps` steps, then `then` counted from its own start.
//                                                                                 [schedule.warmup]
Schedule warm_up(double lr, std::int64_t steps, Schedule then);

}  // namespace labgrad::optim
