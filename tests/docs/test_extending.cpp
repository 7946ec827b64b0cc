// The example ops of docs/extending.md, compiled and checked as it says; and a check that the page
// shows the code as it stands.

#include <doctest/doctest.h>

#include <cmath>
#include <regex>
#include <sstream>

#include "engine/engine.h"
#include "engine/gradcheck.h"
#include "tests/docs/page.h"

namespace {

using labgrad::tests::contents;

using namespace labgrad;

// y = x ⊙ σ(x)
Tensor silu(const Tensor& x) { return x * sigmoid(x); }

// y = ln cosh x        dx = dy ⊙ tanh x
Tensor log_cosh(const Tensor& x) {
  Tensor y;
  {
    NoGrad no_grad;  // only the result counts here, the closure below is its gradient
    const Tensor a = abs(x);
    y = a + softplus(a * -2.0) - std::log(2.0);
  }
  return differentiable("log_cosh", y,
                        wrt(x, [x = save(x)](const Tensor& dy) { return dy * tanh(x); }));
}

// Blanks and line ends folded: the page may break lines where the code does not.
std::string folded(const std::string& text) {
  static const std::regex blanks(R"(\s+)");
  return std::regex_replace(text, blanks, " ");
}

}  // namespace

TEST_CASE("extending: the example ops have right gradients, twice") {
  using Op = Tensor (*)(const Tensor&);
  for (const auto& [name, op] :
       {std::pair<const char*, Op>{"silu", silu}, {"log_cosh", log_cosh}}) {
    const auto f = [op = op](const Tensors& x) { return op(x[0]); };
    const Tensor x =
        tensor({{-30.0, -1.0, 0.5}, {0.1, 2.0, 30.0}}, {.dtype = f64, .requires_grad = true});
    gradcheck(f, {x}, {.op = name});
    gradgradcheck(f, {x}, {.op = name});
  }
  CHECK(log_cosh(tensor({1000.0}, {.dtype = f64})).item() == doctest::Approx(1000 - std::log(2.0)));
}

TEST_CASE("extending, gpu: every piece of code on the pages stands in the file that it names") {
  static const std::regex block("`([a-z_/.]+)`:\n\n```cpp\n([^`]*)```");
  for (const auto& [name, count] : {std::pair{"docs/extending.md", 7}, {"docs/gpu.md", 2}}) {
    const std::string page = contents(name);
    int blocks = 0;
    for (std::sregex_iterator it(page.begin(), page.end(), block), end; it != end; ++it, ++blocks) {
      const std::string file = (*it)[1], code = (*it)[2];
      CHECK_MESSAGE(folded(contents(file)).find(folded(code)) != std::string::npos,
                    file << " does not hold:\n"
                         << code);
    }
    CHECK(blocks == count);
  }
}
