// labs/translation: sequence to sequence, with and without attention.

#include "labs/translation/sections.h"

int main(int argc, char** argv) {
  using namespace labgrad::labs;
  Lab lab({.name = "translation",
           .title = "Translation: sequence to sequence, with and without attention",
           .summary = "A recurrent encoder and decoder translate German to English, once through a "
                      "single vector and once with attention to every word of the source.",
           .seed = 0});
  lab.section("models", "Part 3: two models, part by part", translation::models);
  return lab.run(argc, argv);
}
