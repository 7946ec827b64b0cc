#pragma once
// Strips of handwritten digits beside one another, to be read as a whole: the data of the digit
// reader. Same seed, same strips as the course's notebook, number for number (the draws are those
// of numpy.random.default_rng).

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "data/images.h"
#include "engine/random_numpy.h"
#include "engine/tensor.h"

namespace labgrad::data {

inline constexpr std::int64_t box_side = 28;      // a digit's box is 28 x 28 pixels
inline constexpr std::int64_t strip_width = 336;  // twelve boxes without overlap
inline constexpr std::int64_t max_overlap = 6;    // neighbouring boxes share 0 to 6 columns

// What a reader writes: the digits are themselves; then the start, the end and the filling of a
// string; and how many symbols there are.
namespace symbol {
inline constexpr std::int64_t sos = 10, eos = 11, pad = 12, count = 13;
}

struct Strip {
  std::int64_t width = strip_width;
  std::vector<std::uint8_t> picture;  // box_side rows of `width` pixels
  std::vector<std::int64_t> digits;   // what is written, from left to right
  std::vector<std::int64_t> src;      // the index of each digit's image
  std::vector<std::int64_t> xs;       // the left edge of each digit's box
};

// Puts images src[k] with their left edges at xs[k] on a black strip; where boxes overlap the
// brighter pixel stays. Error: lengths differ, there is no such image, a box leaves the strip, or
// images are not 28 x 28.
std::vector<std::uint8_t> draw_strip(const LabelledImages& images,
                                     std::span<const std::int64_t> src,
                                     std::span<const std::int64_t> xs,
                                     std::int64_t width = strip_width);

// One strip of `length` digits. Draws, in this order: the images, the overlaps of neighbours, the
// left edge of the first box. Error: length < 1, or so many digits may not fit the width.
Strip make_strip(const LabelledImages& images, std::int64_t length, NumpyGenerator& generator,
                 std::int64_t width = strip_width);

// Lengths from first to last, both included.
struct Lengths {
  std::int64_t first = 1, last = 8;
};

// n strips fixed by `seed`, equally many of each length. Keeps what was drawn and paints a picture
// when it is asked for, which costs less than the memory of 60,000 pictures would.
class StripDataset {
 public:
  // The images must outlive the set. Error: n < 0, no images, lengths below 1 or in falling order,
  // or longer than the width surely holds.
  StripDataset(const LabelledImages& images, std::int64_t n, Lengths lengths, std::uint64_t seed,
               std::int64_t width = strip_width);
  StripDataset(LabelledImages&& images, std::int64_t n, Lengths lengths, std::uint64_t seed,
               std::int64_t width = strip_width) = delete;

  std::int64_t size() const { return static_cast<std::int64_t>(begin_.size()) - 1; }
  std::int64_t width() const { return width_; }
  const LabelledImages& images() const { return *images_; }

  // Of strip i, one of 0 .. size() - 1; Error if it is not.
  std::int64_t length(std::int64_t i) const;
  std::span<const std::int64_t> digits(std::int64_t i) const { return row(digits_, i); }
  std::span<const std::int64_t> src(std::int64_t i) const { return row(src_, i); }
  std::span<const std::int64_t> xs(std::int64_t i) const { return row(xs_, i); }
  std::vector<std::uint8_t> picture(std::int64_t i) const;
  Strip strip(std::int64_t i) const;

 private:
  std::span<const std::int64_t> row(const std::vector<std::int64_t>& of, std::int64_t i) const;

  const LabelledImages* images_;
  std::int64_t width_;
  std::vector<std::size_t> begin_{0};  // where each strip begins in the three below, and the end
  std::vector<std::int64_t> digits_, src_, xs_;
};

// A batch of B strips for a model that writes T symbols, T = 1 + the longest length.
struct StripBatch {
  Tensor images;   // (B, 1, 28, width) f32, 0 black to 1 white
  Tensor inputs;   // (B, T) i64: <sos>, the digits, <pad> ...
  Tensor targets;  // (B, T) i64: the digits, <eos>, <pad> ...
};

// Error: no strips, or strips of different widths.
StripBatch collate(std::span<const Strip> strips);
// The strips of the set with these indices.
StripBatch collate(const StripDataset& strips, std::span<const std::int64_t> indices);

// Writes images.npy (n, 28, width) of bytes, lengths.npy (n), and digits.npy, src.npy, xs.npy: all
// strips' numbers one after another. So does NumPy compare them with the notebook's set:
//   (np.load("src.npy") == np.concatenate(test_set.src)).all()
void save_strips(const std::filesystem::path& folder, const StripDataset& strips);

}  // namespace labgrad::data
