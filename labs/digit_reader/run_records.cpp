// Section 8: what was run, with everything that one needs to run it again.

#include "labs/common/text.h"
#include "labs/digit_reader/sections.h"
#include "labs/digit_reader/training.h"

namespace labgrad::labs::digit_reader {

void run_records(Lab& lab) {
  if (records().empty()) {
    lab.say(
        "Nothing has been trained in this run: the records come from the sections `ritual` and "
        "`train`.");
    return;
  }
  Json all = Json::array();
  for (const Record& record : records()) {
    Table table({{"key"}, {"value"}}, record.name);
    for (const auto& [key, value] : record.config.as_object())
      table.row(key, value.is_string() ? value.as_string() : value.dump());
    lab.table(table);
    all.push_back(
        Json::object({{"name", record.name}, {"config", record.config}, {"rows", record.rows}}));
  }
  const auto path = lab.out_dir() / "runs.json";
  write_json(path, all);
  lab.say("The same with the curves: {}; for TensorBoard: {}.", path.string(),
          (lab.out_dir() / "runs").string());
}

}  // namespace labgrad::labs::digit_reader
