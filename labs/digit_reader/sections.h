#pragma once
// The sections of labs/digit_reader, one file each, and --dump-strips.

#include "labs/common/lab.h"

namespace labgrad::labs::digit_reader {

void strips(Lab& lab);          // Q1.1: the data, and what a column of the feature map sees
void columns(Lab& lab);         // Q2: a state for every column
void attend_checks(Lab& lab);   // Q3.1: attention by hand
void two_readers(Lab& lab);     // Q3.2, Q3.3: parameters
void ritual(Lab& lab);          // Q3.3: one batch by heart
void seed_for_seed(Lab& lab);   // Q3.3: the same losses as PyTorch's
void train_both(Lab& lab);      // Q4.1, Q4.2: the same recipe for both
void compare(Lab& lab);         // Q4.3: by length
void maps(Lab& lab);            // Q5.1: where the weight falls
void alignment(Lab& lab);       // Q5.2: over the test set
void intervention(Lab& lab);    // Q5.3: a digit replaced
void longer_strips(Lab& lab);   // Q6.1: beyond the training lengths
void longer_maps(Lab& lab);     // Q6.2: attention there
void position_codes(Lab& lab);  // section 7: codes of the columns
void run_records(Lab& lab);     // section 8: what was run

void dump_strips(Lab& lab);  // --dump-strips

}  // namespace labgrad::labs::digit_reader
