#include "labs/pretrained/small_net.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "data/digits.h"
#include "engine/cpu/threads.h"
#include "engine/engine.h"
#include "labs/pretrained/embed.h"
#include "tests/check_close.h"
#include "tests/engine/io/files.h"

using namespace labgrad;
using namespace labgrad::labs::pretrained;
using files::has;

TEST_CASE("pretrained: the small network's weights are here, small, and read digits") {
  const std::filesystem::path path = lab_file(small_weights);
  REQUIRE(!path.empty());
  CHECK(std::filesystem::file_size(path) < 300 * 1024);
  PretrainedSmallNet small = load_small_net(path);
  CHECK_FALSE(small.network.training);
  CHECK(small.network.parameter_count() == 24058);
  std::string claim;
  for (const auto& [key, value] : small.metadata)
    if (key == "test_right") claim = value;
  CHECK(has(claim, " of 10000"));
  CHECK(std::stoi(claim) > 9900);  // of MNIST's test digits
  // Drawn by a program; the network never saw one.
  CHECK(right_answers(small.network, data::generated_digits(300, data::Split::test, 5)) > 288);
}

TEST_CASE("pretrained: the small network, line by line") {
  Generator g(3);
  SmallNet net(g);
  const Tensor x = rand({4, 1, 28, 28}, g);
  net.train();
  net(x);  // statistics other than 0 and 1
  net.eval();
  const NoGrad no_grad;
  const auto stage = [](const Tensor& h, nn::Conv2d& conv, nn::BatchNorm2d& norm) {
    const auto channel = [](const Tensor& t) { return reshape(t, {1, -1, 1, 1}); };
    const Tensor n = (conv2d(h, conv.weight, {}, {.padding = 1}) - channel(norm.running_mean)) /
                         sqrt(channel(norm.running_var) + 1e-5) * channel(norm.weight) +
                     channel(norm.bias);
    return max_pool2d(relu(n), 2);
  };
  const Tensor h1 = stage(x, net.conv1, net.norm1);
  const Tensor h2 = stage(h1, net.conv2, net.norm2);
  const Tensor h3 = stage(h2, net.conv3, net.norm3);
  CHECK(h3.shape() == Shape{4, 64, 3, 3});
  const Tensor e = mean(h3, {2, 3});
  CHECK(tests::difference(net.embedding(x), e, {.rtol = 1e-4, .atol = 1e-5}) == "");
  const Tensor y = net(x);
  CHECK(tests::difference(y, matmul(e, transpose(net.classifier.weight)) + net.classifier.bias,
                          {.rtol = 1e-4, .atol = 1e-5}) == "");

  net.fold_batch_norm();
  CHECK(net.state_dict().size() == 8);  // of each convolution and the classifier weight and bias
  CHECK(tests::difference(net(x), y, {.rtol = 1e-4, .atol = 1e-5}) == "");
  net.fold_batch_norm();  // changes nothing
  CHECK(tests::difference(net(x), y, {.rtol = 1e-4, .atol = 1e-5}) == "");
}

TEST_CASE("pretrained: a file with other tensors is refused, each of them named") {
  const files::Scratch scratch("small_net");
  const auto path = scratch.file("w.safetensors");
  SmallNet net;
  NamedTensors state = net.state_dict();
  state.front().first = "conv0.weight";
  save_safetensors(path, state);
  const std::string text = files::problem([&] { load_small_net(path); });
  CHECK(has(text, "w.safetensors: not the weights of the small network"));
  CHECK(has(text, "missing: conv1.weight"));
  CHECK(has(text, "unexpected: conv0.weight"));
  CHECK_THROWS_AS(load_small_net(scratch.file("none.safetensors")), MissingFile);
}

TEST_CASE("pretrained: features of every depth, batch by batch, for any number of threads") {
  Small small(lab_file(small_weights));
  // More than two batches, and one that is not full.
  const Tensor pixels = pixels_of(data::generated_digits(47, data::Split::test, 1));
  const Features features = features_of(small, pixels, true);
  REQUIRE(features.pooled.size() == 3);
  REQUIRE(features.grid.size() == 3);
  CHECK(features_of(small, pixels).grid.empty());
  const NoGrad no_grad;
  const Tensors maps = small.maps(small.input(pixels));
  for (std::size_t s = 0; s < 3; ++s) {
    CAPTURE(s);
    CHECK(features.pooled[s].shape() == Shape{47, 16 << s});
    CHECK(tests::difference(features.pooled[s], mean(maps[s], {2, 3}),
                            {.rtol = 1e-5, .atol = 1e-6}) == "");
    CHECK(features.grid[s].shape() == Shape{47, 9 * (16 << s)});
  }
  // The last map has 3 x 3 pixels: the fields are the map itself.
  CHECK(tests::difference(features.grid[2], flatten(maps[2], 1), {.rtol = 1e-5, .atol = 1e-6}) ==
        "");
  CHECK(tests::bit_difference(features.embedding(), features.pooled[2]) == "");
  CHECK(tests::difference(features.embedding(), small.embedding(small.input(pixels)),
                          {.rtol = 1e-5, .atol = 1e-6}) == "");

  const int threads = num_threads();
  set_num_threads(threads == 1 ? 2 : 1);
  const Features again = features_of(small, pixels, true);
  set_num_threads(threads);
  for (std::size_t s = 0; s < 3; ++s)
    CHECK(tests::bit_difference(again.pooled[s], features.pooled[s]) == "");
}
