// Part 5: the bottleneck measured: BLEU against the length of the source.

#include <algorithm>

#include "labs/common/plot.h"
#include "labs/translation/scores.h"
#include "labs/translation/sections.h"

namespace labgrad::labs::translation {
namespace {

// Four ranges of length that hold about equally many of the test sentences.
std::vector<Lengths> quarters(Lab& lab, const Task& task) {
  std::vector<std::int64_t> n;
  for (std::int64_t i = 0; i < tested(lab); ++i)
    n.push_back(
        static_cast<std::int64_t>(task.test.text.source[static_cast<std::size_t>(i)].size()));
  std::sort(n.begin(), n.end());
  std::vector<Lengths> ranges;
  std::int64_t first = 1;
  for (std::size_t q = 1; q <= 4; ++q) {
    const std::int64_t last = q == 4 ? n.back() : n[q * n.size() / 4];
    if (last < first) continue;
    ranges.push_back({first, last});
    first = last + 1;
  }
  return ranges;
}

}  // namespace

void by_length(Lab& lab) {
  const Task& data = task(lab);
  lab.say(
      "Without attention the decoder knows of the source what fits into the encoder's last "
      "states, of the same width for 5 words as for 25. With attention the states of all words "
      "stay at hand. Corpus BLEU of the test sentences by the number of German words:");
  const auto prediction = lab.predict("Where will attention gain the most BLEU?",
                                      {"on short sentences", "on long ones", "the same on all"});
  Table table({{"words"},
               {"sentences", "d"},
               {"plain", ".3f"},
               {"attention", ".3f"},
               {"difference", "+.3f"},
               {"plain kept", ".2f"},
               {"attention kept", ".2f"}},
              "BLEU by length; kept: of the BLEU of the shortest");
  Series plain_curve{.name = "plain", .style = Style::line_and_points};
  Series attention_curve{.name = "attention", .style = Style::line_and_points};
  std::vector<double> plain, attention;
  // Of a BLEU that is nothing, nothing can be kept.
  const auto kept = [](const std::vector<double>& bleu) {
    return bleu.front() > 0.01 ? make_cell(bleu.back() / bleu.front()) : Cell{};
  };
  for (const Lengths range : quarters(lab, data)) {
    const TestScore p = score(lab, trained(lab, Kind::plain), range);
    const TestScore a = score(lab, trained(lab, Kind::attention), range);
    plain.push_back(p.bleu.score());
    attention.push_back(a.bleu.score());
    table.row(fmt::format("{} to {}", range.first, range.last), p.sentences, plain.back(),
              attention.back(), attention.back() - plain.back(), kept(plain), kept(attention));
    const double middle = static_cast<double>(range.first + range.last) / 2;
    plain_curve.x.push_back(middle);
    plain_curve.y.push_back(plain.back());
    attention_curve.x.push_back(middle);
    attention_curve.y.push_back(attention.back());
  }
  const double on_short = attention.front() - plain.front();
  const double on_long = attention.back() - plain.back();
  lab.reveal(prediction, static_cast<std::size_t>(std::abs(on_long - on_short) < 0.01 ? 2
                                                  : on_short > on_long                ? 0
                                                                                      : 1));
  lab.table(table);
  lab.picture("bleu_by_length", "BLEU against the length of the source.",
              draw_plot({.title = "The bottleneck",
                         .x = {.label = "words of German"},
                         .y = {.label = "corpus BLEU", .min = 0},
                         .series = {plain_curve, attention_curve}}));
  if (!is_trained(trained(lab, Kind::attention))) {
    lab.say("After so short a training there is nothing to compare.");
    return;
  }
  lab.check_greater("on the longest sentences attention's BLEU over the plain model's (difference)",
                    on_long, data.multi30k ? 0 : 0.05);
  if (!data.multi30k)
    lab.check_greater("attention gains more on the longest than on the shortest (difference)",
                      on_long - on_short, 0);
  const double plain_kept = plain.back() / plain.front();
  const double attention_kept = attention.back() / attention.front();
  lab.check_greater(
      "what attention keeps of its BLEU, over what the plain model keeps (difference)",
      attention_kept - plain_kept, 0);
  lab.say(
      "From the shortest to the longest sentences the plain model keeps {:.0f} % of its BLEU and "
      "the one with attention {:.0f} %. {}",
      100 * plain_kept, 100 * attention_kept,
      attention_kept > plain_kept
          ? "That is the bottleneck: the longer the sentence, the more of it one "
            "state of fixed width forgets."
          : "In this run that does not show the bottleneck.");
}

}  // namespace labgrad::labs::translation
