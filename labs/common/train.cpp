#include "labs/common/train.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <optional>

#include "engine/create.h"
#include "engine/error.h"
#include "engine/io/file.h"
#include "labs/common/checkpoint.h"
#include "labs/common/interrupt.h"
#include "labs/common/progress.h"
#include "labs/common/tensorboard.h"

namespace labgrad::labs {
namespace {

Json metrics_json(const Metrics& metrics) {
  Json out = Json::object();
  for (const auto& [name, value] : metrics) out.set(name, value);
  return out;
}

Metrics metrics_from(const Json& json) {
  Metrics out;
  for (const auto& [name, value] : json.as_object()) out.emplace_back(name, value.as_double(name));
  return out;
}

Tensor numbers(const std::vector<double>& values) {
  return from_values(std::span<const double>(values), {static_cast<std::int64_t>(values.size())});
}

// Where a training stands, and how that is written down.
class Run {
 public:
  Run(const Training& training, const TrainingFiles& files) : t_(training), files_(files) {
    complete_ = t_.epochs < 1;
    if (!t_.model || !t_.optimizer || !t_.batches || !t_.step)
      fail("training '" + t_.name + "': give model, optimizer, batches and step");
    remove_abandoned(files_.checkpoint);
    if (files_.resume && std::filesystem::exists(files_.checkpoint)) load();
  }

  History go() {
    if (complete_) return std::move(history_);
    if (step_ == 0) remove_events(files_.curves);  // of an earlier run
    EventWriter events(files_.curves, step_);
    t_.model->train();
    std::optional<Progress> progress;
    while (!complete_) {
      start_epoch();
      const auto count = static_cast<std::int64_t>(batches_.size());
      if (!progress) {
        // Epochs may differ in length; the first one stands for all.
        const std::int64_t total = step_ + (count - batch_) + (t_.epochs - epoch_ - 1) * count;
        progress.emplace(t_.name, total, step_);
      }
      while (batch_ < count) {
        one_step(events);
        progress->update(step_, history_.losses.back());
        if (t_.checkpoint_every > 0 && step_ % t_.checkpoint_every == 0) save();
        if (stop_requested()) stop(events);
      }
      end_epoch(events);
    }
    return std::move(history_);
  }

 private:
  void start_epoch() {
    if (resumed_within_epoch_) {
      // The same batches again, drawn from the generators as they were; then on from where they
      // are.
      restore(epoch_generators_);
      batches_ = t_.batches(epoch_);
      restore(generators_);
      resumed_within_epoch_ = false;
      return;
    }
    epoch_generators_ = generators_now();
    batches_ = t_.batches(epoch_);
  }

  void one_step(EventWriter& events) {
    const double loss = t_.step(batches_[static_cast<std::size_t>(batch_)], step_);
    if (!std::isfinite(loss))
      fail(fmt::format(
          "training '{}': the loss is {} at step {} (epoch {}, batch {}); try a smaller "
          "learning rate, or clip the gradients",
          t_.name, number_text(loss), step_, epoch_ + 1, batch_ + 1));
    history_.losses.push_back(loss);
    epoch_sum_ += loss;
    events.scalar("loss/step", loss, step_);
    ++step_;
    ++batch_;
  }

  void end_epoch(EventWriter& events) {
    const double mean = batches_.empty() ? 0.0 : epoch_sum_ / static_cast<double>(batches_.size());
    history_.epoch_losses.push_back(mean);
    history_.epochs.push_back(t_.evaluate ? t_.evaluate(epoch_) : Metrics{});
    events.scalar("loss/epoch", mean, step_);
    events.scalar("learning rate", t_.optimizer->lr, step_);
    for (const auto& [name, value] : history_.epochs.back()) events.scalar(name, value, step_);
    events.flush();
    t_.model->train();  // `evaluate` may have left it otherwise
    ++epoch_;
    batch_ = 0;
    epoch_sum_ = 0.0;
    enough_ = t_.enough && t_.enough(history_);
    complete_ = enough_ || epoch_ >= t_.epochs;
    save();
    // A request that came during the evaluation.
    if (!complete_ && stop_requested()) stop(events);
  }

  [[noreturn]] void stop(EventWriter& events) {
    save();
    events.flush();
    throw Interrupted(fmt::format(
        "'{}' stopped after step {} and saved its state; --resume goes on", t_.name, step_));
  }

  Json generators_now() const {
    Json out = Json::object();
    for (const auto& [name, generator] : t_.generators) out.set(name, generator_text(*generator));
    return out;
  }

  void restore(const Json& states) const {
    for (const auto& [name, generator] : t_.generators)
      restore_generator(*generator, states.at(name).as_string(name));
  }

  void save() const {
    Checkpoint c;
    c.put("model", t_.model->state_dict());
    c.put("optimizer", t_.optimizer->state_dict());
    c.put("history",
          {{"losses", numbers(history_.losses)}, {"epoch_losses", numbers(history_.epoch_losses)}});
    Json epochs = Json::array();
    for (const Metrics& metrics : history_.epochs) epochs.push_back(metrics_json(metrics));
    c.state = Json::object({{"config", t_.config},
                            {"enough", enough_},
                            {"epoch", epoch_},
                            {"batch", batch_},
                            {"step", step_},
                            {"epoch_sum", epoch_sum_},
                            {"epochs", epochs},
                            {"generators", generators_now()},
                            {"epoch_generators", epoch_generators_}});
    save_checkpoint(files_.checkpoint, c);
  }

  void load() {
    const Checkpoint c = load_checkpoint(files_.checkpoint);
    const auto refuse = [&](const std::string& why) {
      fail(fmt::format("{}: {}; run without --resume to start anew", files_.checkpoint.string(),
                       why));
    };
    if (!(c.state.at("config") == t_.config))
      refuse(fmt::format("it was made with {} and this run has {}", c.state.at("config").dump(),
                         t_.config.dump()));
    epoch_ = c.state.at("epoch").as_int();
    batch_ = c.state.at("batch").as_int();
    step_ = c.state.at("step").as_int();
    epoch_sum_ = c.state.at("epoch_sum").as_double();
    for (const auto& [name, tensor] : c.take("history"))
      (name == "losses" ? history_.losses : history_.epoch_losses) = tensor.to_vector();
    for (const Json& metrics : c.state.at("epochs").as_array())
      history_.epochs.push_back(metrics_from(metrics));
    // A finished run to which --epochs adds some goes on.
    enough_ = c.state.at("enough").as_bool();
    complete_ = enough_ || (epoch_ >= t_.epochs && batch_ == 0);
    t_.model->load_state_dict(c.take("model"));
    t_.optimizer->load_state_dict(c.take("optimizer"));
    generators_ = c.state.at("generators");
    epoch_generators_ = c.state.at("epoch_generators");
    resumed_within_epoch_ = batch_ > 0;
    restore(generators_);
  }

  const Training& t_;
  const TrainingFiles& files_;
  History history_;
  Batches batches_;
  std::int64_t epoch_ = 0, batch_ = 0, step_ = 0;  // the next ones to do
  double epoch_sum_ = 0.0;                         // of the losses in this epoch
  bool enough_ = false, complete_ = false, resumed_within_epoch_ = false;
  Json generators_ = Json::object(), epoch_generators_ = Json::object();
};

}  // namespace

Batches batches_of(const data::Loader& loader) {
  Batches out;
  for (const auto& batch : loader) out.emplace_back(batch.begin(), batch.end());
  return out;
}

Series History::curve(const std::string& name, const std::string& label) const {
  Series series{label.empty() ? name : label};
  series.style = Style::line_and_points;
  for (std::size_t e = 0; e < epochs.size(); ++e) {
    series.x.push_back(static_cast<double>(e + 1));
    if (name == "loss") {
      series.y.push_back(epoch_losses[e]);
      continue;
    }
    for (const auto& [figure, value] : epochs[e])
      if (figure == name) series.y.push_back(value);
    if (series.y.size() != series.x.size())
      fail(fmt::format("history: epoch {} has no figure '{}'", e + 1, name));
  }
  return series;
}

double History::last(const std::string& name) const {
  const Series series = curve(name);
  if (series.y.empty()) fail("history: no epoch has been trained");
  return series.y.back();
}

History train(const Training& training, const TrainingFiles& files) {
  return Run(training, files).go();
}

History train(Lab& lab, const Training& training) {
  const std::string name = file_safe(training.name);
  return train(training, {.checkpoint = lab.out_dir() / (name + ".checkpoint.safetensors"),
                          .curves = lab.out_dir() / "runs" / name,
                          .resume = lab.resume()});
}

}  // namespace labgrad::labs
