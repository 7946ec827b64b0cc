#pragma once
// All ops.

#include "engine/ops/arithmetic.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/dropout.h"
#include "engine/ops/index.h"
#include "engine/ops/join.h"
#include "engine/ops/loss.h"
#include "engine/ops/matmul.h"
#include "engine/ops/norm.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"
#include "engine/ops/softmax.h"
