#include "labs/translation/task.h"

#include <fmt/ranges.h>

#include <memory>

#include "data/multi30k.h"
#include "data/toy_parallel.h"

namespace labgrad::labs::translation {
namespace {

// Words seen only once would be learned from one sentence: they are <unk>.
constexpr std::int64_t min_count = 2;

std::unique_ptr<Task> make(bool multi30k, std::string name, data::ParallelSplits splits) {
  auto made = std::make_unique<Task>(
      Task{.multi30k = multi30k,
           .name = std::move(name),
           .source = data::vocabulary_by_frequency(splits.train.source, min_count),
           .target = data::vocabulary_by_frequency(splits.train.target, min_count),
           .train = {std::move(splits.train), {}},
           .val = {std::move(splits.val), {}},
           .test = {std::move(splits.test), {}}});
  for (Part* part : {&made->train, &made->val, &made->test})
    part->ids = data::encode(part->text, made->source, made->target);
  return made;
}

}  // namespace

const Task& task(Lab& lab) {
  static std::unique_ptr<Task> made;
  if (made) return *made;
  const std::filesystem::path folder = lab.data_dir() / "multi30k";
  if (!data::has_multi30k(folder)) return toy_task(lab);
  made = make(true, "Multi30k", data::load_multi30k(folder));
  return *made;
}

const Task& toy_task(Lab& lab) {
  static std::unique_ptr<Task> made;
  if (!made)
    made = make(false, "the generated corpus",
                data::toy_parallel({.train = lab.by_budget(2000, 20000, 20000)}));
  return *made;
}

std::string text_of(const data::Sentence& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace labgrad::labs::translation
