#pragma once
// The networks of the lab behind one face: pictures in, a map after every stage, an embedding.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "labs/common/lab.h"
#include "labs/pretrained/small_net.h"
#include "nn/mobilenet_v2_weights.h"

namespace labgrad::labs::pretrained {

// A part of a network, as the tables name it.
struct Stage {
  std::string name, made_of;
  std::int64_t parameters;
};

class Network {
 public:
  explicit Network(std::filesystem::path file) : file_(std::move(file)) {}
  virtual ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  virtual std::string name() const = 0;        // in tables: "small network"
  virtual std::string phrase() const = 0;      // in sentences: "the small network"
  virtual std::string trained_on() const = 0;  // "ImageNet"
  // The weights it was read from.
  const std::filesystem::path& file() const { return file_; }
  virtual nn::Layer& module() = 0;
  // A second one from the same file, for comparisons.
  virtual std::unique_ptr<Network> again() const = 0;

  // The stages with a map each; the classifier is not one of them.
  virtual std::vector<Stage> stages() = 0;
  virtual Stage classifier() = 0;

  // Grey pictures (N, 1, 28, 28), 0 .. 1 -> what the network takes.
  virtual Tensor input(const Tensor& pixels) const = 0;
  virtual std::string input_text() const = 0;
  // The map (N, C, H, W) after each stage. The embedding is the mean of the last over H and W.
  virtual Tensors maps(const Tensor& x) = 0;
  virtual Tensor embedding(const Tensor& x) = 0;
  // Embeddings (N, C) -> logits (N, classes), and the name of class i.
  virtual Tensor logits(const Tensor& embeddings) = 0;
  virtual std::string class_name(std::int64_t i) const = 0;
  virtual void fold_batch_norm() = 0;

 private:
  std::filesystem::path file_;
};

// MobileNetV2 with published weights.
class Published : public Network {
 public:
  // `padding`: as nn::load_mobilenet_v2's. `names`: of the classes, without the background.
  Published(std::filesystem::path file, std::optional<nn::PaddingRule> padding,
            std::vector<std::string> names);

  std::string name() const override { return "MobileNetV2"; }
  std::string phrase() const override { return name(); }
  std::string trained_on() const override { return "ImageNet"; }
  nn::Layer& module() override { return model_.network; }
  std::unique_ptr<Network> again() const override;
  std::vector<Stage> stages() override;
  Stage classifier() override;
  Tensor input(const Tensor& pixels) const override;
  std::string input_text() const override;
  Tensors maps(const Tensor& x) override;
  Tensor embedding(const Tensor& x) override { return model_.network.embedding(x); }
  Tensor logits(const Tensor& e) override { return model_.network.classifier(e); }
  std::string class_name(std::int64_t i) const override;
  void fold_batch_norm() override { model_.network.fold_batch_norm(); }

  // A picture of any size (C, H, W), 0 .. 1 -> the network's input (1, 3, side, side).
  Tensor photograph(const Tensor& image, std::int64_t side) const;
  nn::PretrainedMobileNetV2& model() { return model_; }
  // Whether the weights are those that golden.h has figures of.
  bool is_golden() const;

 private:
  std::optional<nn::PaddingRule> padding_;
  std::vector<std::string> names_;
  nn::PretrainedMobileNetV2 model_;
};

// The small network, trained by ourselves.
class Small : public Network {
 public:
  explicit Small(std::filesystem::path file);

  std::string name() const override { return "small network"; }
  std::string phrase() const override { return "the small network"; }
  std::string trained_on() const override { return "MNIST"; }
  nn::Layer& module() override { return model_.network; }
  std::unique_ptr<Network> again() const override { return std::make_unique<Small>(file()); }
  std::vector<Stage> stages() override;
  Stage classifier() override;
  Tensor input(const Tensor& pixels) const override { return pixels; }
  std::string input_text() const override { return "1 x 28 x 28, pixels 0 to 1"; }
  Tensors maps(const Tensor& x) override;
  Tensor embedding(const Tensor& x) override { return model_.network.embedding(x); }
  Tensor logits(const Tensor& e) override { return model_.network.classifier(e); }
  std::string class_name(std::int64_t i) const override { return std::to_string(i); }
  void fold_batch_norm() override { model_.network.fold_batch_norm(); }

  PretrainedSmallNet& model() { return model_; }

 private:
  PretrainedSmallNet model_;
};

// One name a line; lines that begin with # are left out. Error: not 1000 names.
std::vector<std::string> read_class_names(const std::filesystem::path& path);

// The published weights that --weights names, or that lie in the data folder; empty if there are
// none. Throws MissingFile if a named one does not exist.
std::filesystem::path published_weights(Lab& lab);
// Read with what --padding and --labels say.
std::unique_ptr<Published> load_published(Lab& lab);

// What the sections work with, read when first asked for: the published network if its weights are
// there, then the small one; --network leaves one out.
const std::vector<Network*>& networks(Lab& lab);
// The first of them: the one that the lab is about.
Network& subject(Lab& lab);
Published* published(Lab& lab);  // null if it is not there
Small* small(Lab& lab);          // null if it is left out

}  // namespace labgrad::labs::pretrained
