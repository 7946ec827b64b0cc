// The reader of data/image.h: a file is read whole, so everything that the header says can be held
// against its size before a picture is made.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "data/image.h"
#include "engine/create.h"
#include "engine/io/file.h"

namespace labgrad::data {
namespace {

constexpr std::uint64_t largest_file = std::uint64_t{256} << 20;
constexpr std::int64_t largest_side = 1'000'000;  // any product of two fits in 64 bits
constexpr std::int64_t largest_maxval = 65535;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Header {
  bool plain;  // decimal numbers instead of bytes
  std::int64_t channels, width, height, maxval;

  std::int64_t samples() const { return channels * width * height; }
  std::int64_t bytes_each() const { return maxval > 255 ? 2 : 1; }
};

class Reader {
 public:
  Reader(const std::filesystem::path& path, std::string_view text) : path_(path), text_(text) {}

  Tensor picture() {
    const Header h = header();
    Tensor image = empty({h.channels, h.height, h.width}, f32, Device::cpu);
    const std::span<float> out = image.writable_span<float>();
    const std::int64_t area = h.width * h.height;
    for (std::int64_t pixel = 0; pixel < area; ++pixel)
      for (std::int64_t c = 0; c < h.channels; ++c)
        out[static_cast<std::size_t>(c * area + pixel)] =
            static_cast<float>(sample(h)) / static_cast<float>(h.maxval);
    if (h.plain) skip_space();
    if (at_ < text_.size())
      fail_at(at_, fmt::format("{} bytes after the last sample", text_.size() - at_));
    return moved(image, default_device());
  }

 private:
  Header header() {
    check_magic();
    const char digit = text_[1];
    Header h{.plain = digit < '5',
             .channels = digit == '3' || digit == '6' ? 3 : 1,
             .width = 0,
             .height = 0,
             .maxval = 0};
    at_ = 2;
    h.width = number("the width", 1, largest_side);
    h.height = number("the height", 1, largest_side);
    h.maxval = number("the largest value", 1, largest_maxval);
    if (!h.plain) space_after_header();
    check_size(h);
    return h;
  }

  void check_magic() const {
    const auto begins = [&](std::string_view with) { return text_.substr(0, with.size()) == with; };
    if (begins("P2") || begins("P3") || begins("P5") || begins("P6")) return;
    std::string found = "not a PGM or PPM picture, which begins with P2, P3, P5 or P6";
    if (begins("\x89PNG")) found = "this is a PNG file";
    if (begins("\xff\xd8")) found = "this is a JPEG file";
    if (begins("GIF8")) found = "this is a GIF file";
    if (begins("P1") || begins("P4")) found = "this is a bitmap of black and white (PBM)";
    if (begins("P7")) found = "this is a PAM file";
    fail_at(0, found + "; `magick PICTURE picture.ppm` makes one that can be read");
  }

  // Binary samples begin after a single white space; a second one is a sample.
  void space_after_header() {
    if (at_ == text_.size()) fail_at(at_, "the file ends within its header");
    if (!is_space(text_[at_])) fail_at(at_, "expected one white space after the header");
    ++at_;
  }

  void check_size(const Header& h) const {
    const auto present = static_cast<std::int64_t>(text_.size() - at_);
    // A decimal sample takes a digit, and a space from the next one.
    const std::int64_t needed = h.plain ? 2 * h.samples() - 1 : h.samples() * h.bytes_each();
    if (present < needed)
      fail_at(
          text_.size(),
          fmt::format("the file is cut off, or its header wrong: {} x {} pixels need {}{} bytes "
                      "after the header, there are {}",
                      h.width, h.height, h.plain ? "at least " : "", needed, present));
  }

  void skip_space() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#')
        at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
      else if (is_space(text_[at_]))
        ++at_;
      else
        return;
    }
  }

  std::int64_t number(const char* name, std::int64_t least, std::int64_t most) {
    const std::size_t before = at_;
    skip_space();
    if (at_ == text_.size()) fail_at(at_, fmt::format("the file ends before {}", name));
    const std::size_t start = at_;
    if (!is_digit(text_[at_])) fail_at(at_, fmt::format("expected {}, a decimal number", name));
    if (before == start && before > 2)  // "255" is not 25 and 5
      fail_at(at_, fmt::format("expected white space before {}", name));
    std::int64_t value = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_)
      value = std::min<std::int64_t>(value * 10 + (text_[at_] - '0'), most + 1);
    if (value < least || value > most)
      fail_at(start, fmt::format("{} is {}, expected {} to {}", name,
                                 text_.substr(start, std::min<std::size_t>(at_ - start, 20)), least,
                                 most));
    return value;
  }

  std::int64_t sample(const Header& h) {
    if (h.plain) return number("a sample", 0, h.maxval);
    const std::size_t start = at_;
    std::int64_t value = 0;
    for (std::int64_t i = 0; i < h.bytes_each(); ++i)
      value = value << 8 | static_cast<unsigned char>(text_[at_++]);
    if (value > h.maxval)
      fail_at(start, fmt::format("the sample {} is above the largest value {}", value, h.maxval));
    return value;
  }

  [[noreturn]] void fail_at(std::size_t byte, const std::string& problem) const {
    fail(fmt::format("{}: byte {}: {}", path_.string(), byte, problem));
  }

  const std::filesystem::path& path_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Tensor read_image(const std::filesystem::path& path) {
  const std::string text = read_file(path, largest_file);
  return Reader(path, text).picture();
}

}  // namespace labgrad::data
