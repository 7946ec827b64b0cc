#include "labs/digit_reader/reading.h"

#include <algorithm>
#include <numeric>

#include "engine/create.h"
#include "engine/ops.h"
#include "labs/common/progress.h"

namespace labgrad::labs::digit_reader {

using namespace data::symbol;

std::vector<Reading::Digit> Reading::digits() const {
  std::vector<Digit> out;
  for (std::size_t step = 0; step < symbols.size() && symbols[step] != eos; ++step)
    if (symbols[step] < sos) out.push_back({symbols[step], step});
  return out;
}

std::vector<Reading> read(Reader& reader, const Tensor& images) {
  NoGrad no_grad;
  const nn::Evaluating evaluating(reader);
  const std::int64_t B = images.size(0);
  std::vector<Reading> readings(static_cast<std::size_t>(B));
  std::vector<bool> done(readings.size());
  auto [s, memory] = reader.encode(images);
  Tensor y = full({B}, sos);
  for (std::int64_t t = 0; t < max_symbols; ++t) {
    const Reader::Step step = reader.step(y, s, memory);
    y = argmax(step.logits, 1);
    s = step.s;
    const std::vector<std::int64_t> written = y.to_vector<std::int64_t>();
    const std::vector<double> alpha =
        step.alpha.defined() ? step.alpha.to_vector() : std::vector<double>();
    const auto columns = static_cast<std::ptrdiff_t>(alpha.size() / readings.size());
    for (std::size_t b = 0; b < readings.size(); ++b) {
      if (done[b]) continue;
      readings[b].symbols.push_back(written[b]);
      const auto row = alpha.begin() + static_cast<std::ptrdiff_t>(b) * columns;
      if (columns > 0) readings[b].alpha.emplace_back(row, row + columns);
      done[b] = written[b] == eos;
    }
    if (std::all_of(done.begin(), done.end(), [](bool d) { return d; })) break;
  }
  return readings;
}

std::vector<Reading> read(Reader& reader, const data::StripDataset& strips, std::int64_t count) {
  // In evaluation mode a strip is read the same in a batch of any size; this one keeps the first
  // block's 32 channels of all pixels near 100 MiB.
  constexpr std::int64_t batch = 100;
  std::vector<Reading> readings;
  Progress progress("reading", count, 0, "strip");
  for (std::int64_t first = 0; first < count; first += batch) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(std::min(batch, count - first)));
    std::iota(rows.begin(), rows.end(), first);
    for (Reading& reading : read(reader, data::collate(strips, rows).images))
      readings.push_back(std::move(reading));
    progress.update(first + static_cast<std::int64_t>(rows.size()));
  }
  return readings;
}

data::ReadingScore score(const std::vector<Reading>& readings, const data::StripDataset& strips,
                         data::Lengths lengths) {
  data::ReadingScore score;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const auto target = strips.digits(static_cast<std::int64_t>(i));
    const auto length = static_cast<std::int64_t>(target.size());
    if (length >= lengths.first && length <= lengths.last) score.add(readings[i].symbols, target);
  }
  return score;
}

bool is_exact(const Reading& reading, std::span<const std::int64_t> digits) {
  return std::ranges::equal(data::clean(reading.symbols), digits);
}

}  // namespace labgrad::labs::digit_reader
