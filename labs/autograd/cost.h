#pragma once
// The parts of section 7.

#include "labs/common/lab.h"

namespace labgrad::labs::autograd {

void time_of_ops(Lab& lab);
void bytes_of_graph(Lab& lab);
void growing_losses(Lab& lab);
void million_ops(Lab& lab);

}  // namespace labgrad::labs::autograd
