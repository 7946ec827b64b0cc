#pragma once
// The sections of labs/attention, one file each.

#include "labs/common/lab.h"

namespace labgrad::labs::attention {

void worked_example(Lab& lab);      // 1: three keys, by hand
void why_scale(Lab& lab);           // 2: why the scores are divided by √d_k
void trained_encoder(Lab& lab);     // 3: TinyTransformer on reviews
void where_it_attended(Lab& lab);   // 4: scored, and the intervention
void without_positions(Lab& lab);   // 5: a null result, and a task that needs order
void position_codes(Lab& lab);      // 6: sinusoids
void against_recurrence(Lab& lab);  // 7: cost and path length, measured
void additive_and_hard(Lab& lab);   // 8: other scores, and sampling in place of averaging

}  // namespace labgrad::labs::attention
