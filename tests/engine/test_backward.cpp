#include "engine/backward.h"

#include <doctest/doctest.h>

#include "engine/autograd.h"
#include "engine/engine.h"

using namespace labgrad;

namespace {

Tensor leaf(double value) { return full({}, value, {.dtype = f64, .requires_grad = true}); }

}  // namespace

TEST_CASE("a backward that fails halfway leaves no gradient, and a graph that says it is freed") {
  Tensor a = leaf(1), b = leaf(2);
  const Tensor x = a * 3, y = b * full({2}, 4.0, {.dtype = f64});
  const Tensor again = differentiable("wrong", full({}, 0.0, {.dtype = f64}),
                                      wrt(x, [](const Tensor& dy) { return dy; }),
                                      wrt(y, [](const Tensor&) -> Tensor { fail("no gradient"); }));
  CHECK_THROWS_WITH_AS(again.backward(), "no gradient", Error);
  CHECK_THROWS_WITH_AS(again.backward(), "no gradient", Error);  // nothing was handed on
  const Tensor bad = differentiable("bad", full({2}, 0.0, {.dtype = f64}),
                                    wrt(x, [](const Tensor& dy) { return sum(dy); }),
                                    wrt(y, [](const Tensor&) { return zeros({5}); }));
  CHECK_THROWS_WITH_AS(sum(bad).backward(), doctest::Contains("the gradient of input 1"), Error);
  CHECK_THROWS_WITH_AS(sum(bad).backward(), doctest::Contains("freed already at 'bad'"), Error);
  CHECK_FALSE(a.grad().defined());
  CHECK_FALSE(b.grad().defined());
}

TEST_CASE("a gradient handed on as it is reaches each input that needs one") {
  for (bool a_needs : {true, false})
    for (bool b_needs : {true, false}) {
      if (!a_needs && !b_needs) continue;
      const Tensor a = leaf(1).detach().requires_grad_(a_needs);
      const Tensor b = leaf(2).detach().requires_grad_(b_needs);
      (a + b).backward();
      if (a_needs) CHECK(a.grad().item() == 1);
      if (b_needs) CHECK(b.grad().item() == 1);
    }
}

TEST_CASE("gradients of every rank are brought to the input's form") {
  for (int rank = 0; rank <= 6; ++rank) {  // nodes keep up to 3 sizes themselves
    const Tensor x = full(Shape::filled(rank, 2), 1.0, {.dtype = f64, .requires_grad = true});
    const Tensor y = x * 2;
    Shape wider = y.shape();
    wider.insert(0, 3);
    sum(y + zeros(wider, {.dtype = f64})).backward();
    CHECK(x.grad().shape() == x.shape());
    CHECK(x.grad().to_vector()[0] == 6);
  }
}
