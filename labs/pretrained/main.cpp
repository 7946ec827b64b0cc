// labs/pretrained: experiment 11, a published network used without training.

#include <algorithm>
#include <string_view>
#include <vector>

#include "labs/pretrained/networks.h"
#include "labs/pretrained/sections.h"
#include "labs/pretrained/task.h"

namespace {

using namespace labgrad::labs;

void tell_data(Lab& lab) {
  const pretrained::Task& task = pretrained::task(lab);
  if (task.fashion) {
    lab.say("The pictures are Fashion-MNIST's, 28 x 28, grey, ten classes of garments.");
  } else {
    lab.say(
        "There is no Fashion-MNIST in {}, so the pictures are digits drawn by a program, 28 x 28, "
        "grey. They are easier to tell apart than garments. `make data` fetches Fashion-MNIST.",
        lab.data_dir().string());
  }
  const pretrained::Published* net = pretrained::published(lab);
  if (net) {
    lab.say("The network is MobileNetV2 with the weights published in {}, trained on ImageNet.",
            net->file().string());
    if (pretrained::small(lab))
      lab.say(
          "Beside it stands a small network of our own, trained on the handwritten digits of "
          "MNIST.");
  } else {
    lab.say(
        "The network is a small one of our own, trained on the handwritten digits of MNIST ({}). "
        "The lab is made for MobileNetV2 with the weights that were published for ImageNet{}",
        pretrained::small(lab)->file().string(),
        pretrained::published_weights(lab).empty()
            ? ": they are not in " + (lab.data_dir() / "mobilenet_v2").string() +
                  ". `make data` says where they can be had."
            : ", which `--network small` leaves out.");
  }
}

}  // namespace

int main(int argc, char** argv) {
  Lab lab({.name = "pretrained",
           .title = "Pretrained: a published network, put to work",
           .summary = "A network trained for one thing turns pictures into points, and the points "
                      "are used for another: the nearest neighbour of a picture. Nothing is "
                      "trained; raw pixels are the rival.",
           .seed = 0});
  pretrained::add_options(lab.options());
  std::vector<const char*> args(argv, argv + argc);
  const auto given = [&](std::string_view option) {
    return std::any_of(args.begin() + 1, args.end(),
                       [&](std::string_view arg) { return arg.starts_with(option); });
  };
  struct Instead {
    std::string option, title;
    Lab::Body body;
  };
  for (const Instead& other :
       {Instead{"classify", "A photograph classified", pretrained::classify},
        Instead{"train-small", "The small network, trained on MNIST", pretrained::train_small}}) {
    if (!given("--" + other.option)) continue;
    // In a folder of its own: the report of the lab stays.
    const std::string out = "--out=build/out/pretrained/" + other.option;
    if (!given("--out")) args.push_back(out.c_str());
    lab.section(other.option, other.title, other.body);
    return lab.run(static_cast<int>(args.size()), args.data());
  }
  lab.start(tell_data);
  lab.section("network", "Experiment 11: the network, stage by stage", pretrained::network);
  lab.section("weights", "Experiment 11: its weights, read strictly", pretrained::weights);
  lab.section("retrieval", "Experiment 11: is the nearest neighbour of the same class?",
              pretrained::retrieval);
  lab.section("shift", "Experiment 11, why: pictures out of their place", pretrained::shifted);
  lab.section("seen", "Experiment 11, why: what the network takes them for", pretrained::seen);
  lab.section("gallery", "Ten queries and their neighbours", pretrained::gallery);
  lab.section("scatter", "Embeddings as points", pretrained::scatter);
  lab.section("depth", "Beyond: which depth has the best features?", pretrained::depth);
  lab.section("probe", "Beyond: a linear probe on frozen features", pretrained::probe);
  lab.section("cost", "Beyond: batch norm folded, and what a picture costs", pretrained::cost);
  return lab.run(argc, argv);
}
