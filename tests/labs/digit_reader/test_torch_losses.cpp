#include "labs/digit_reader/torch_losses.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "tests/golden.h"

using namespace labgrad;
using namespace labgrad::labs::digit_reader;

TEST_CASE("digit_reader: PyTorch's losses in the lab are the golden ones") {
  const Json single = golden::file("torch_curves.json"),
             twofold = golden::file("torch_double.json");
  for (const Kind kind : {Kind::fixed, Kind::attention}) {
    const std::string name = name_of(kind);
    auto check = [&](const TorchLosses& losses, const std::string& in_single,
                     const std::string& in_double) {
      CAPTURE(in_single);
      for (std::size_t i = 0; i < losses.in_single.size(); ++i)
        CHECK(losses.in_single[i] == single.at(in_single).at(std::to_string(i + 1)).as_double());
      const auto& all = twofold.at(in_double).as_array();
      REQUIRE(losses.in_double.size() == all.size());
      for (std::size_t i = 0; i < all.size(); ++i)
        CHECK(std::abs(losses.in_double[i] - all[i].as_double()) < 1e-8);
    };
    check(torch_ritual(kind), "ritual_" + name, "ritual_" + name);
    check(torch_training(kind), "train_" + name + "_first20", "train_" + name + "_first5");
  }
}
