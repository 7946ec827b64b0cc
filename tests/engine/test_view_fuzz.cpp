// Random programs: views of views, then an op. A model in plain index arithmetic says which element
// of the start each element of the last view is, so that values and gradients of the views are
// checked against it; the op is checked against the specification (the naive device), on the view
// as it lies and on a dense copy of it.

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "tests/check_close.h"

using namespace labgrad;
using tests::bit_difference;
using tests::difference;

namespace {

constexpr int programs = 2000;
constexpr std::uint64_t seed = 20240917;

// Where each element comes from, in row-major order.
struct Model {
  Shape shape;
  std::vector<std::int64_t> from;

  // The model of a view of shape `to` whose element at `index` is this one's at f(index).
  Model view(const Shape& to, const std::function<Shape(const Shape&)>& f) const {
    Model y{to, {}};
    for (std::int64_t i = 0; i < to.numel(); ++i) {
      Shape index = to;
      for (std::int64_t rest = i, d = to.rank() - 1; d >= 0; --d) {
        index[static_cast<int>(d)] = rest % to[static_cast<int>(d)];
        rest /= to[static_cast<int>(d)];
      }
      const Shape at = f(index);
      std::int64_t place = 0;
      for (int d = 0; d < shape.rank(); ++d) place = place * shape[d] + at[d];
      y.from.push_back(from[static_cast<std::size_t>(place)]);
    }
    return y;
  }
};

class Program {
 public:
  explicit Program(std::uint64_t number) : g_(derive_seed(seed, number)) {
    Shape shape;
    for (std::int64_t rank = below(5); rank > 0; --rank) shape.push_back(size());
    start_ = randn(shape, g_, {.dtype = below(2) == 0 ? f32 : f64});
    for (std::int64_t i = 0; i < shape.numel(); ++i) model_.from.push_back(i);
    model_.shape = shape;
    text = name_of(start_.dtype()) + (" " + shape.str());
  }

  std::string text;  // the program as it would be written

  // "" if all is well.
  std::string run() {
    start_.requires_grad_();
    Tensor x = start_;
    for (std::int64_t n = 3 + below(4); n > 0; --n) x = step(x);
    if (x.shape() != model_.shape)
      return "the view has shape " + x.shape().str() + ", the model " + model_.shape.str();
    const std::vector<double> values = start_.to_vector();
    std::vector<double> want, dwant(values.size(), 0);
    const Tensor dx = randn(x.shape(), g_, {.dtype = x.dtype()});
    const std::vector<double> weights = dx.to_vector();
    for (std::size_t i = 0; i < model_.from.size(); ++i) {
      const auto at = static_cast<std::size_t>(model_.from[i]);
      want.push_back(values[at]);
      dwant[at] += weights[i];
    }
    constexpr tests::Tolerance sums{.rtol = 1e-5, .atol = 1e-5, .vacuous = true};
    if (x.to_vector() != want) return "the view's elements are not the model's";
    if (std::string d = difference(grad(x, start_, dx, {.retain_graph = true}), dwant, sums);
        !d.empty())
      return "the view's gradient: " + d;
    return apply_op(x.detach());
  }

 private:
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(g_.u32() % static_cast<std::uint32_t>(n));
  }
  // 1 is frequent, for squeezing and expanding; 0 is rare.
  std::int64_t size() {
    const std::int64_t s = below(16);
    return s == 0 ? 0 : s < 4 ? 1 : 2 + s % 4;
  }
  // A dimension of x, written from either end.
  std::int64_t dim(int rank, int& d) {
    d = static_cast<int>(below(rank));
    return below(2) == 0 ? d : d - rank;
  }
  void say(const std::string& name, const std::vector<std::int64_t>& arguments) {
    text += " " + name + "(";
    for (std::size_t i = 0; i < arguments.size(); ++i)
      text += (i > 0 ? ", " : "") + std::to_string(arguments[i]);
    text += ")";
  }
  static std::vector<std::int64_t> list(const Shape& s) { return {s.begin(), s.end()}; }

  Tensor step(const Tensor& x) {
    const Shape s = x.shape();
    const int rank = s.rank();
    int d = 0, e = 0;
    switch (below(rank == 0 ? 3 : 12)) {
      case 0: {
        if (rank >= 5) return x;
        const std::int64_t at = below(rank + 1);
        say("unsqueeze", {at});
        Shape to = s;
        to.insert(static_cast<int>(at), 1);
        model_ = Model{to, model_.from};
        return unsqueeze(x, at);
      }
      case 1: {
        Shape to = s;
        if (rank < 5 && below(2) == 0) to.insert(0, 1 + below(3));
        const int added = to.rank() - rank;
        for (int i = 0; i < rank; ++i)
          if (s[i] == 1 && below(2) == 0) to[added + i] = below(4);
        say("expand", list(to));
        model_ = model_.view(to, [&](const Shape& index) {
          Shape at = s;
          for (int i = 0; i < rank; ++i) at[i] = s[i] == 1 ? 0 : index[added + i];
          return at;
        });
        return expand(x, to);
      }
      case 2: {
        // Two neighbours joined, or one size divided in two.
        Shape to = s;
        if (rank > 1 && below(2) == 0) {
          d = static_cast<int>(below(rank - 1));
          to[d] *= to[d + 1];
          to.erase(d + 1);
        } else if (rank > 0 && rank < 5) {
          d = static_cast<int>(below(rank));
          const std::int64_t part = s[d] % 2 == 0 && s[d] > 0 ? 2 : 1;
          to[d] /= part;
          to.insert(d, part);
        } else {
          to = {s.numel()};
        }
        say("reshape", list(to));
        model_ = Model{to, model_.from};
        return reshape(x, to);
      }
      case 3: {
        const std::int64_t a = dim(rank, d), b = dim(rank, e);
        say("transpose", {a, b});
        Shape to = s;
        std::swap(to[d], to[e]);
        model_ = model_.view(to, [&](Shape index) {
          std::swap(index[d], index[e]);
          return index;
        });
        return transpose(x, a, b);
      }
      case 4: {
        Shape order;
        for (std::int64_t i : g_.randperm(rank)) order.push_back(i);
        say("permute", list(order));
        Shape to = s;
        for (int i = 0; i < rank; ++i) to[i] = s[static_cast<int>(order[i])];
        model_ = model_.view(to, [&](const Shape& index) {
          Shape at = s;
          for (int i = 0; i < rank; ++i) at[static_cast<int>(order[i])] = index[i];
          return at;
        });
        return permute(x, order);
      }
      case 5: {
        const std::int64_t at = dim(rank, d), from = below(s[d] + 1), n = below(s[d] - from + 1);
        say("narrow", {at, from, n});
        Shape to = s;
        to[d] = n;
        model_ = model_.view(to, [&](Shape index) {
          index[d] += from;
          return index;
        });
        return narrow(x, at, from, n);
      }
      case 6:
      case 7: {
        const std::int64_t at = dim(rank, d), from = below(s[d] + 1), by = 1 + below(3);
        say("slice", {at, from, to_end, by});
        Shape to = s;
        to[d] = (s[d] - from + by - 1) / by;
        model_ = model_.view(to, [&](Shape index) {
          index[d] = from + index[d] * by;
          return index;
        });
        return slice(x, at, from, to_end, by);
      }
      case 8: {
        const std::int64_t at = dim(rank, d);
        if (s[d] == 0) return x;
        const std::int64_t i = below(s[d]);
        say("select", {at, i - s[d]});
        Shape to = s;
        to.erase(d);
        model_ = model_.view(to, [&](Shape index) {
          index.insert(d, i);
          return index;
        });
        return select(x, at, i - s[d]);
      }
      case 9: {
        const std::int64_t at = dim(rank, d);
        say("squeeze", {at});
        Shape to = s;
        if (s[d] == 1) to.erase(d);
        model_ = Model{to, model_.from};
        return squeeze(x, at);
      }
      case 10: {
        const std::int64_t at = dim(rank, d);
        say("flip", {at});
        model_ = model_.view(s, [&](Shape index) {
          index[d] = s[d] - 1 - index[d];
          return index;
        });
        return flip(x, {at});
      }
      default: {
        const std::int64_t at = dim(rank, d);
        if (s[d] == 0) return x;
        const std::int64_t i = below(s[d]);
        say("unbind", {at, i});
        Shape to = s;
        to.erase(d);
        model_ = model_.view(to, [&](Shape index) {
          index.insert(d, i);
          return index;
        });
        return unbind(x, at)[static_cast<std::size_t>(i)];
      }
    }
  }

  struct Op {
    const char* name;
    std::function<Tensor(const Tensor&)> f;
  };

  // An op on x as it lies, on a dense copy, and on the naive device: values and gradients.
  std::string apply_op(const Tensor& x) {
    const int rank = x.rank();
    const std::int64_t d = rank == 0 ? 0 : below(rank);
    const Tensor w = randn({rank == 0 ? 1 : x.size(-1), 3}, g_, {.dtype = x.dtype()});
    const Tensor row = randn(rank == 0 ? Shape{} : Shape{x.size(-1)}, g_, {.dtype = x.dtype()});
    const bool some = x.size(d) > 0;
    const auto there = [](const Tensor& t, const Tensor& like) { return to(t, like.device()); };
    const std::vector<Op> ops{
        {"exp", [](const Tensor& t) { return exp(t); }},
        {"gelu", [](const Tensor& t) { return gelu(t); }},
        {"mul", [&](const Tensor& t) { return t * there(row, t); }},
        {"div", [&](const Tensor& t) { return there(row, t) / (square(t) + 1); }},
        {"clone", [](const Tensor& t) { return clone(t); }},
        {"where", [](const Tensor& t) { return where(t > 0, t, 2 * t); }},
        {"sum", [&](const Tensor& t) { return sum(t, d); }},
        {"sum all", [](const Tensor& t) { return sum(t); }},
        {"cumsum", [&](const Tensor& t) { return cumsum(t, d); }},
        {"softmax", [&](const Tensor& t) { return softmax(t, d); }},
        {"logsumexp", [&](const Tensor& t) { return some ? logsumexp(t, d) : t; }},
        {"max", [&](const Tensor& t) { return some ? max(t, d).values : t; }},
        {"sort", [&](const Tensor& t) { return sort(t, d).values; }},
        {"var", [&](const Tensor& t) { return var(t, d, {.correction = 0}); }},
        {"matmul", [&](const Tensor& t) { return rank == 0 ? t : matmul(t, there(w, t)); }},
        {"gram", [&](const Tensor& t) { return rank < 2 ? t : matmul(t, transpose(t)); }},
        {"linear",
         [&](const Tensor& t) { return rank == 0 ? t : linear(t, transpose(there(w, t))); }},
        {"layer_norm",
         [&](const Tensor& t) {
           return rank > 0 && t.size(-1) > 0 ? layer_norm(t, {t.size(-1)}) : t;
         }},
        {"cat",
         [&](const Tensor& t) {
           return rank == 0 ? t : cat({t, 2 * t}, d);
         }},
        {"pad",
         [&](const Tensor& t) {
           return rank == 0 ? t : pad(t, {1, 2}, 0.5);
         }},
        {"tril", [&](const Tensor& t) { return rank < 2 ? t : tril(t); }},
        {"index_select",
         [&](const Tensor& t) {
           return rank > 0 && some ? index_select(t, d, there(tensor({0, t.size(d) - 1, 0}), t))
                                   : t;
         }},
    };
    const Op& op = ops[static_cast<std::size_t>(below(static_cast<std::int64_t>(ops.size())))];
    text += std::string(" ") + op.name + " along " + std::to_string(d);
    Tensor dy;
    const auto both = [&](Tensor in) {
      in = in.detach().requires_grad_();
      const Tensor y = op.f(in);
      if (!dy.defined()) dy = randn(y.shape(), g_, {.dtype = y.dtype()});
      return Tensors{y.detach(), grad(y, in, to(dy, y.device()))};
    };
    const Tensors as_it_lies = both(x), dense = both(clone(x)), plain = both(to(x, Device::naive));
    const double error = x.dtype() == f32 ? 2e-5 : 1e-12;
    const tests::Tolerance close{.rtol = error, .atol = error, .vacuous = true, .equal_nan = true};
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string what = i == 0 ? "the op's result " : "the op's gradient ";
      if (std::string e = difference(as_it_lies[i], dense[i], close); !e.empty())
        return what + "against a dense copy: " + e;
      if (std::string e = difference(as_it_lies[i], plain[i], close); !e.empty())
        return what + "against the specification: " + e;
    }
    return "";
  }

  Generator g_;
  Tensor start_;
  Model model_;
};

}  // namespace

TEST_CASE("views: random chains against index arithmetic, and ops on what comes out") {
  for (std::uint64_t number = 0; number < programs; ++number) {
    Program program(number);
    std::string complaint;
    try {
      complaint = program.run();
    } catch (const Error& e) {
      complaint = e.what();
    }
    INFO("seed " << seed << ", program " << number << ": " << program.text);
    CHECK(complaint == "");
  }
}
