#include "nn/optim.h"

#include <doctest/doctest.h>

#include "engine/engine.h"
#include "nn/clip.h"
#include "nn/linear.h"
#include "nn/schedule.h"
#include "tests/nn/golden_modules.h"

using namespace labgrad;
using namespace labgrad::tests;

namespace {

double number(const Json& attrs, const char* key, double fallback) {
  const Json* v = attrs.find(key);
  return v ? v->as_double() : fallback;
}

// Each case of `op`: parameters p0, p1, ... get the gradients grad0[t], grad1[t], ... at step t.
int check_steps(
    const std::string& op,
    const std::function<std::unique_ptr<optim::Optimizer>(const Json&, Tensors)>& make) {
  const Json& file = golden::file("ops.json");
  int cases = 0;
  for (const Json& c : file.at("cases").as_array()) {
    if (c.at("op").as_string() != op) continue;
    ++cases;
    CAPTURE(c.at("name").as_string());
    Tensors parameters, gradients;
    for (int i = 0; const Json* p = c.at("inputs").find("p" + std::to_string(i)); ++i) {
      parameters.push_back(golden_tensor(*p));
      gradients.push_back(golden_tensor(c.at("inputs").at("grad" + std::to_string(i))).detach());
    }
    const auto optimizer = make(c.at("attrs"), parameters);
    for (std::int64_t t = 0; t < c.at("attrs").at("steps").as_int(); ++t) {
      for (std::size_t i = 0; i < parameters.size(); ++i)
        parameters[i].set_grad(select(gradients[i], 0, t));
      optimizer->step();
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Tensor want = golden_tensor(c.at("outputs").at("p" + std::to_string(i))).detach();
        CHECK(difference(parameters[i], select(want, 0, t), {.rtol = 1e-12, .atol = 1e-14}) == "");
      }
    }
  }
  return cases;
}

optim::AdamOptions adam_options(const Json& a) {
  const std::vector<double> betas = golden::doubles(a.at("betas"));
  return {.lr = number(a, "lr", 0),
          .beta1 = betas[0],
          .beta2 = betas[1],
          .eps = number(a, "eps", 0),
          .weight_decay = number(a, "weight_decay", 0)};
}

Tensor leaf(std::initializer_list<double> values) {
  return from_values(std::vector<double>(values), {static_cast<std::int64_t>(values.size())},
                     {.requires_grad = true});
}

}  // namespace

TEST_CASE("optimisers: five steps are PyTorch's") {
  CHECK(check_steps("sgd", [](const Json& a, Tensors p) {
          const Json* nesterov = a.find("nesterov");
          return std::make_unique<optim::SGD>(
              std::move(p), optim::SgdOptions{.lr = number(a, "lr", 0),
                                              .momentum = number(a, "momentum", 0),
                                              .weight_decay = number(a, "weight_decay", 0),
                                              .nesterov = nesterov && nesterov->as_bool()});
        }) == 2);
  CHECK(check_steps("adam", [](const Json& a, Tensors p) {
          return std::make_unique<optim::Adam>(std::move(p), adam_options(a));
        }) == 2);
  CHECK(check_steps("adamw", [](const Json& a, Tensors p) {
          return std::make_unique<optim::AdamW>(std::move(p), adam_options(a));
        }) == 1);
}

TEST_CASE("weight decay: AdamW shrinks the weight itself, Adam's goes through the averages") {
  Tensor a = leaf({1}), b = leaf({1});
  a.set_grad(tensor({0.0}, {.dtype = f64}));
  b.set_grad(tensor({0.0}, {.dtype = f64}));
  optim::AdamW(Tensors{a}, {.lr = 0.1, .weight_decay = 0.1}).step();
  optim::Adam(Tensors{b}, {.lr = 0.1, .weight_decay = 0.1}).step();
  CHECK(a.item() == 0.99);
  CHECK(b.item() == doctest::Approx(0.9).epsilon(1e-6));  // the sign of the decay, times lr
}

TEST_CASE("optimisers: a parameter without a gradient is left alone, decay included") {
  Tensor used = leaf({1, 2}), unused = leaf({3});
  optim::SGD sgd({used, unused}, {.lr = 0.1, .weight_decay = 0.5});
  optim::Adam adam({used, unused}, {.lr = 0.1, .weight_decay = 0.5});
  optim::AdamW adamw({used, unused}, {.lr = 0.1, .weight_decay = 0.5});
  for (optim::Optimizer* o : std::initializer_list<optim::Optimizer*>{&sgd, &adam, &adamw}) {
    o->zero_grad();
    sum(used).backward();
    o->step();
  }
  CHECK(unused.item() == 3);
  CHECK(used.at({0}) != 1);
}

// A transposed parameter was updated in the order of its memory by gradients in the order of its
// indices.
TEST_CASE("optimisers: a parameter may lie in memory in any way") {
  auto steps = [](Tensor w, auto make) {
    w.requires_grad_();
    auto o = make(Tensors{w});
    for (int t = 0; t < 3; ++t) {
      o->zero_grad();
      sum(square(w) * reshape(arange(6, {.dtype = f64}), {3, 2})).backward();
      o->step();
    }
    return w;
  };
  auto sgd = [](Tensors p) {
    return std::make_unique<optim::SGD>(p, optim::SgdOptions{.lr = 0.1, .momentum = 0.9});
  };
  auto adam = [](Tensors p) {
    return std::make_unique<optim::Adam>(p, optim::AdamOptions{.lr = 0.1});
  };
  const Tensor start = reshape(arange(1, 7, {.dtype = f64}), {3, 2});
  const Tensor wide = zeros({3, 4}, {.dtype = f64});
  Tensor strided = slice(wide, 1, 0, to_end, 2).detach();
  for (int kind = 0; kind < 2; ++kind) {
    auto run = [&](const Tensor& w) { return kind == 0 ? steps(w, sgd) : steps(w, adam); };
    const Tensor want = run(clone(start));
    CHECK(bit_difference(run(transpose(clone(transpose(start)))), want) == "");
    strided = strided.detach();
    strided.copy_(start);
    CHECK(bit_difference(run(strided), want) == "");
    CHECK(difference(slice(wide, 1, 1, to_end, 2), zeros({3, 2}), {.vacuous = true}) == "");
  }
}

// Adam's averages stayed f32 after the model had become f64, and were read as f64.
TEST_CASE("optimisers: state follows a model to another dtype") {
  auto run = [](bool change) {
    manual_seed(8);
    nn::Linear model(3, 2);
    optim::Adam adam(model.parameters(), {.lr = 0.1});
    const Tensor x = randn({4, 3});
    for (int t = 0; t < 4; ++t) {
      if (change && t == 2) model.to(f64);
      adam.zero_grad();
      sum(square(model(to(x, model.weight.dtype())))).backward();
      adam.step();
    }
    return model.weight;
  };
  CHECK(run(true).dtype() == f64);
  CHECK(difference(run(true), run(false), {.rtol = 1e-5, .atol = 1e-6}) == "");
}

// A step between two backward passes through one graph changes what the graph has saved.
TEST_CASE("optimisers: a step makes graphs stale that have saved the weights") {
  for (const bool adam : {false, true}) {
    Tensor w = leaf({2}), b = leaf({1});
    const Tensor y = w * w + b;
    y.backward({}, {.retain_graph = true});
    if (adam)
      optim::Adam(Tensors{w}).step();
    else
      optim::SGD(Tensors{w}).step();
    CHECK_THROWS_WITH_AS(y.backward(), doctest::Contains("backward of 'mul'"), Error);
  }
}

TEST_CASE("optimisers: tied weights are one parameter, with the gradient of both uses") {
  Tensor w = leaf({2});
  optim::SGD sgd({w, w}, {.lr = 1});
  CHECK(sgd.parameters().size() == 1);
  sum(w * 3.0 + w * 4.0).backward();
  sgd.step();
  CHECK(w.item() == 2 - 7);
}

TEST_CASE("optimisers: a run that is saved and loaded goes on bit for bit") {
  auto run = [](int first, int second) {
    manual_seed(3);
    nn::Linear model(4, 3);
    const Tensor x = randn({8, 4}), y = randn({8, 3});
    auto steps = [&](optim::Optimizer& o, int from, int to) {
      const optim::Schedule rate = optim::cosine(0.1, 10);
      for (int t = from; t < to; ++t) {
        o.lr = rate(t);
        o.zero_grad();
        mse_loss(model(x), y).backward();
        o.step();
      }
    };
    auto start = std::make_unique<optim::Adam>(model.parameters(), optim::AdamOptions{.lr = 0.1});
    steps(*start, 0, first);
    std::vector<std::pair<std::string, Tensor>> saved;
    for (const auto& [name, t] : start->state_dict()) saved.emplace_back(name, clone(t));
    std::vector<nn::NamedTensor> weights;
    for (const auto& [name, t] : model.state_dict()) weights.emplace_back(name, clone(t));
    model = nn::Linear(4, 3);
    model.load_state_dict(weights);
    optim::Adam again(model.parameters(), {.lr = 7});
    again.load_state_dict(saved);
    CHECK(again.lr == start->lr);
    steps(again, first, first + second);
    return model.weight;
  };
  CHECK(bit_difference(run(10, 0), run(5, 5)) == "");
}

TEST_CASE("optimisers: loading names all that does not fit, and changes nothing") {
  Tensor w = leaf({1, 2});
  optim::SGD sgd({w}, {.lr = 0.1, .momentum = 0.9});
  w.set_grad(tensor({1.0, 1.0}, {.dtype = f64}));
  sgd.step();
  auto state = sgd.state_dict();
  state.emplace_back("0.v", zeros({2}));
  state[2].second = zeros({3}, {.dtype = f64});
  try {
    sgd.load_state_dict(state);
    FAIL("no error");
  } catch (const Error& e) {
    const std::string text = e.what();
    CHECK(text.find("misfit: 0.momentum is f64 (3,), expected f64 (2,)") != std::string::npos);
    CHECK(text.find("unexpected: 0.v") != std::string::npos);
  }
  CHECK_THROWS_AS(optim::Adam({w}, {.beta1 = 1.5}), Error);
  CHECK_THROWS_AS(optim::SGD({w}, {.nesterov = true}), Error);
  CHECK_THROWS_AS(optim::SGD(Tensors{}), Error);
  CHECK_THROWS_AS(optim::SGD({tensor({1.0})}), Error);
}

TEST_CASE("clipping: by the norm of all gradients, and by value") {
  Tensor a = leaf({0}), b = leaf({0});
  a.set_grad(tensor({12.0}, {.dtype = f64}));
  b.set_grad(tensor({16.0}, {.dtype = f64}));
  CHECK(optim::clip_grad_norm_({a, b}, 10) == 20);
  CHECK(a.grad().item() == doctest::Approx(6).epsilon(1e-6));
  CHECK(b.grad().item() == doctest::Approx(8).epsilon(1e-6));
  CHECK(optim::clip_grad_norm_({a, b}, 100) == doctest::Approx(10).epsilon(1e-6));
  optim::clip_grad_value_({a, b}, 7);
  CHECK(b.grad().item() == 7);
  b.set_grad(tensor({HUGE_VAL}, {.dtype = f64}));
  CHECK_THROWS_AS(optim::clip_grad_norm_({a, b}, 1), Error);
  CHECK_THROWS_AS(optim::clip_grad_norm_({a}, 0), Error);
  // The gradients that need it most: their squares are beyond the range of f32.
  const Tensor exploded = zeros({2}, {.requires_grad = true});
  Tensor(exploded).set_grad(tensor({3e20, 4e20}));
  CHECK(optim::clip_grad_norm_({exploded}, 1) == doctest::Approx(5e20));
  CHECK(difference(exploded.grad(), {0.6, 0.8}, {.rtol = 1e-6}) == "");
  // Listed twice, counted and scaled once.
  CHECK(optim::clip_grad_norm_({a, a}, 3) == doctest::Approx(6).epsilon(1e-6));
  CHECK(a.grad().item() == doctest::Approx(3).epsilon(1e-6));

  int cases = 0;
  for (const Json& c : golden::file("ops.json").at("cases").as_array()) {
    if (c.at("op").as_string() != "clip_grad_norm") continue;
    ++cases;
    Tensors p;
    for (const char* name : {"g0", "g1"}) {
      const Tensor g = golden_tensor(c.at("inputs").at(name)).detach();
      p.push_back(zeros(g.shape(), {.dtype = f64, .requires_grad = true}));
      p.back().set_grad(clone(g));
    }
    const double norm = optim::clip_grad_norm_(p, c.at("attrs").at("max_norm").as_double());
    CHECK(norm ==
          doctest::Approx(golden_tensor(c.at("outputs").at("total_norm")).item()).epsilon(1e-12));
    CHECK(difference(p[0].grad(), golden_tensor(c.at("outputs").at("g0"))) == "");
    CHECK(difference(p[1].grad(), golden_tensor(c.at("outputs").at("g1"))) == "");
  }
  CHECK(cases == 2);
}

TEST_CASE("schedules: cosine is PyTorch's; the others at their ends") {
  int cases = 0;
  for (const Json& c : golden::file("ops.json").at("cases").as_array()) {
    if (c.at("op").as_string() != "cosine_annealing") continue;
    ++cases;
    const Json& a = c.at("attrs");
    const double base = a.at("base_lr").as_double();
    const optim::Schedule rate =
        optim::cosine(base, a.at("T_max").as_int(), a.at("eta_min").as_double());
    const std::vector<double> want = golden::doubles(c.at("outputs").at("lr").at("data"));
    const std::vector<std::int64_t> steps = golden::integers(a.at("at_step"));
    for (std::size_t i = 0; i < steps.size(); ++i)
      CHECK(!(std::abs(rate(steps[i]) - want[i]) > 1e-9 * want[i] + 1e-15 * base));
  }
  CHECK(cases == 3);

  const optim::Schedule step = optim::step_decay(1, 3, 0.1);
  CHECK(step(2) == 1);
  CHECK(step(3) == doctest::Approx(0.1));
  const optim::Schedule line = optim::linear_decay(2, 4, 0.5);
  CHECK(line(0) == 2);
  CHECK(line(2) == 1.5);
  CHECK(line(9) == 1);
  const optim::Schedule warm = optim::warm_up(1, 4, optim::cosine(1, 10));
  CHECK(warm(0) == 0.25);
  CHECK(warm(3) == 1);
  CHECK(warm(4) == 1);
  CHECK(warm(14) == doctest::Approx(0));
  CHECK_THROWS_AS(optim::cosine(1, 0), Error);
}
