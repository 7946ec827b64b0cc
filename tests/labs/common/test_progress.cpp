#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <sstream>
#include <string>

#include "labs/common/interrupt.h"
#include "labs/common/progress.h"
#include "labs/common/text.h"
#include "tests/labs/common/xml.h"

using namespace labgrad::labs;
using labgrad::tests::count_of;

namespace {

// A progress display with a clock that the test moves.
struct Watched {
  double now = 100.0;
  std::ostringstream out;
  Progress::Options options(bool terminal) {
    return {.out = &out, .terminal = terminal, .seconds = [this] { return now; }};
  }
};

}  // namespace

TEST_CASE("progress: at most ten pictures a second on a terminal") {
  Watched w;
  {
    Progress p("training", 1000, 0, "step", w.options(true));
    for (int i = 1; i <= 1000; ++i) {
      w.now += 0.001;
      p.update(i, 0.5);
    }
  }
  CHECK(count_of(w.out.str(), "\r") >= 9);
  CHECK(count_of(w.out.str(), "\r") <= 12);
  CHECK(count_of(w.out.str(), "\n") == 0);
  CHECK(w.out.str().find("loss 0.5000") != std::string::npos);
  // At the end the line is empty again.
  const std::string end = "\r\x1B[K";
  CHECK(w.out.str().substr(w.out.str().size() - end.size()) == end);
}

TEST_CASE("progress: a plain line every ten seconds in a file, none for a short loop") {
  Watched w;
  {
    Progress p("training", 60, 0, "step", w.options(false));
    for (int i = 1; i <= 60; ++i) {
      w.now += 1.0;
      p.update(i);
    }
  }
  CHECK(count_of(w.out.str(), "\n") == 6);
  CHECK(count_of(w.out.str(), "\r") == 0);
  CHECK(count_of(w.out.str(), "\x1B") == 0);
  CHECK(w.out.str().rfind("training   17%  10/60  1.00 step/s  50 s left\n", 0) == 0);
  Watched quick;
  {
    Progress p("training", 5, 0, "step", quick.options(false));
    for (int i = 1; i <= 5; ++i) p.update(i);
  }
  CHECK(quick.out.str() == "");
}

TEST_CASE("progress: what was done before a resumed run doesn't count as speed") {
  Watched w;
  Progress p("training", 100, 50, "step", w.options(false));
  w.now += 10.0;
  p.update(60);
  CHECK(w.out.str() == "training   60%  60/100  1.00 step/s  40 s left\n");
}

TEST_CASE("progress: durations") {
  CHECK(duration_text(0.4) == "0 s");
  CHECK(duration_text(59.6) == "1 min 0 s");
  CHECK(duration_text(7500) == "2 h 5 min");
  CHECK(duration_text(1e9) == "?");
}

TEST_CASE("interrupt: the first Ctrl-C sets the flag, the second ends the program") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    install_stop_handler();
    if (stop_requested()) ::_exit(10);
    std::raise(SIGINT);
    if (!stop_requested()) ::_exit(11);
    std::raise(SIGINT);
    ::_exit(12);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  if (WIFSIGNALED(status)) CHECK(WTERMSIG(status) == SIGINT);
  if (WIFEXITED(status)) CHECK(WEXITSTATUS(status) == 0);
  request_stop();
  CHECK(stop_requested());
  request_stop(false);
  CHECK_FALSE(stop_requested());
}
