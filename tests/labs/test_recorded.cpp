// What the labs measured, against what was recorded of them: tests/golden/labs.json.
//
//   build/bin/attention --quick --out RESULTS/attention      (and the same for each lab)
//   LABGRAD_RESULTS=RESULTS build/bin/tests -tc='recorded results*'
//
// With LABGRAD_RECORD=1 as well, the record is written anew. Times and memory are not recorded.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "engine/io/json.h"

using namespace labgrad;

namespace {

constexpr const char* record_file = "tests/golden/labs.json";

// Not what depends on the machine: what things cost, and where a model is trained on a task that it
// cannot learn, so that only rounding decides what it makes of it.
bool recorded(const std::string& section) {
  return section != "start" && section != "cost" && section != "positions";
}

bool about_memory(const std::string& what) { return what.find(" GiB ") != std::string::npos; }

// "section: what" -> the number measured, of one results.json.
Json measured(const std::filesystem::path& results) {
  Json found = Json::object();
  const Json document = read_json(results);
  for (const Json& section : document.at("sections").as_array()) {
    const std::string name = section.at("name").as_string();
    if (!recorded(name)) continue;
    for (const Json& check : section.at("checks").as_array())
      if (check.at("measured").is_number() && !about_memory(check.at("what").as_string()))
        found.set(name + ": " + check.at("what").as_string(), check.at("measured").as_double());
  }
  return found;
}

}  // namespace

TEST_CASE("recorded results: the labs measure what they measured before") {
  const char* folder = std::getenv("LABGRAD_RESULTS");
  if (!folder) {
    MESSAGE("LABGRAD_RESULTS is not set: there are no results of labs to compare");
    return;
  }
  if (std::getenv("LABGRAD_RECORD")) {
    Json all = Json::object();
    for (const auto& lab : std::filesystem::directory_iterator(folder))
      if (std::filesystem::exists(lab.path() / "results.json"))
        all.set(lab.path().filename().string(), measured(lab.path() / "results.json"));
    write_json(record_file, all);
    return;
  }
  // Training amplifies the rounding of other processors; a broken lab is off by far more than this.
  constexpr double rtol = 0.05, atol = 1e-4;
  const Json record = read_json(record_file);
  for (const JsonMember& lab : record.as_object()) {
    CAPTURE(lab.key);
    const Json now = measured(std::filesystem::path(folder) / lab.key / "results.json");
    for (const JsonMember& check : lab.value.as_object()) {
      CAPTURE(check.key);
      const Json* got = now.find(check.key);
      REQUIRE(got != nullptr);
      const double want = check.value.as_double();
      CHECK(!(std::abs(got->as_double() - want) > atol + rtol * std::abs(want)));
      CHECK(std::isfinite(got->as_double()) == std::isfinite(want));
    }
  }
}
