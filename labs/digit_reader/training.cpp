#include "labs/digit_reader/training.h"

#include <algorithm>
#include <array>

#include "engine/cpu/winograd.h"
#include "engine/io/safetensors.h"
#include "engine/memory.h"
#include "engine/process_memory.h"
#include "nn/optim.h"
#include "nn/schedule.h"

namespace labgrad::labs::digit_reader {

std::string name_of(Kind kind) { return kind == Kind::fixed ? "fixed" : "attention"; }

std::unique_ptr<Reader> make_reader(Kind kind) {
  if (kind == Kind::fixed) return std::make_unique<FixedReader>();
  return std::make_unique<AttentionReader>();
}

Json describe(Reader& reader, Kind kind, std::int64_t seed) {
  Json config = Json::object({{"reader", reader.kind()},
                              {"hidden", 64},
                              {"emb", 32},
                              {"bigru_units", 64},
                              {"params", reader.parameter_count()},
                              {"seed", seed}});
  if (kind == Kind::attention) {
    config.set("attention", "scaled dot-product");
    config.set("d_k", 64);
    config.set("d_v", 128);
  }
  if (winograd()) config.set("winograd", true);
  return config;
}

std::vector<Kind> chosen(const Lab& lab) {
  const std::string reader = lab.options().text("reader");
  if (reader == "fixed") return {Kind::fixed};
  if (reader == "attention") return {Kind::attention};
  return {Kind::fixed, Kind::attention};
}

namespace {

// The notebook scores after the epochs 1, 3, 6, 9 and 12; shorter trainings after each.
bool is_scored(std::int64_t epoch, std::int64_t epochs) {
  return epochs <= 6 || epoch == 1 || epoch % 3 == 0 || epoch == epochs;
}

Trained train_reader(Lab& lab, Kind kind) {
  const Task& data = task(lab);
  const std::int64_t n = strips_per_epoch(lab), batch = training_batch(lab);
  const std::int64_t epochs = training_epochs(lab), tested = test_count(lab);
  if (n < batch)
    throw UsageError(fmt::format(
        "--strips {} is less than one batch of {}: choose a smaller --batch", n, batch));
  constexpr double lr = 1e-3;

  const auto seed = static_cast<std::uint64_t>(lab.seed());
  manual_seed(seed);
  Trained out{.kind = kind, .reader = make_reader(kind)};
  Reader& reader = *out.reader;
  optim::Adam adam(reader.parameters(), {.lr = lr});
  const optim::Schedule schedule = optim::cosine(lr, epochs * (n / batch));
  Generator order(seed);

  Training training{
      .name = name_of(kind) + " reader", .model = &reader, .optimizer = &adam, .epochs = epochs};
  training.config = describe(reader, kind, lab.seed());
  training.config.set("data", data.source);
  training.config.set("train_lengths",
                      fmt::format("{}-{}", train_lengths.first, train_lengths.last));
  training.config.set("strips_per_epoch", n);
  training.config.set("optimiser", "Adam");
  training.config.set("lr", lr);
  training.config.set("schedule", "cosine, per step");
  training.config.set("batch_size", batch);
  training.config.set("epochs", epochs);
  Json eval_epochs = Json::array();
  for (std::int64_t e = 1; e <= epochs; ++e)
    if (is_scored(e, epochs)) eval_epochs.push_back(e);
  training.config.set("eval_epochs", eval_epochs);
  out.config = training.config;

  training.generators.emplace_back("order", &order);
  training.checkpoint_every = 100;
  std::unique_ptr<data::StripDataset> strips;
  training.batches = [&](std::int64_t epoch) {
    strips = std::make_unique<data::StripDataset>(data.train_images, n, train_lengths,
                                                  static_cast<std::uint64_t>(1001 + epoch));
    return batches_of(data::Loader(n, {.batch_size = batch, .drop_last = true}, order));
  };
  training.step = [&](const Batch& rows, std::int64_t step) {
    reset_peak_memory();
    reset_peak_resident();
    const data::StripBatch b = data::collate(*strips, rows);
    adam.lr = schedule(step);
    const Tensor loss = masked_loss(reader.forward(b.images, b.inputs), b.targets);
    adam.zero_grad();
    loss.backward();
    adam.step();
    out.step_bytes = std::max(out.step_bytes, memory_stats().peak);
    out.step_resident = std::max(out.step_resident, peak_resident_bytes().value_or(0));
    return loss.item();
  };
  training.evaluate = [&](std::int64_t epoch) {
    if (!is_scored(epoch + 1, epochs)) return Metrics{};
    out.on_test = read(reader, data.test, tested);
    const data::ReadingScore s = score(out.on_test, data.test, train_lengths);
    return Metrics{{"test exact", s.exact_accuracy()}, {"test CER", s.cer()}};
  };
  release_cached_memory();  // what earlier sections held doesn't count
  out.history = train(lab, training);
  save_safetensors(lab.out_dir() / (name_of(kind) + "_reader.safetensors"), reader.state_dict());
  // The last epoch is always scored; only a resumed run that was complete has not read yet.
  if (out.on_test.empty()) out.on_test = read(reader, data.test, tested);
  out.on_long = read(reader, data.longer, long_count(lab));

  Json rows = Json::array();
  for (std::size_t e = 0; e < out.history.epochs.size(); ++e) {
    Json row = Json::object({{"epoch", e + 1}, {"train/loss", out.history.epoch_losses[e]}});
    for (const auto& [name, value] : out.history.epochs[e])
      row.set(name == "test exact" ? "test/exact" : "test/cer", value);
    rows.push_back(row);
  }
  records().push_back(
      {fmt::format("{} reader, {} x {} strips", name_of(kind), epochs, n), out.config, rows});
  return out;
}

}  // namespace

Trained& trained(Lab& lab, Kind kind) {
  static std::array<std::unique_ptr<Trained>, 2> made;
  auto& slot = made.at(kind == Kind::fixed ? 0 : 1);
  if (!slot) slot = std::make_unique<Trained>(train_reader(lab, kind));
  return *slot;
}

std::vector<Trained*> all_trained(Lab& lab) {
  std::vector<Trained*> out;
  for (const Kind kind : chosen(lab)) out.push_back(&trained(lab, kind));
  return out;
}

Trained* trained_or_tell(Lab& lab, Kind kind) {
  const std::vector<Kind> kinds = chosen(lab);
  if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) return &trained(lab, kind);
  lab.say("This section needs the {} reader, which `--reader {}` leaves out.", name_of(kind),
          lab.options().text("reader"));
  return nullptr;
}

std::vector<Record>& records() {
  static std::vector<Record> all;
  return all;
}

}  // namespace labgrad::labs::digit_reader
