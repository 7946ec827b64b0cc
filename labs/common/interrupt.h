#pragma once
// Ctrl-C: the first asks the program to finish its step, save and end; the second ends it at once.

#include "engine/error.h"

namespace labgrad::labs {

// Thrown by a loop that ended early because the student asked for it, after it has saved its state.
class Interrupted : public Error {
 public:
  using Error::Error;
};

// From here on the first Ctrl-C only sets the flag; the handler then steps aside, so that a second
// one has its usual effect.
void install_stop_handler();

// Has Ctrl-C been pressed? Costs a load; ask after every step.
bool stop_requested();

// Sets or clears the flag by hand.
void request_stop(bool stop = true);

}  // namespace labgrad::labs
