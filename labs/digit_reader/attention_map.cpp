#include "labs/digit_reader/attention_map.h"

#include <algorithm>
#include <limits>

#include "labs/common/heat_map.h"

namespace labgrad::labs::digit_reader {
namespace {

std::string symbol_text(std::int64_t y) {
  using namespace data::symbol;
  if (y < sos) return std::to_string(y);
  return y == sos ? "<sos>" : y == eos ? "<eos>" : "<pad>";
}

double share(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(part) / static_cast<double>(whole);
}

bool in_box(std::int64_t pixel, std::int64_t x) { return x <= pixel && pixel < x + data::box_side; }

}  // namespace

std::string draw_map(const std::string& title, const data::StripDataset& strips, std::int64_t i,
                     const Reading& reading) {
  HeatMap map{.title = fmt::format("{}: target {}, read {}", title, text_of(strips.digits(i)),
                                   text_of(data::clean(reading.symbols))),
              .values = reading.alpha,
              .row_title = "written",
              .column_title = "column of the feature map, 16 pixels each",
              .min = 0.0,
              .above = panel_of(strips, i)};
  for (const std::int64_t y : reading.symbols) map.row_labels.push_back(symbol_text(y));
  map.cell = 32;
  return draw_heat_map(map);
}

Table table_of_steps(const data::StripDataset& strips, std::int64_t i, const Reading& reading) {
  const auto digits = strips.digits(i);
  const auto xs = strips.xs(i);
  Table table({{"step", "d"},
               {"written"},
               {"target"},
               {"largest weight", ".3f"},
               {"at column", "d"},
               {"centre pixel", "d"},
               {"which lies on"}});
  for (std::size_t t = 0; t < reading.symbols.size(); ++t) {
    const Peak peak = peak_of(reading.alpha[t]);
    std::string on;
    for (std::size_t k = 0; k < xs.size(); ++k)
      if (in_box(peak.centre(), xs[k]))
        on += fmt::format("{}digit {} ({})", on.empty() ? "" : ", ", k, digits[k]);
    const std::string target = t < digits.size()    ? std::to_string(digits[t])
                               : t == digits.size() ? "<eos>"
                                                    : "";
    table.row(t, symbol_text(reading.symbols[t]), target, peak.weight, peak.column, peak.centre(),
              on.empty() ? "no box" : on);
  }
  return table;
}

std::size_t first_difference(const data::Symbols& read, std::span<const std::int64_t> target) {
  return static_cast<std::size_t>(std::ranges::mismatch(read, target).in1 - read.begin());
}

Peak peak_of(const std::vector<double>& alpha) {
  const auto most = std::max_element(alpha.begin(), alpha.end());
  return {most - alpha.begin(), *most};
}

double Alignment::right_share() const { return share(right_aligned, right); }
double Alignment::wrong_share() const { return share(wrong_aligned, wrong); }

double Alignment::median_largest() const {
  if (largest.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted = largest;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

Alignment align(const data::StripDataset& strips, const std::vector<Reading>& readings) {
  Alignment out;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const auto target = strips.digits(static_cast<std::int64_t>(i));
    const auto xs = strips.xs(static_cast<std::int64_t>(i));
    const std::vector<Reading::Digit> written = readings[i].digits();
    for (std::size_t k = 0; k < target.size(); ++k) {
      if (k >= written.size()) {
        ++out.missing;
        continue;
      }
      const Peak peak = peak_of(readings[i].alpha[written[k].step]);
      const bool aligned = in_box(peak.centre(), xs[k]);
      const bool right = written[k].digit == target[k];
      (right ? out.right : out.wrong) += 1;
      if (aligned) (right ? out.right_aligned : out.wrong_aligned) += 1;
      if (right) out.largest.push_back(peak.weight);
    }
  }
  return out;
}

Table table_of(const Alignment& a) {
  Table table(
      {{"positions of the targets"}, {"count", ",d"}, {"weight on the digit's box", ".4f"}});
  table.row("read right", a.right, a.right_share()).row("read wrong", a.wrong, a.wrong_share());
  table.row("missing: fewer digits were written", a.missing, Cell{});
  return table;
}

}  // namespace labgrad::labs::digit_reader
