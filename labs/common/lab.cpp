#include "labs/common/lab.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "engine/accelerator.h"
#include "engine/cpu/threads.h"
#include "engine/io/file.h"
#include "engine/random.h"
#include "labs/common/interrupt.h"
#include "labs/common/report.h"
#include "labs/common/results.h"

namespace labgrad::labs {
namespace fs = std::filesystem;

Lab::Lab(LabInfo info) : Lab(std::move(info), std::cout, std::cerr, std::cin) {}

Lab::Lab(LabInfo info, std::ostream& out, std::ostream& err, std::istream& in)
    : info_(std::move(info)), out_(out), err_(err), in_(in), examiner_(in, out) {
  document_.name = info_.name;
  document_.title = info_.title;
  document_.summary = info_.summary;
  add_common_options();
}

void Lab::add_common_options() {
  options_.group("Common options");
  options_.add_flag("help", "print this manual");
  options_.add_flag("quick", "a look in 20 seconds: the same lesson, smaller numbers");
  options_.add_flag("full", "the course's own budget");
  options_.add_int("seed", "N", "start of every random stream", info_.seed, {.min = 0});
  options_.add_int("threads", "N", "threads that compute; the results don't depend on it",
                   std::nullopt, {.min = 1, .max = 1024});
  options_.add_choice("device", {"cpu", "cuda", "naive", "simt"},
                      "where to compute: naive is the plain loops of the specification, cuda is "
                      "in builds with CUDA=1 and simt, the GPU's kernels emulated, with SIMT=1",
                      "cpu");
  options_.add_string("data", "DIR", "folder of the real data (else $LABGRAD_DATA, data/files)");
  options_.add_string("out", "DIR", "folder for results, pictures, curves and models",
                      "build/out/" + info_.name);
  options_.add_flag("resume", "go on from the checkpoint of a run that was stopped");
  options_.add_list("section", "NAME", "run this section only");
  options_.add_int("epochs", "N", "passes over the training data (else by the budget)",
                   std::nullopt, {.min = 1});
  options_.add_int("batch", "N", "samples in a training step (else by the budget)", std::nullopt,
                   {.min = 1});
  options_.add_flag("ask", "wait for your prediction before each result, and score it");
  options_.group("Options of this lab");
}

void Lab::start(Body body) { starts_.push_back({"start", "Data and settings", std::move(body)}); }

void Lab::section(std::string name, std::string title, Body body) {
  for (const Entry& entry : entries_)
    if (entry.name == name) fail("section '" + name + "' is added twice");
  entries_.push_back({std::move(name), std::move(title), std::move(body)});
}

std::string Lab::manual() const {
  std::string out = options_.manual("build/bin/" + info_.name, info_.title + ". " + info_.summary);
  out += "\nSections:\n";
  std::size_t column = 0;
  for (const Entry& entry : entries_) column = std::max(column, display_width(entry.name));
  for (const Entry& entry : entries_) {
    std::string left = entry.name;
    for (const std::string& line : wrap(entry.title, page_width - column - 4)) {
      out += "  " + pad(left, column) + "  " + line + '\n';
      left.clear();
    }
  }
  out +=
      "\nExit status: 0 all checks passed, 1 a check failed, 2 wrong usage, 3 a file or device is "
      "missing.\n";
  return out;
}

std::vector<const Lab::Entry*> Lab::chosen() const {
  const auto wanted = options_.list("section");
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.name);
  for (const std::string& name : wanted) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string guess = closest(name, names);
    throw UsageError("--section " + name + ": there is no such section" +
                     (guess.empty() ? "" : "; did you mean " + guess + "?") + " This lab has " +
                     join_names(names));
  }
  std::vector<const Entry*> out;
  for (const Entry& entry : entries_)
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), entry.name) != wanted.end())
      out.push_back(&entry);
  return out;
}

void Lab::configure() {
  if (options_.flag("quick") && options_.flag("full"))
    throw UsageError("--quick and --full exclude each other");
  chosen();  // complains about unknown names before anything runs
  if (options_.given("data")) data_dir();
  try {
    set_default_device(device_from_name(options_.text("device")));
  } catch (const NoDevice&) {
    throw;
  } catch (const Error& e) {
    throw UsageError("--device " + options_.text("device") + ": " + e.what());
  }
  if (options_.given("threads")) set_num_threads(static_cast<int>(options_.integer("threads")));
  document_.options = options_.values();
  std::error_code code;
  fs::create_directories(out_dir(), code);
  if (!fs::is_directory(out_dir()))
    throw UsageError("--out " + out_dir().string() +
                     ": this folder cannot be made: " + code.message());
}

int Lab::run(int argc, const char* const* argv) {
  const auto complain = [this](const std::exception& e) {
    out_.flush();
    err_ << info_.name << ": " << e.what() << std::endl;
  };
  try {
    options_.parse(argc, argv);
    if (options_.flag("help")) {
      out_ << manual() << std::flush;
      return 0;
    }
    configure();
    return run_sections();
  } catch (const UsageError& e) {
    complain(e);
    return 2;
  } catch (const MissingFile& e) {
    complain(e);
    return 3;
  } catch (const NoDevice& e) {
    complain(e);
    return 3;
  } catch (const std::exception& e) {
    complain(e);
    return 1;
  }
}

int Lab::run_sections() {
  install_stop_handler();
  const char* budget_name = by_budget("quick", "default", "full");
  out_ << info_.title << '\n'
       << paragraph(info_.summary)
       << fmt::format("Seed {}, {} budget, device {}, {} thread{}.\n", seed(), budget_name,
                      options_.text("device"), num_threads(), num_threads() == 1 ? "" : "s")
       << std::flush;
  std::vector<const Entry*> entries;
  for (const Entry& entry : starts_) entries.push_back(&entry);
  for (const Entry* entry : chosen()) entries.push_back(entry);
  int status = 0;
  for (const Entry* entry : entries) {
    status = run_entry(*entry);
    write_files();
    if (status != 0) break;
  }
  finish();
  return status == 0 && document_.checks(false) > 0 ? 1 : status;
}

int Lab::run_entry(const Entry& entry) {
  document_.sections.push_back({.name = entry.name, .title = entry.title});
  std::string rule;
  for (std::size_t i = 0; i < display_width(entry.title); ++i) rule += "═";
  out_ << '\n' << entry.title << '\n' << rule << std::endl;

  const auto begin = std::chrono::steady_clock::now();
  int status = 0;
  const auto ended_early = [&](const std::exception& e, int with_status) {
    document_.sections.back().error = e.what();
    out_.flush();
    err_ << info_.name << ": section " << entry.name << ": " << e.what() << std::endl;
    status = with_status;
  };
  try {
    // Each section draws the same numbers whether it runs alone or after the others.
    manual_seed(static_cast<std::uint64_t>(seed()));
    entry.body(*this);
    if (stop_requested()) throw Interrupted("stopped by Ctrl-C");
  } catch (const Interrupted& e) {
    ended_early(e, 130);
  } catch (const UsageError& e) {
    ended_early(e, 2);
  } catch (const MissingFile& e) {
    ended_early(e, 3);
  } catch (const std::exception& e) {
    ended_early(e, 1);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  document_.sections.back().seconds = took.count();
  return status;
}

void Lab::write_files() const {
  write_results(out_dir() / "results.json", document_);
  write_report(out_dir() / "report.html", document_);
}

void Lab::finish() const {
  out_ << "\nThe report, with the pictures: " << (out_dir() / "report.html").string() << '\n';
  print_score();
  out_ << document_.checks(true) << " checks passed, " << document_.checks(false) << " failed"
       << std::endl;
}

void Lab::print_score() const {
  std::size_t asked = 0, right = 0;
  for (const Section& section : document_.sections)
    for (const Block& block : section.blocks)
      if (const auto* q = std::get_if<Question>(&block); q && q->right) {
        ++asked;
        right += *q->right ? 1 : 0;
      }
  if (asked > 0) out_ << right << " of " << asked << " predictions right\n";
}

Budget Lab::budget() const {
  if (options_.flag("quick")) return Budget::quick;
  return options_.flag("full") ? Budget::full : Budget::standard;
}

std::int64_t Lab::epochs(std::int64_t quick, std::int64_t standard, std::int64_t full) const {
  return options_.integer_or("epochs", by_budget(quick, standard, full));
}

std::int64_t Lab::batch(std::int64_t quick, std::int64_t standard, std::int64_t full) const {
  return options_.integer_or("batch", by_budget(quick, standard, full));
}

fs::path Lab::out_dir() const { return options_.text("out"); }

fs::path Lab::data_dir() const {
  const char* from_environment = std::getenv("LABGRAD_DATA");
  fs::path dir = "data/files";
  if (options_.given("data")) {
    dir = options_.text("data");
  } else if (from_environment && *from_environment) {
    dir = from_environment;
  } else {
    return dir;
  }
  if (!fs::is_directory(dir))
    throw MissingFile(dir, "name an existing folder with --data or LABGRAD_DATA");
  return dir;
}

}  // namespace labgrad::labs
