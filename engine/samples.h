#pragma once
// The registry of ops: a row for each public differentiable op, with sample inputs. The tests run
// every property over every row (tests/engine/test_samples.cpp), and labs/autograd prints a table
// of them. A new op with a row here is tested; one without fails the tests.
//
// A row reads (engine/samples/*.cpp; docs/extending.md):
//
//   {.op = "exp",
//    .f = [](const Tensors& x) { return exp(x[0]); },
//    .cases = elementwise(real)}

#include <string>
#include <vector>

#include "engine/gradcheck.h"
#include "engine/tensor.h"

namespace labgrad {

// What values a sample input holds.
struct Domain {
  double low = -2, high = 2;  // for i64: whole numbers in low .. high
  // Kinks and poles, from which floating values keep a distance of 0.1.
  std::vector<double> avoid = {};
  // No two values closer than 0.02, within the input nor between inputs: for ops that choose.
  bool distinct = false;
  bool whole = false;  // whole numbers in low .. high, zeros among them
  // f64 stands for the floating dtype that is asked for; i64 and bool are indices and masks.
  DType dtype = f64;
};

struct SampleInput {
  Shape shape;
  Domain domain = {};
};

struct SampleCase {
  std::vector<SampleInput> inputs;
  // Long enough for the parallel loops; too long for finite differences of each element.
  bool large = false;
};

// Whether f(s x) = s f(x), of all floating inputs together, or of each alone (a product).
enum class Linear : std::uint8_t { no, jointly, each };

struct OpSample {
  std::string op;              // the function's name
  std::string arguments = {};  // "dim=1", where the function takes more than tensors
  TensorFunction f;
  std::vector<SampleCase> cases;
  Linear linear = Linear::no;
  // What f32 may lose against f64, relative to the largest element.
  double f32_error = 1e-6;
  // Matrix products choose their loops by the strides, so another layout may round otherwise.
  bool rounds_by_layout = false;

  std::string label() const { return arguments.empty() ? op : op + "(" + arguments + ")"; }
};

// All rows, by family. Built on the first call.
const std::vector<OpSample>& op_samples();

// How sample inputs lie in memory. What lies between their elements is NaN (in i64 a number far out
// of range, in bool true), so that reading it shows.
enum class Layout : std::uint8_t {
  dense,
  transposed,  // the dimensions stored in reverse order
  strided,     // every second element along the last dimension
  offset,      // dense, but not at the start of the storage
  expanded,    // the first dimension of size above 1 is one slice repeated (stride 0)
};
inline constexpr Layout all_layouts[] = {Layout::dense, Layout::transposed, Layout::strided,
                                         Layout::offset, Layout::expanded};
const char* name_of(Layout layout);

struct SampleOptions {
  DType dtype = f64;
  Device device = default_device();
  Layout layout = Layout::dense;
  bool whole = false;  // whole numbers in -3 .. 3 for floating inputs, so that sums are exact
};

// The inputs of a case. The same call gives the same values, and they are the same numbers in f32
// and f64 and, but for expanded, in every layout.
Tensors sample_inputs(const OpSample& row, std::size_t index, SampleOptions options = {});

// check_gradients (order 1) or check_second_gradients (order 2) over the cases of a row: the worst
// relative error, and the first message. Large cases are left out.
GradcheckReport check_sample(const OpSample& row, int order);

}  // namespace labgrad
