#pragma once
// The whole engine: tensors, ops, gradients.

#include "engine/autograd.h"
#include "engine/backward.h"
#include "engine/create.h"
#include "engine/ops.h"
#include "engine/random.h"
#include "engine/tensor.h"
