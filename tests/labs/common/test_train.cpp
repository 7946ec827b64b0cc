#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "engine/create.h"
#include "engine/error.h"
#include "engine/io/file.h"
#include "engine/ops.h"
#include "labs/common/checkpoint.h"
#include "labs/common/interrupt.h"
#include "labs/common/train.h"
#include "tests/engine/io/files.h"
#include "tests/labs/common/events.h"
#include "tests/labs/common/small_training.h"

using namespace labgrad;
using namespace labgrad::labs;
using namespace labgrad::tests;
namespace fs = std::filesystem;

TEST_CASE("train: stopping after any step and going on gives the same bits") {
  files::Scratch dir("train");
  SmallTraining whole;
  const History expected = train(whole.training(5), files_in(dir.folder() / "whole", false));
  REQUIRE(expected.losses.size() == 20);
  REQUIRE(expected.epochs.size() == 5);
  for (std::size_t e = 0; e < 5; ++e) {
    const auto first = expected.losses.begin() + static_cast<std::ptrdiff_t>(4 * e);
    CHECK(expected.epoch_losses[e] == doctest::Approx(std::accumulate(first, first + 4, 0.0) / 4));
  }
  const std::uint32_t next_draw = default_generator().u32();

  // In the middle, at the last step of an epoch, at the very last step, at the first.
  for (std::int64_t stop : {5, 7, 19, 0}) {
    CAPTURE(stop);
    const fs::path folder = dir.folder() / std::to_string(stop);
    SmallTraining stopped;
    stopped.stop_at = stop;
    CHECK_THROWS_AS(train(stopped.training(5), files_in(folder, false)), Interrupted);
    request_stop(false);
    SmallTraining resumed;
    default_generator().u32();  // must not matter
    const History history = train(resumed.training(5), files_in(folder, true));
    CHECK(history.losses == expected.losses);
    CHECK(history.epoch_losses == expected.epoch_losses);
    CHECK(history.epochs == expected.epochs);
    CHECK(same_bits(resumed.net->state_dict(), whole.net->state_dict()));
    CHECK(same_bits(resumed.adam->state_dict(), whole.adam->state_dict()));
    CHECK(default_generator().u32() == next_draw);
  }
}

TEST_CASE("train: a finished run is taken over, or prolonged") {
  files::Scratch dir("train");
  SmallTraining whole;
  const History expected = train(whole.training(4), files_in(dir.folder() / "a", false));
  SmallTraining first;
  train(first.training(3), files_in(dir.folder() / "b", false));
  SmallTraining longer;
  const History prolonged = train(longer.training(4), files_in(dir.folder() / "b", true));
  CHECK(prolonged.losses == expected.losses);
  SmallTraining again;
  Training no_more = again.training(4);
  no_more.step = [](const Batch&, std::int64_t) -> double { fail("must not train"); };
  CHECK(train(no_more, files_in(dir.folder() / "b", true)).losses == expected.losses);
  CHECK(same_bits(again.net->state_dict(), whole.net->state_dict()));
}

TEST_CASE("train: the curves are on disk, once each") {
  files::Scratch dir("train");
  SmallTraining old, fresh;
  train(old.training(1), files_in(dir.folder(), false));
  const History history = train(fresh.training(2), files_in(dir.folder(), false));
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(dir.folder() / "runs"))
    files.push_back(entry.path());
  REQUIRE(files.size() == 1);  // the earlier run's file is gone
  std::vector<double> losses, sizes;
  for (const auto& event : tests::read_events(files[0])) {
    if (event.tag == "loss/step") {
      CHECK(event.step == static_cast<std::int64_t>(losses.size()));
      losses.push_back(event.value);
    }
    if (event.tag == "size") sizes.push_back(event.value);
  }
  REQUIRE(losses.size() == history.losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i)
    CHECK(losses[i] == static_cast<float>(history.losses[i]));
  REQUIRE(sizes.size() == 2);
  CHECK(sizes[1] == static_cast<float>(history.last("size")));
  const Series curve = history.curve("loss", "training");
  CHECK(curve.name == "training");
  CHECK(curve.x == std::vector<double>{1, 2});
  CHECK(curve.y == history.epoch_losses);
  CHECK_THROWS_AS(history.curve("nothing"), Error);
}

TEST_CASE("train: another config, a broken file and a loss that is no number are refused") {
  files::Scratch dir("train");
  SmallTraining p;
  train(p.training(1), files_in(dir.folder(), false));
  Training other = p.training(1);
  other.config = Json::object({{"seed", 5}, {"batch", 7}});
  CHECK_THROWS_WITH_AS(train(other, files_in(dir.folder(), true)), doctest::Contains("\"batch\":7"),
                       Error);
  const std::string whole = read_file(dir.folder() / "c.safetensors");
  write_file_atomic(dir.folder() / "c.safetensors", whole.substr(0, whole.size() / 2));
  CHECK_THROWS_AS(train(p.training(1), files_in(dir.folder(), true)), Error);
  SmallTraining bad;
  bad.poison = 2;
  CHECK_THROWS_WITH_AS(train(bad.training(1), files_in(dir.folder(), false)),
                       doctest::Contains("at step 2 (epoch 1, batch 3)"), Error);
  Training nothing = p.training(1);
  nothing.step = {};
  CHECK_THROWS_AS(train(nothing, files_in(dir.folder(), false)), Error);
}

TEST_CASE("train: ends early when it is enough, and stays so") {
  files::Scratch dir("train");
  SmallTraining p;
  Training t = p.training(9);
  t.enough = [](const History& h) { return h.epochs.size() == 2; };
  CHECK(train(t, files_in(dir.folder(), false)).epochs.size() == 2);
  SmallTraining again;
  Training resumed = again.training(9);
  resumed.enough = t.enough;
  CHECK(train(resumed, files_in(dir.folder(), true)).epochs.size() == 2);
}

TEST_CASE("checkpoint: tensors and state come back") {
  files::Scratch dir("train");
  Checkpoint c;
  c.put("model", {{"weight", tensor({{1.5, -2.0}, {0.0, 4.0}})}, {"steps", tensor({1, 2, 3})}});
  c.put("models", {{"other", zeros({0, 3})}});
  c.state = Json::object({{"epoch", 3}, {"text", "größe"}});
  const fs::path path = dir.folder() / "c.safetensors";
  save_checkpoint(path, c);
  const Checkpoint back = load_checkpoint(path);
  CHECK(same_bits(back.tensors, c.tensors));
  CHECK(back.state == c.state);
  CHECK(back.take("model").size() == 2);
  CHECK(back.take("model")[0].first == "weight");
  CHECK(back.take("model")[1].second.dtype() == i64);
  CHECK_THROWS_AS(load_checkpoint(dir.folder() / "none"), MissingFile);
  save_safetensors(path, c.tensors);
  CHECK_THROWS_WITH_AS(load_checkpoint(path), doctest::Contains("no state of a training"), Error);
}

TEST_CASE("checkpoint: a generator goes on where it was") {
  Generator g(3), h(4);
  std::vector<float> some(5), a(7), b(7);
  g.normal(some);
  restore_generator(h, generator_text(g));
  g.normal(a);
  h.normal(b);
  CHECK(a == b);
  CHECK_THROWS_AS(restore_generator(h, "abc"), Error);
  CHECK_THROWS_AS(restore_generator(h, "zz"), Error);
  CHECK_THROWS_AS(restore_generator(h, "00"), Error);
}
