// A training that is killed outright, at any moment, loses at most the steps since its last
// checkpoint, and what it leaves can be loaded.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "engine/io/file.h"
#include "labs/common/checkpoint.h"
#include "tests/engine/io/files.h"
#include "tests/labs/common/small_training.h"

using namespace labgrad;
using namespace labgrad::labs;
using namespace labgrad::tests;
namespace fs = std::filesystem;

namespace {

constexpr const char* folder_variable = "LABGRAD_TEST_FOLDER";
constexpr std::int64_t epochs = 60, every = 3;  // 240 steps

// This program again, in a process of its own that does nothing but the test case below.
pid_t start_child() {
  const pid_t child = ::fork();
  if (child == 0) {
    const int quiet = ::open("/dev/null", O_WRONLY);
    ::dup2(quiet, 1);
    ::dup2(quiet, 2);
    ::execl("/proc/self/exe", "tests", "--no-skip", "-tc=child of the kill test", nullptr);
    ::_exit(127);
  }
  return child;
}

}  // namespace

TEST_CASE("child of the kill test" * doctest::skip()) {
  const char* folder = std::getenv(folder_variable);
  if (folder == nullptr) return;
  SmallTraining small;
  Training training = small.training(epochs);
  training.checkpoint_every = every;
  // One byte for each step that was done in this process, there at once.
  const int steps =
      ::open((fs::path(folder) / "steps").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const auto step = training.step;
  training.step = [&](const Batch& batch, std::int64_t i) {
    const double loss = step(batch, i);
    CHECK(::write(steps, "x", 1) == 1);
    return loss;
  };
  train(training, files_in(folder, true));
  ::close(steps);
}

TEST_CASE("train: kill -9 at any moment loses at most the steps since the last checkpoint") {
  files::Scratch dir("kill");
  ::setenv(folder_variable, dir.folder().c_str(), 1);
  const fs::path checkpoint = files_in(dir.folder(), true).checkpoint;
  Generator moments(20);
  std::int64_t at = 0, kills = 0;  // steps that the checkpoint holds
  for (int run = 0; run < 200; ++run) {
    // Most of these moments lie within the training, many within the writing of a checkpoint.
    std::int64_t wait[1];
    moments.random_ints(wait, 0, 60);
    fs::remove(dir.folder() / "steps");
    const pid_t child = start_child();
    REQUIRE(child > 0);
    if (kills < 12) {
      // Not before there is something to lose.
      while (!fs::exists(checkpoint) && ::kill(child, 0) == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::this_thread::sleep_for(std::chrono::milliseconds(wait[0]));
      ::kill(child, SIGKILL);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    if (WIFEXITED(status)) {
      REQUIRE(WEXITSTATUS(status) == 0);
      break;
    }
    ++kills;
    const std::int64_t held = load_checkpoint(checkpoint).state.at("step").as_int();
    std::error_code none;
    const auto done = static_cast<std::int64_t>(fs::file_size(dir.folder() / "steps", none));
    if (!none && done > 0) CHECK(at + done - held <= every);
    CHECK(held >= at);
    at = held;
  }
  ::unsetenv(folder_variable);
  CHECK(kills > 0);
  MESSAGE("killed " << kills << " times");

  SmallTraining whole;
  const History expected = train(whole.training(epochs), files_in(dir.folder() / "whole", false));
  const Checkpoint left = load_checkpoint(checkpoint);
  CHECK(left.state.at("step").as_int() == static_cast<std::int64_t>(expected.losses.size()));
  CHECK(same_bits(left.take("model"), whole.net->state_dict()));
  for (const auto& [name, values] : left.take("history"))
    if (name == "losses") CHECK(values.to_vector() == expected.losses);
  // What the killed processes were writing is cleared away by those that came after.
  std::size_t temporary = 0;
  for (const auto& entry : fs::directory_iterator(dir.folder()))
    temporary += entry.path().extension() == ".tmp" ? 1 : 0;
  CHECK(temporary == 0);
}
