#pragma once
// The sections of labs/autograd, one file each.

#include "labs/common/lab.h"

namespace labgrad::labs::autograd {

void one_neuron(Lab& lab);          // 1: graph, forward, backward, beside the values by hand
void finite_differences(Lab& lab);  // 2: the V of the error against the step
void every_op(Lab& lab);            // 3: all ops of the engine against finite differences
void sharing(Lab& lab);             // 4: fan-out, broadcasting, views
void mistakes(Lab& lab);            // 5: what goes wrong, the message, what to do
void two_layers(Lab& lab);          // 6: a network by the chain rule alone, then with nn and optim
void cost(Lab& lab);                // 7: nanoseconds, bytes, a million ops

}  // namespace labgrad::labs::autograd
