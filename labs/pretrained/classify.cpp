// --classify: what the published network sees in a photograph.

#include <algorithm>
#include <cmath>

#include "data/image.h"
#include "data/retrieval.h"
#include "engine/engine.h"
#include "labs/common/png.h"
#include "labs/common/svg.h"
#include "labs/pretrained/networks.h"
#include "labs/pretrained/sections.h"

namespace labgrad::labs::pretrained {
namespace {

constexpr std::int64_t side = 224;  // of the pictures that the network was trained on

// The picture, and a bar for each class beside it.
std::string draw_classified(const Tensor& image, const std::vector<std::string>& names,
                            const std::vector<double>& probabilities) {
  const Tensor colours = permute(data::three_channels(image), {1, 2, 0});
  Raster raster{.width = static_cast<std::size_t>(colours.size(1)),
                .height = static_cast<std::size_t>(colours.size(0)),
                .channels = 3,
                .pixels = {}};
  for (const float x : colours.to_vector<float>())
    raster.pixels.push_back(
        static_cast<std::uint8_t>(std::lround(255 * std::clamp(x, 0.0F, 1.0F))));
  constexpr double margin = 14, bar = 200, step = 40;
  const auto width = static_cast<double>(raster.width), height = static_cast<double>(raster.height);
  const double left = margin + width + 24;
  Svg svg(left + bar + 60, height + 2 * margin, "the likeliest classes");
  svg.image({margin, margin}, width, height, png_data_uri(raster), true);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double y = margin + step * static_cast<double>(i);
    svg.text({left, y + 13}, names[i], {.size = 13});
    svg.rect({left, y + 18}, bar, 10, {.fill = faint});
    svg.rect({left, y + 18}, bar * probabilities[i], 10, {.fill = palette(0)});
    svg.text({left + bar + 8, y + 27}, fmt::format("{:.3f}", probabilities[i]), {.size = 12});
  }
  return svg.str();
}

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
  std::vector<std::string> names;
  std::vector<double> shown;
  for (const std::int64_t i : data::nearest(probabilities, 5)) {
    names.push_back(network->class_name(i));
    shown.push_back(static_cast<double>(probabilities[static_cast<std::size_t>(i)]));
    table.row(names.back(), i - network->model().first_class, shown.back());
  }
  for (const float x : probabilities) sum += static_cast<double>(x);
  lab.table(table);
  lab.picture("classified", "What the network was shown, and what it takes it for.",
              draw_classified(data::resize(image, side), names, shown));
  lab.check_close("the probabilities of all classes sum to", sum, 1, 1e-4);
  if (network->class_name(1).starts_with("class "))
    lab.say(
        "The numbers have no names: there is no labs/pretrained/imagenet_classes.txt here. Name a "
        "list of the 1000 classes, one a line, with --labels FILE.");
}

}  // namespace labgrad::labs::pretrained
