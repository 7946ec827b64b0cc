// Section 4: one value used many times (fan-out, broadcasting), one storage seen many ways (views).

#include "engine/engine.h"
#include "labs/autograd/sections.h"

namespace labgrad::labs::autograd {
namespace {

// "[7, 7, 7]", row after row.
std::string elements(const Tensor& x) {
  std::string text;
  for (const double value : x.to_vector())
    text += (text.empty() ? "[" : ", ") + fmt::format("{:g}", value);
  return text + "]";
}

void fan_out(Lab& lab) {
  lab.say(
      "Fan-out. A value that is used in several places gets a gradient from each, and they add "
      "up: that is the chain rule for several paths. Take y = x·x + 3x. Here x = 2 is used three "
      "times, twice in the product and once in the other term.");
  const auto prediction = lab.predict("y = x·x + 3x. What is ∂y/∂x at x = 2?");
  // The same sum with a separate leaf for each use shows what each path brings.
  const auto leaf = [] { return tensor(2.0, {.dtype = f64, .requires_grad = true}); };
  const Tensor first = leaf(), second = leaf(), third = leaf(), x = leaf();
  (first * second + 3 * third).backward();
  (x * x + 3 * x).backward();
  Table table({{"use of x"}, {"local derivative"}, {"gradient", ".1f"}});
  table.row("left factor of x·x", "the right factor, x", first.grad().item())
      .row("right factor of x·x", "the left factor, x", second.grad().item())
      .row("3x", "3", third.grad().item())
      .row("sum of the three", "2x + 3", x.grad().item());
  lab.table(table);
  lab.reveal(prediction, x.grad().item(), 1e-9);
  lab.check_close("the gradient is the sum over the uses", x.grad().item(),
                  first.grad().item() + second.grad().item() + third.grad().item(), 0);
  lab.check_close("2x + 3 at x = 2", x.grad().item(), 7, 0);
}

void broadcasting(Lab& lab) {
  lab.say(
      "Broadcasting is fan-out, too. In A + b a smaller b is read again and again along the "
      "missing dimensions and along those of size 1. Each reading is a use, so the gradient of b "
      "is the sum over all readings: a broadcast forward is a sum backward. The table has "
      "y = A + b with A of shape (2, 3), and the seed gradient 1, 2, ... 6; the engine does the "
      "summing in one place, and no op's formula mentions it.");
  const Tensor seed = reshape(arange(1.0, 7.0, {.dtype = f64}), {2, 3});
  Table table({{"shape of b"}, {"each element is read", "d"}, {"summed over"}, {"gradient of b"}});
  const std::vector<std::pair<Shape, std::string>> shapes = {{Shape{2, 3}, "nothing"},
                                                             {Shape{3}, "the rows"},
                                                             {Shape{1, 3}, "the rows"},
                                                             {Shape{2, 1}, "the columns"},
                                                             {Shape{}, "both"}};
  const std::string expected[] = {"[1, 2, 3, 4, 5, 6]", "[5, 7, 9]", "[5, 7, 9]", "[6, 15]",
                                  "[21]"};
  std::int64_t right = 0, own_shape = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto& [shape, summed] = shapes[i];
    const Tensor b = ones(shape, {.dtype = f64, .requires_grad = true});
    (zeros({2, 3}, {.dtype = f64}) + b).backward(seed);
    table.row(shape.str(), 6 / b.numel(), summed, elements(b.grad()));
    right += elements(b.grad()) == expected[i] ? 1 : 0;
    own_shape += b.grad().shape() == shape ? 1 : 0;
  }
  lab.table(table);
  lab.check_equal("gradients that are the sums worked out by hand", right, std::ssize(shapes));
  lab.check_equal("gradients that have the shape of their own b", own_shape, std::ssize(shapes));

  const Tensor x = ones({2, 1}, {.dtype = f64, .requires_grad = true});
  const Tensor z = ones({2, 3}, {.dtype = f64, .requires_grad = true});
  expand(x, {2, 3}).backward(seed);
  sum(z, 1, true).backward(tensor({{1.0}, {2.0}}, {.dtype = f64}));
  lab.say(
      "The other way round, a sum forward is a broadcast backward. The two ops are each other's "
      "gradient:");
  Table pair({{"op"}, {"from"}, {"to"}, {"seed"}, {"gradient"}});
  pair.row("expand", "(2, 1)", "(2, 3)", elements(seed), elements(x.grad()))
      .row("sum over dim 1", "(2, 3)", "(2, 1)", "[1, 2]", elements(z.grad()));
  lab.table(pair);
  lab.check_true("backward of expand sums", elements(x.grad()) == "[6, 15]");
  lab.check_true("backward of sum repeats", elements(z.grad()) == "[1, 1, 1, 2, 2, 2]");
}

void views(Lab& lab) {
  lab.say(
      "Views. A tensor is a storage, the numbers, and a way to read it: shape, strides (how far to "
      "go in the storage for one step along each dimension) and an offset. Many ops only change "
      "the way of reading and copy nothing. x has shape (2, 3) and holds 0 to 5.");
  const Tensor x = reshape(arange(0.0, 6.0, {.dtype = f64}), {2, 3});
  const auto strides_of = [](const Tensor& v) {
    std::string text = "(";
    for (int d = 0; d < v.rank(); ++d)
      text += (d == 0 ? "" : ", ") + std::to_string(v.strides()[d]);
    return text + ")";
  };
  struct Way {
    std::string name;
    Tensor view;
    bool shared;
  };
  const std::vector<Way> ways = {
      {"x", x, true},
      {"reshape(x, {3, 2})", reshape(x, {3, 2}), true},
      {"transpose(x)", transpose(x), true},
      {"select(x, 1, 2)", select(x, 1, 2), true},
      {"slice(x, 1, 0, 3, 2)", slice(x, 1, 0, 3, 2), true},
      {"expand(select(x, 0, 1), {2, 3})", expand(select(x, 0, 1), {2, 3}), true},
      {"reshape(transpose(x), {6})", reshape(transpose(x), {6}), false},
      {"flip(x, {1})", flip(x, {1}), false},
      {"clone(x)", clone(x), false}};
  Table table({{"op"}, {"shape"}, {"strides"}, {"offset", "d"}, {"shares"}, {"elements"}});
  std::int64_t as_told = 0;
  for (const Way& way : ways) {
    const bool shares = way.view.shares_storage(x);
    table.row(way.name, way.view.shape().str(), strides_of(way.view), way.view.offset(),
              shares ? "yes" : "a copy", elements(way.view));
    as_told += shares == way.shared ? 1 : 0;
  }
  lab.table(table);
  lab.check_equal("ops that share or copy as their page says", as_told, std::ssize(ways));

  Tensor base = zeros({2, 3}, {.dtype = f64});
  Tensor column = select(base, 1, 2);
  column.fill_(9);
  lab.say(
      "A change in place through one view is seen through all. After `select(base, 1, 2).fill_(9)` "
      "the base holds {}. The gradient of a view goes back by the same way of reading: into the "
      "places that were read, and 0 elsewhere.",
      elements(base));
  lab.check_true("the base has changed with its view", elements(base) == "[0, 0, 9, 0, 0, 9]");
  Tensor w = ones({2, 3}, {.dtype = f64, .requires_grad = true});
  sum(select(w, 1, 2) * 5 + select(w, 1, 0)).backward();
  lab.check_true("the gradient of 5 w[:, 2] + w[:, 0] is 1 and 5 in its two columns",
                 elements(w.grad()) == "[1, 0, 5, 1, 0, 5]");
}

}  // namespace

void sharing(Lab& lab) {
  fan_out(lab);
  broadcasting(lab);
  views(lab);
}

}  // namespace labgrad::labs::autograd
