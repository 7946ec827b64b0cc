// What the network is made of: stages, shapes, parameters.

#include <algorithm>

#include "engine/engine.h"
#include "labs/common/plot.h"
#include "labs/pretrained/networks.h"
#include "labs/pretrained/sections.h"
#include "labs/pretrained/task.h"

namespace labgrad::labs::pretrained {
namespace {

// "24 x 24 x 24": channels, rows, columns.
std::string size_text(const Tensor& map) {
  return fmt::format("{} x {} x {}", map.size(1), map.size(2), map.size(3));
}

void tell_published(Lab& lab, Published& net) {
  lab.say(
      "MobileNetV2 is 17 blocks between two convolutions. A block widens its few channels with a 1 "
      "x 1 convolution, filters each of them by itself (depthwise), and brings them back to a few "
      "with another 1 x 1 convolution, without ReLU: what is narrow would lose too much by it. "
      "Where input and output have the same shape, the input is added.");
  lab.equation("inverted_residual.1",
               "e = relu6(norm(x * W_e))\n"
               "d = relu6(norm(e * W_d))      each channel by itself\n"
               "p = norm(d * W_p)\n"
               "y = x + p                     if the shapes agree, else p");
  const nn::InvertedResidual& block = net.model().network.blocks.at(1);
  const std::int64_t channels = block.depthwise.conv.weight.size(0);
  const std::int64_t depthwise = block.depthwise.conv.weight.numel(),
                     full = channels * channels * 9;
  lab.say(
      "Filtering each channel by itself is what makes it cheap: in the second block {} channels "
      "take {} weights, where a full 3 x 3 convolution would take {}, {:.0f} times as many.",
      channels, depthwise, full, static_cast<double>(full) / static_cast<double>(depthwise));
}

void tell_small(Lab& lab) {
  lab.say(
      "The small network was trained by ourselves, on the digits of MNIST. Three times a 3 x 3 "
      "convolution, batch norm, ReLU and the largest of each 2 x 2 pixels; the mean over what is "
      "left of the plane is the embedding, and one linear layer makes the ten digits of it.");
  lab.equation("small_net.1",
               "h_i = max_pool(relu(norm(h_{i-1} * W_i))),  h_0 = x\n"
               "e = mean of h_3 over rows and columns");
  lab.equation("small_net.2", "y = W e + b");
}

void table_of_stages(Lab& lab, Network& network) {
  const NoGrad no_grad;
  const Tensor x = network.input(slice(task(lab).queries.pixels, 0, 0, 1));
  const Tensors maps = network.maps(x);
  const std::vector<Stage> stages = network.stages();
  const Stage last = network.classifier();
  const std::int64_t all = network.module().parameter_count();
  Table table({{"stage"},
               {"made of"},
               {"output", "", Align::right},
               {"parameters", ",d"},
               {"share", ".3f"}},
              network.name() + ", for " + network.input_text());
  const auto share = [&](std::int64_t n) {
    return static_cast<double>(n) / static_cast<double>(all);
  };
  std::int64_t sum = last.parameters;
  BarPlot::Group bars{.name = "parameters"};
  std::vector<std::string> names;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const auto& [name, made_of, parameters] = stages[s];
    table.row(name, made_of, size_text(maps[s]), parameters, share(parameters));
    sum += parameters;
    names.push_back(name);
    bars.heights.push_back(static_cast<double>(parameters));
  }
  const Tensor embedding = network.embedding(x);
  table.add_row({std::string("mean over the plane"), Cell{}, std::to_string(embedding.size(1)),
                 std::int64_t{0}, 0.0});
  table.row(last.name, last.made_of, std::to_string(network.logits(embedding).size(1)),
            last.parameters, share(last.parameters));
  table.add_row({std::string("all"), Cell{}, Cell{}, all, 1.0});
  lab.table(table);
  names.push_back(last.name);
  bars.heights.push_back(static_cast<double>(last.parameters));
  const std::string file = network.name() == "MobileNetV2" ? "parameters" : "parameters_small";
  lab.picture(file, "Where the parameters are: " + network.name() + ".",
              draw_bars({.title = "Parameters by stage: " + network.name(),
                         .y_label = "parameters",
                         .categories = names,
                         .groups = {bars},
                         .width = 760}));
  lab.check_equal(network.name() + ": the stages' parameters are all parameters", sum, all);
  lab.check_less(network.name() + ": the embedding is the mean of the last map (difference)",
                 max(abs(embedding - mean(maps.back(), {2, 3}))).item(), 1e-6);
}

}  // namespace

void network(Lab& lab) {
  lab.say(
      "A network that classifies ends in two parts. Everything but its last layer turns a picture "
      "into a few numbers, the embedding; the last layer draws straight lines between the classes "
      "in that space. Take the last layer away, and what is left is a map from pictures to points, "
      "for any pictures, of classes the network never heard of. Nothing is trained here.");
  const auto prediction =
      lab.predict(fmt::format("Where does {} have most of its parameters?", subject(lab).phrase()),
                  {"in the first half of its stages", "in the second half", "in the classifier"});
  if (Published* net = published(lab)) {
    tell_published(lab, *net);
    table_of_stages(lab, *net);
    const std::int64_t classes = net->logits(zeros({1, 1280})).size(1);
    // 2,223,872 is what torchvision's mobilenet_v2 counts without its classifier.
    lab.check_equal("MobileNetV2: parameters, as published", net->module().parameter_count(),
                    2223872 + 1281 * classes);
  }
  if (Small* net = small(lab)) {
    tell_small(lab);
    table_of_stages(lab, *net);
    lab.check_equal("small network: parameters, by hand", net->module().parameter_count(),
                    9 * (16 + 16 * 32 + 32 * 64) + 2 * (16 + 32 + 64) + 64 * 10 + 10);
  }
  std::array<std::int64_t, 3> parts{0, 0, subject(lab).classifier().parameters};
  const std::vector<Stage> stages = subject(lab).stages();
  for (std::size_t s = 0; s < stages.size(); ++s)
    parts.at(2 * s < stages.size() ? 0 : 1) += stages[s].parameters;
  lab.reveal(prediction, static_cast<std::size_t>(std::max_element(parts.begin(), parts.end()) -
                                                  parts.begin()));
}

}  // namespace labgrad::labs::pretrained
