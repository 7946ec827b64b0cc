#pragma once
// The sections of labs/pretrained, one file each, and the two things it does instead when asked.

#include "labs/common/lab.h"

namespace labgrad::labs::pretrained {

void add_options(Options& options);  // the lab's own

void network(Lab& lab);    // what the network is made of, stage by stage
void weights(Lab& lab);    // the file that holds it, read strictly
void retrieval(Lab& lab);  // experiment 11: is the nearest neighbour of the same class?
void shifted(Lab& lab);    // experiment 11, why: queries moved out of their place
void seen(Lab& lab);       // what the network takes the pictures for
void gallery(Lab& lab);    // ten queries and their neighbours
void scatter(Lab& lab);    // embeddings as points
void depth(Lab& lab);      // retrieval after each stage
void probe(Lab& lab);      // a linear classifier on frozen embeddings
void cost(Lab& lab);       // batch norm folded; what a picture costs

void classify(Lab& lab);     // --classify
void train_small(Lab& lab);  // --train-small

}  // namespace labgrad::labs::pretrained
