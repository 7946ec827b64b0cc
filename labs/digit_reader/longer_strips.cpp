// Q6.1: strips of 9 to 12 digits, which no reader has seen in training.

#include <algorithm>
#include <map>

#include "labs/digit_reader/attention_map.h"
#include "labs/digit_reader/sections.h"
#include "labs/digit_reader/training.h"

namespace labgrad::labs::digit_reader {
namespace {

constexpr data::Lengths longer_lengths{9, 12};

void scores(Lab& lab, const Trained& t, const Task& data) {
  Table table({{"length", "d"},
               {"strips", "d"},
               {"exact", ".4f"},
               {"CER", ".4f"},
               {"correct", "d"},
               {"missed", "d"},
               {"extra", "d"},
               {"incorrect", "d"}},
              name_of(t.kind) + " reader: missed, extra and incorrect compare the lengths");
  std::int64_t counted = 0;
  for (std::int64_t L = longer_lengths.first; L <= longer_lengths.last; ++L) {
    std::int64_t correct = 0, missed = 0, extra = 0, incorrect = 0;
    for (std::size_t i = 0; i < t.on_long.size(); ++i) {
      const auto target = data.longer.digits(static_cast<std::int64_t>(i));
      if (static_cast<std::int64_t>(target.size()) != L) continue;
      const std::size_t written = data::clean(t.on_long[i].symbols).size();
      if (is_exact(t.on_long[i], target))
        ++correct;
      else
        ++(written < target.size() ? missed : written > target.size() ? extra : incorrect);
    }
    const data::ReadingScore s = score(t.on_long, data.longer, {L, L});
    counted += correct + missed + extra + incorrect;
    table.row(L, s.strings, s.exact_accuracy(), s.cer(), correct, missed, extra, incorrect);
  }
  lab.table(table);
  lab.check_equal(name_of(t.kind) + ": every strip is in one of the four classes", counted,
                  static_cast<std::int64_t>(t.on_long.size()));
}

void lengths_written(Lab& lab, const Trained& t, const Task& data) {
  // counts[L][n]: strips of L digits for which n were written.
  std::map<std::int64_t, std::map<std::size_t, std::int64_t>> counts;
  std::size_t least = max_symbols, most = 0;
  for (std::size_t i = 0; i < t.on_long.size(); ++i) {
    const std::size_t n = data::clean(t.on_long[i].symbols).size();
    ++counts[data.longer.length(static_cast<std::int64_t>(i))][n];
    least = std::min(least, n);
    most = std::max(most, n);
  }
  std::vector<Column> columns{{"length", "d"}};
  for (std::size_t n = least; n <= most; ++n) columns.push_back({std::to_string(n), "d"});
  Table table(columns, name_of(t.kind) + " reader: how many digits were written");
  for (auto& [L, row] : counts) {
    std::vector<Cell> cells{L};
    for (std::size_t n = least; n <= most; ++n) cells.emplace_back(row[n]);
    table.add_row(cells);
  }
  lab.table(table);
}

void first_wrong(Lab& lab, const Task& data, const std::vector<Trained*>& readers) {
  std::vector<Column> columns{{"reader"}};
  for (std::int64_t k = 0; k <= longer_lengths.last; ++k)
    columns.push_back({std::to_string(k), "d"});
  Table table(columns,
              "Where the first mistake is: strips by the position of the first wrong digit");
  for (const Trained* t : readers) {
    std::vector<std::int64_t> count(static_cast<std::size_t>(longer_lengths.last) + 1);
    for (std::size_t i = 0; i < t->on_long.size(); ++i) {
      const auto target = data.longer.digits(static_cast<std::int64_t>(i));
      if (is_exact(t->on_long[i], target)) continue;
      // An extra digit behind the last one is wrong at the target's length, at most 12.
      ++count[first_difference(data::clean(t->on_long[i].symbols), target)];
    }
    std::vector<Cell> cells{name_of(t->kind)};
    cells.insert(cells.end(), count.begin(), count.end());
    table.add_row(cells);
  }
  lab.table(table);
}

}  // namespace

void longer_strips(Lab& lab) {
  const Task& data = task(lab);
  lab.say(
      "The canvas holds twelve digits, the encoder makes 21 columns whatever is on it, and {} "
      "symbols may be written. Nothing keeps a reader from reading nine digits but that it never "
      "had to.",
      max_symbols);
  const auto prediction = lab.predict(
      "How will the attention reader do on strips of 9 to 12 digits?",
      {"nearly as well as on 8", "worse, but it reads most of the digits", "it fails altogether"});
  const std::vector<Trained*> readers = all_trained(lab);
  for (const Trained* t : readers) {
    scores(lab, *t, data);
    lengths_written(lab, *t, data);
  }
  first_wrong(lab, data, readers);

  Table table(
      {{"reader"}, {"exact, 8 digits", ".4f"}, {"exact, 9-12", ".4f"}, {"CER, 9-12", ".4f"}});
  std::vector<data::ReadingScore> totals;
  for (const Trained* t : readers) {
    totals.push_back(score(t->on_long, data.longer, longer_lengths));
    table.row(name_of(t->kind), score(t->on_test, data.test, {8, 8}).exact_accuracy(),
              totals.back().exact_accuracy(), totals.back().cer());
    if (t->kind != Kind::attention) continue;
    const double at_8 = score(t->on_test, data.test, {8, 8}).exact_accuracy();
    lab.reveal(prediction, static_cast<std::size_t>(totals.back().exact_accuracy() > 0.9 * at_8 ? 0
                                                    : totals.back().cer() < 0.5                 ? 1
                                                                                : 2));
  }
  lab.table(table);
  if (readers.size() == 2) {
    const bool by_exact = totals[1].exact_accuracy() > totals[0].exact_accuracy();
    const bool by_cer = totals[1].cer() < totals[0].cer();
    lab.say("By exact strings the {} reader is ahead{}, by CER the {} one. {}",
            by_exact ? "attention" : "fixed", totals[1].exact == totals[0].exact ? " or level" : "",
            by_cer ? "attention" : "fixed",
            by_exact == by_cer ? "The two measures agree here; they need not."
                               : "They disagree, and they may:");
  }
  lab.say(
      "An exact string wants every digit right, so where nearly all strings have some mistake it "
      "is "
      "near 0 for everybody; CER still tells a string that lost one digit from one that lost its "
      "thread half way. A reader that stops after eight correct digits has a small CER and no "
      "exact "
      "string at all.");
}

}  // namespace labgrad::labs::digit_reader
