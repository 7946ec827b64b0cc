#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/error.h"
#include "engine/io/file.h"
#include "labs/common/tensorboard.h"
#include "tests/engine/io/files.h"
#include "tests/labs/common/events.h"

using namespace labgrad;
using namespace labgrad::labs;
namespace fs = std::filesystem;

TEST_CASE("tensorboard: CRC-32C against the published values") {
  CHECK(crc32c("123456789") == 0xE3069283u);
  CHECK(crc32c("") == 0u);
  CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AAu);  // RFC 3720, B.4
  CHECK(crc32c(std::string(32, '\xFF')) == 0x62A8AB43u);
  CHECK(masked_crc32c("123456789") == 0xC78AB0E5u);
}

TEST_CASE("tensorboard: what is written is read back") {
  files::Scratch dir("events");
  double now = 1700000000.25;
  fs::path path;
  {
    EventWriter w(dir.folder() / "run", 0, [&] { return now; });
    path = w.path();
    CHECK(path.filename().string().find("tfevents") != std::string::npos);
    w.scalar("loss/train", 0.5, 0);
    now += 1;
    w.scalar("loss/train", std::nan(""), 1);
    w.scalar("größe", -1e-3, 1'000'000'000'000);
    std::vector<float> values{0, 1, 1, 3, std::numeric_limits<float>::infinity()};
    w.histogram("weights", values, 7);
    w.histogram("empty", {}, 8);
  }
  const auto events = tests::read_events(path);
  REQUIRE(events.size() == 6);
  CHECK(events[0].file_version == "brain.Event:2");
  CHECK(events[0].wall_time == 1700000000.25);
  CHECK(events[1].tag == "loss/train");
  CHECK(events[1].value == 0.5f);
  CHECK(events[1].step == 0);
  CHECK(std::isnan(events[2].value));
  CHECK(events[2].wall_time == 1700000001.25);
  CHECK(events[3].tag == "größe");
  CHECK(events[3].step == 1'000'000'000'000);
  CHECK(events[4].bucket_limits.size() == events[4].buckets.size());
  CHECK(std::accumulate(events[4].buckets.begin(), events[4].buckets.end(), 0.0) == 4.0);
  CHECK(events[4].buckets.front() == 1.0);
  CHECK(events[4].buckets.back() == 1.0);
  CHECK(events[4].bucket_limits.back() == doctest::Approx(3.0));
  CHECK(events[5].tag == "empty");
}

TEST_CASE("tensorboard: a continued run gets its own file, which says where it starts") {
  files::Scratch dir("events");
  const auto now = [] { return 5.0; };
  EventWriter first(dir.folder(), 0, now), second(dir.folder(), 40, now);
  CHECK(first.path() != second.path());
  CHECK(first.path() < second.path());
  const auto events = tests::read_events(second.path());
  REQUIRE(events.size() == 2);
  CHECK(events[1].session_start);
  CHECK(events[1].step == 40);
  CHECK(tests::read_events(first.path()).size() == 1);
}

TEST_CASE("tensorboard: the reader notices every changed byte") {
  files::Scratch dir("events");
  fs::path path;
  {
    EventWriter w(dir.folder(), 0, [] { return 1.0; });
    w.scalar("a", 1.0, 1);
    path = w.path();
  }
  const std::string good = read_file(path);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    write_file_atomic(path, bad);
    CHECK_THROWS_AS(tests::read_events(path), std::runtime_error);
  }
}

TEST_CASE("tensorboard: a folder that can't be made is an error") {
  CHECK_THROWS_AS(EventWriter("/proc/nothing/here"), Error);
}
