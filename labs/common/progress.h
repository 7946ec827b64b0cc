#pragma once
// How far a long loop has come: a bar on a terminal, a few plain lines elsewhere.

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace labgrad::labs {

// "12 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(double seconds);

// Shows itself on stderr, at most ten times a second on a terminal, every ten seconds in a file;
// calls between cost about as much as reading a clock.
class Progress {
 public:
  struct Options {
    std::ostream* out = nullptr;           // else stderr
    bool terminal = false;                 // of `out`; of stderr it is found out
    std::function<double()> seconds = {};  // a clock, else the monotonic one
  };

  // `total` steps of which `done` were done before (a resumed run; they don't count as speed).
  // `unit` is what rates are counted in: "step", "sentence".
  Progress(std::string label, std::int64_t total, std::int64_t done = 0, std::string unit = "step");
  Progress(std::string label, std::int64_t total, std::int64_t done, std::string unit,
           Options options);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Takes the bar away, so that the next output starts on a clean line.
  ~Progress();

  // `done` steps are done by now. `loss` is shown as "loss 0.1234"; leave it out if there is none.
  void update(std::int64_t done);
  void update(std::int64_t done, double loss);

 private:
  void show(std::int64_t done, const double* loss);
  std::string line(std::int64_t done, const double* loss, double now) const;

  std::string label_;
  std::int64_t total_, first_;
  std::string unit_;
  std::ostream& out_;
  bool terminal_;
  std::function<double()> seconds_;
  double started_ = 0.0, next_ = 0.0;
  bool shown_ = false;  // a bar stands on the terminal's current line
};

}  // namespace labgrad::labs
