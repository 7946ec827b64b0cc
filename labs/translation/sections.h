#pragma once
// The sections of labs/translation, one file each, and --translate.

#include "labs/common/lab.h"

namespace labgrad::labs::translation {

void recurrent(Lab& lab);       // part 0: recurrent networks and their drawbacks
void soft_attention(Lab& lab);  // part 1: attention
void corpus(Lab& lab);          // part 2: the data
void models(Lab& lab);          // part 3: shapes, and attention's worked results
void one_batch(Lab& lab);       // part 4: one batch by heart
void tutorial(Lab& lab);        // part 4: the tutorial's training
void train_both(Lab& lab);      // part 4: both models by one recipe
void scores(Lab& lab);          // part 4: without teacher forcing
void by_length(Lab& lab);       // part 5: the bottleneck
void states(Lab& lab);          // part 5: sentences as points
void alignment(Lab& lab);       // part 5: what attention looked at
void translations(Lab& lab);    // part 5: sentences

void translate_one(Lab& lab);  // --translate

}  // namespace labgrad::labs::translation
