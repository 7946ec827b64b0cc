#include "labs/common/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>

#include "labs/common/text.h"

namespace labgrad::labs {
namespace {

constexpr double terminal_interval = 0.1, plain_interval = 10.0;  // seconds
constexpr std::size_t bar_width = 24;

double monotonic_seconds() {
  const std::chrono::duration<double> d = std::chrono::steady_clock::now().time_since_epoch();
  return d.count();
}

Progress::Options for_stderr() {
  Progress::Options options;
  options.terminal = ::isatty(STDERR_FILENO) == 1;
  return options;
}

// Eighths of a cell, so that the bar moves smoothly.
std::string bar(double share) {
  static constexpr const char* parts[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double cells = std::clamp(share, 0.0, 1.0) * static_cast<double>(bar_width);
  const auto full = static_cast<std::size_t>(cells);
  std::string out;
  for (std::size_t i = 0; i < full; ++i) out += "█";
  if (full < bar_width)
    out += parts[static_cast<std::size_t>((cells - static_cast<double>(full)) * 8.0)];
  return pad(out, bar_width);
}

}  // namespace

std::string duration_text(double seconds) {
  if (!(seconds < 1e8)) return "?";
  const auto s = static_cast<std::int64_t>(std::llround(std::max(seconds, 0.0)));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  return fmt::format("{} h {} min", s / 3600, s % 3600 / 60);
}

Progress::Progress(std::string label, std::int64_t total, std::int64_t done, std::string unit)
    : Progress(std::move(label), total, done, std::move(unit), for_stderr()) {}

Progress::Progress(std::string label, std::int64_t total, std::int64_t done, std::string unit,
                   Options options)
    : label_(std::move(label)),
      total_(std::max<std::int64_t>(total, 1)),
      first_(done),
      unit_(std::move(unit)),
      out_(options.out ? *options.out : std::cerr),
      terminal_(options.terminal),
      seconds_(options.seconds ? std::move(options.seconds) : monotonic_seconds),
      started_(seconds_()),
      next_(started_ + (terminal_ ? terminal_interval : plain_interval)) {}

Progress::~Progress() {
  if (!shown_) return;
  out_ << "\r\x1B[K" << std::flush;  // to the line's start, erase it
}

void Progress::update(std::int64_t done) { show(done, nullptr); }

void Progress::update(std::int64_t done, double loss) { show(done, &loss); }

void Progress::show(std::int64_t done, const double* loss) {
  const double now = seconds_();
  if (now < next_) return;
  next_ = now + (terminal_ ? terminal_interval : plain_interval);
  if (terminal_) {
    out_ << '\r' << line(done, loss, now) << "\x1B[K" << std::flush;
    shown_ = true;
  } else {
    out_ << line(done, loss, now) << '\n' << std::flush;
  }
}

std::string Progress::line(std::int64_t done, const double* loss, double now) const {
  const double elapsed = std::max(now - started_, 1e-9);
  const double rate = static_cast<double>(done - first_) / elapsed;
  const double left = rate > 0 ? static_cast<double>(total_ - done) / rate : 1e9;
  const double share = static_cast<double>(done) / static_cast<double>(total_);
  std::string out = label_ + "  ";
  if (terminal_) out += bar(share) + " ";
  out += fmt::format("{:3.0f}%  {}/{}  {:.{}f} {}/s", 100.0 * share, done, total_, rate,
                     rate < 10 ? 2 : 0, unit_);
  if (loss) out += fmt::format("  loss {:.4f}", *loss);
  if (done < total_) out += "  " + duration_text(left) + " left";
  return out;
}

}  // namespace labgrad::labs
