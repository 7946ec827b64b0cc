// --classify: what the published network sees in a photograph.

#include "data/image.h"
#include "data/retrieval.h"
#include "engine/engine.h"
#include "labs/pretrained/networks.h"
#include "labs/pretrained/sections.h"

namespace labgrad::labs::pretrained {
namespace {

constexpr std::int64_t side = 224;  // of the pictures that the network was trained on

}  // namespace

void classify(Lab& lab) {
  // The picture first: it is what the student has just typed.
  const std::filesystem::path path = lab.options().text("classify");
  const Tensor image = data::read_image(path);
  const std::unique_ptr<Published> network = load_published(lab);
  lab.say("{}: {} x {} pixels, {}. The whole picture is resized to {} x {}.", path.string(),
          image.size(2), image.size(1), image.size(0) == 1 ? "grey" : "in colour", side, side);
  const NoGrad no_grad;
  const Tensor e = network->embedding(network->photograph(image, side));
  const Tensor p = select(softmax(network->logits(e), 1), 0, 0);
  const std::vector<float> probabilities = p.to_vector<float>();
  Table table({{"class"}, {"number", "d"}, {"probability", ".3f"}}, "the five likeliest");
  double sum = 0;
  for (const std::int64_t i : data::nearest(probabilities, 5))
    table.row(network->class_name(i), i - network->model().first_class,
              probabilities[static_cast<std::size_t>(i)]);
  for (const float x : probabilities) sum += static_cast<double>(x);
  lab.table(table);
  lab.check_close("the probabilities of all classes sum to", sum, 1, 1e-4);
  if (network->class_name(1).starts_with("class "))
    lab.say(
        "The numbers have no names: there is no labs/pretrained/imagenet_classes.txt here. Name a "
        "list of the 1000 classes, one a line, with --labels FILE.");
}

}  // namespace labgrad::labs::pretrained
