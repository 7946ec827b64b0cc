// MobileNetV2 in the lab: its parts, its class names, and --classify, with weights drawn at random.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "data/image.h"
#include "engine/engine.h"
#include "engine/io/json.h"
#include "engine/io/safetensors.h"
#include "labs/pretrained/embed.h"
#include "labs/pretrained/networks.h"
#include "labs/pretrained/sections.h"
#include "tests/check_close.h"
#include "tests/engine/io/files.h"

using namespace labgrad;
using namespace labgrad::labs;
using namespace labgrad::labs::pretrained;
using files::has;

namespace {

namespace fs = std::filesystem;

const char* const names = "labs/pretrained/imagenet_classes.txt";
constexpr std::int64_t favourite = 967;  // what the random network takes everything for

// A file with random weights, and a bias that makes one class the likeliest.
void write_weights(const fs::path& path) {
  Generator g(1);
  nn::MobileNetV2 net({}, g);
  const NoGrad no_grad;
  select(net.classifier.bias, 0, favourite).fill_(8);
  save_safetensors(path, net.state_dict());
}

struct Classifying {
  std::ostringstream out, err;
  std::istringstream in;
  Lab lab{{.name = "pretrained", .title = "T", .summary = "S"}, out, err, in};

  int run(std::vector<std::string> words) {
    add_options(lab.options());
    lab.section("classify", "A photograph classified", classify);
    words.insert(words.begin(), "pretrained");
    std::vector<const char*> argv;
    for (const std::string& w : words) argv.push_back(w.c_str());
    return lab.run(static_cast<int>(argv.size()), argv.data());
  }
};

}  // namespace

TEST_CASE("pretrained: the names of the 1000 classes, in their order") {
  const std::vector<std::string> all = read_class_names(names);
  REQUIRE(all.size() == 1000);
  CHECK(all[0] == "tench");
  CHECK(all[281] == "tabby");
  CHECK(all[652] == "military uniform");
  CHECK(all[967] == "espresso");
  CHECK(all[999] == "toilet tissue");
  const files::Scratch scratch("names");
  std::ofstream(scratch.file("few.txt")) << "# two\none\r\ntwo\n";
  CHECK(has(files::problem([&] { read_class_names(scratch.file("few.txt")); }),
            "few.txt: 2 names; it must have the 1000 classes"));
}

TEST_CASE("pretrained: MobileNetV2 by stages") {
  const files::Scratch scratch("stages");
  const fs::path path = scratch.file("w.safetensors");
  write_weights(path);
  Published net(path, {}, {});
  CHECK_FALSE(net.is_golden());
  CHECK(net.class_name(3) == "class 3");
  // By the paper's table 2, each block's three convolutions with their norms.
  const std::vector<std::int64_t> parameters{928,    896,    13968,  39696, 183872,
                                             303168, 795264, 473920, 412160};
  std::int64_t sum = net.classifier().parameters;
  for (std::size_t s = 0; s < parameters.size(); ++s) {
    CHECK(net.stages().at(s).parameters == parameters[s]);
    sum += parameters[s];
  }
  CHECK(sum == 3504872);  // as torchvision counts
  CHECK(sum == net.module().parameter_count());
  const NoGrad no_grad;
  Generator g(2);
  const Tensor x = net.input(rand({2, 1, 28, 28}, g));
  CHECK(x.shape() == Shape{2, 3, 96, 96});
  const Tensors maps = net.maps(x);
  REQUIRE(maps.size() == net.stages().size());
  const std::vector<std::int64_t> channels{32, 16, 24, 32, 64, 96, 160, 320, 1280};
  for (std::size_t s = 0; s < maps.size(); ++s) CHECK(maps[s].size(1) == channels[s]);
  CHECK(tests::bit_difference(mean(maps.back(), {2, 3}), net.embedding(x)) == "");
  // ImageNet's mean and deviation, which weights without metadata are read with.
  const Tensor grey = net.input(full({1, 1, 28, 28}, 0.5));
  CHECK(grey.at({0, 0, 0, 0}) == doctest::Approx((0.5 - 0.485) / 0.229));
  CHECK(grey.at({0, 2, 95, 95}) == doctest::Approx((0.5 - 0.406) / 0.225));
  const Tensor red = net.photograph(reshape(tensor({1.0, 0.0, 0.25}), {3, 1, 1}), 224);
  CHECK(red.shape() == Shape{1, 3, 224, 224});
  CHECK(red.at({0, 0, 10, 200}) == doctest::Approx((1 - 0.485) / 0.229));
  CHECK(red.at({0, 1, 10, 200}) == doctest::Approx((0 - 0.456) / 0.224));
  CHECK(red.at({0, 2, 10, 200}) == doctest::Approx((0.25 - 0.406) / 0.225));
  // A second one from the same file, folded, is the same.
  const std::unique_ptr<Network> again = net.again();
  again->fold_batch_norm();
  CHECK(again->module().parameter_count() < net.module().parameter_count());
  CHECK(tests::difference(again->embedding(x), net.embedding(x), {.rtol = 1e-3, .atol = 1e-4}) ==
        "");
}

TEST_CASE("pretrained: --classify names the likeliest classes of a picture") {
  const files::Scratch scratch("classify");
  const fs::path weights = scratch.file("w.safetensors"), photo = scratch.file("p.ppm");
  const std::string out = scratch.file("out").string();
  write_weights(weights);
  Generator g(4);
  data::write_image(photo, rand({3, 40, 60}, g));
  const std::vector<std::string> words{"--classify",     photo.string(), "--weights",
                                       weights.string(), "--out",        out};
  Classifying run;
  CHECK(run.run(words) == 0);
  CHECK(has(run.out.str(), "60 x 40 pixels, in colour"));
  const Json results = read_json(fs::path(out) / "results.json");
  const Json& rows = results.at("sections").at(0).at("tables").at(0).at("rows");
  REQUIRE(rows.as_array().size() == 5);
  CHECK(rows.at(0).at(0).as_string() == "espresso");
  CHECK(rows.at(0).at(1).as_int() == favourite);
  double last = 1;
  for (const Json& row : rows.as_array()) {
    const double p = row.at(2).as_double();
    CHECK(p > 0);
    CHECK(!(p > last));
    last = p;
  }
}

TEST_CASE("pretrained: --classify says what is wrong with the file") {
  const files::Scratch scratch("classify_errors");
  const std::string out = scratch.file("out").string();
  const auto status = [&](const fs::path& photo, const std::string& message) {
    Classifying run;
    const int code =
        run.run({"--classify", photo.string(), "--data", scratch.folder().string(), "--out", out});
    CHECK_MESSAGE(has(run.err.str(), message), run.err.str());
    return code;
  };
  const fs::path missing = scratch.file("none.ppm");
  CHECK(status(missing, "none.ppm: there is no such file") == 3);
  const fs::path jpeg = scratch.file("photo.jpg");
  std::ofstream(jpeg) << "\xff\xd8\xff\xe0 JFIF and so on";
  CHECK(status(jpeg, "this is a JPEG file; `magick PICTURE picture.ppm`") == 1);
  const fs::path cut = scratch.file("cut.ppm");
  std::ofstream(cut) << "P6\n4 4\n255\nabc";
  CHECK(status(cut, "cut.ppm: byte 14: the file is cut off") == 1);
  // A good picture, but no weights.
  const fs::path good = scratch.file("good.pgm");
  data::write_image(good, zeros({1, 4, 4}));
  CHECK(status(good, "`make data` says where the published weights can be had") == 3);
}
