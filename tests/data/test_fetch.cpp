#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "engine/io/file.h"
#include "engine/io/sha256.h"
#include "tests/engine/io/files.h"

// data/fetch.sh without the network: what it does with files that are there.

using files::has;
using files::Scratch;

namespace {

namespace fs = std::filesystem;

struct Run {
  int status;
  std::string output;
};

Run fetch(const Scratch& scratch, const std::string& arguments) {
  const std::string log = scratch.file("log").string();
  const std::string command = "sh data/fetch.sh --offline --into '" +
                              scratch.file("into").string() + "' " + arguments + " >'" + log +
                              "' 2>&1";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, labgrad::read_file(log)};
}

}  // namespace

TEST_CASE("make data: tells what is missing and what runs without it") {
  const Scratch scratch("fetch");
  const Run run = fetch(scratch, "mnist multi30k");
  CHECK(run.status == 1);
  CHECK(has(run.output, "4 of 4 files missing"));
  CHECK(has(run.output, "generated digits"));
  CHECK(has(run.output, "6 of 6 files missing"));
  CHECK(fetch(scratch, "--from /nowhere/at/all").status == 2);
  CHECK(fetch(scratch, "imagenet").status == 2);
}

TEST_CASE("make data: says what to put where for weights that no address offers") {
  const Scratch scratch("fetch");
  const Run run = fetch(scratch, "mobilenet_v2");
  CHECK(run.status == 1);
  CHECK(has(run.output, "--from FOLDER mobilenet_v2"));
  CHECK(has(run.output, "into/mobilenet_v2/model.safetensors"));
  CHECK(has(run.output, "1 of 1 files missing"));
}

TEST_CASE("make data: a file of the wrong checksum is never used") {
  const Scratch scratch("fetch");
  const std::string name = "t10k-labels-idx1-ubyte";
  const fs::path target = scratch.file("into") / "mnist" / name;
  fs::create_directories(target.parent_path());
  const std::string wrong(10008, '\1');  // as long as the right one
  files::write(target, wrong);
  files::write(scratch.file(name), wrong);
  const Run run = fetch(scratch, "--from '" + scratch.folder().string() + "' mnist");
  CHECK(run.status == 1);
  CHECK(has(run.output, "wrong checksum"));
  CHECK_FALSE(fs::exists(target));
  CHECK(labgrad::read_file(target.string() + ".wrong") == wrong);
}

TEST_CASE("make data: takes the right file from a folder, and leaves it alone afterwards") {
  const fs::path real = "data/files/mnist/t10k-labels-idx1-ubyte";
  if (!fs::exists(real)) {
    MESSAGE("skipped: there is no " << real.string() << "; `make data` gets it");
    return;
  }
  const Scratch scratch("fetch");
  const fs::path from = scratch.file("from"),
                 target = scratch.file("into") / "mnist" / real.filename();
  fs::create_directories(from);
  fs::copy_file(real, from / real.filename());
  const std::string arguments = "--from '" + from.string() + "' mnist";
  const Run run = fetch(scratch, arguments);
  CHECK(run.status == 1);
  CHECK(has(run.output, "3 of 4 files missing"));
  CHECK(labgrad::sha256_of_file(target) == labgrad::sha256_of_file(real));
  const auto time = fs::last_write_time(target);
  CHECK(fetch(scratch, arguments).status == 1);
  CHECK(fs::last_write_time(target) == time);
  // Nothing else is left behind.
  CHECK(std::distance(fs::directory_iterator(scratch.file("into")), {}) == 1);
  CHECK(std::distance(fs::directory_iterator(target.parent_path()), {}) == 1);
}
