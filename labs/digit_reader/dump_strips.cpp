// --dump-strips: strips as NumPy arrays, to compare with the notebook's own.

#include <charconv>

#include "labs/digit_reader/sections.h"
#include "labs/digit_reader/task.h"

namespace labgrad::labs::digit_reader {
namespace {

// "1-8"; a single number stands for itself.
data::Lengths lengths_from(const std::string& text) {
  data::Lengths lengths;
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, lengths.first);
  lengths.last = lengths.first;
  if (error == std::errc() && at != end && *at == '-') {
    const auto rest = std::from_chars(at + 1, end, lengths.last);
    at = rest.ptr;
    error = rest.ec;
  }
  if (error != std::errc() || at != end || lengths.first < 1 || lengths.last > 12 ||
      lengths.first > lengths.last)
    throw UsageError("--lengths " + text + ": give two numbers from 1 to 12, as 1-8");
  return lengths;
}

}  // namespace

void dump_strips(Lab& lab) {
  const Options& o = lab.options();
  const data::Lengths lengths = lengths_from(o.text("lengths"));
  const Task& data = task(lab);
  const bool train = o.text("split") == "train";
  const std::int64_t n = o.integer_or("strips", 8000), seed = o.integer("strips-seed");
  const data::StripDataset strips(train ? data.train_images : data.test_images, n, lengths,
                                  static_cast<std::uint64_t>(seed));
  const std::string folder = o.text("dump-strips");
  data::save_strips(folder, strips);
  lab.say(
      "{} strips of {} to {} {} digits of {}, seed {}, are in {}: images.npy, lengths.npy, and "
      "digits.npy, src.npy, xs.npy with all strips' numbers one after another. To compare them "
      "with the notebook's:",
      n, lengths.first, lengths.last, train ? "training" : "test", data.source, seed, folder);
  lab.show(fmt::format("(np.load('{}/src.npy') == np.concatenate(test_set.src)).all()", folder));
}

}  // namespace labgrad::labs::digit_reader
