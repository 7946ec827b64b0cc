#pragma once
// The sections of labs/translation, one file each.

#include "labs/common/lab.h"

namespace labgrad::labs::translation {

void models(Lab& lab);  // part 3: shapes, and attention's worked results

}  // namespace labgrad::labs::translation
