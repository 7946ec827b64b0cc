// The file that a network comes in: what it says of itself, and that it is read strictly.

#include <algorithm>
#include <set>

#include "data/mnist.h"
#include "engine/engine.h"
#include "engine/io/file.h"
#include "labs/pretrained/networks.h"
#include "labs/pretrained/sections.h"
#include "labs/pretrained/task.h"

namespace labgrad::labs::pretrained {
namespace {

namespace fs = std::filesystem;

void describe(Lab& lab, const Network& network) {
  const SafetensorsReader file(network.file());
  std::uint64_t bytes = 0;
  std::int64_t numbers = 0;
  for (const auto& entry : file.entries()) {
    bytes += entry.bytes;
    numbers += entry.shape.numel();
  }
  Table table({{"key"}, {"value"}}, network.name() + ": " + network.file().string());
  table.row("tensors", std::to_string(file.entries().size()));
  table.row("numbers", fmt::format("{}", numbers));
  table.row("bytes of numbers", fmt::format("{}", bytes));
  table.row("bytes of the file", fmt::format("{}", fs::file_size(network.file())));
  for (const auto& [key, value] : file.metadata()) table.row(key, value);
  lab.table(table);
}

// How many different values the tensor with most of them has, among those with many numbers.
std::int64_t most_values(nn::Module& module) {
  std::size_t most = 0;
  for (const auto& [name, tensor] : module.named_parameters()) {
    if (tensor.numel() < 1000 || !name.ends_with("weight")) continue;
    const std::vector<float> numbers = tensor.to_vector<float>();
    most = std::max(most, std::set<float>(numbers.begin(), numbers.end()).size());
  }
  return static_cast<std::int64_t>(most);
}

// The message with which the file is refused; empty if it is read.
std::string refusal(const fs::path& path) {
  try {
    load_small_net(path);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

void read_strictly(Lab& lab, Small& net) {
  lab.say(
      "A weight that is left out keeps its random start, and one under a wrong name goes nowhere: "
      "the network runs and is bad, and nothing says why. So everything must fit: each tensor by "
      "name and shape, none missing, none left over. Here is the small network's file with three "
      "faults: one tensor taken out, one renamed, one turned.");
  NamedTensors tensors = net.model().network.state_dict();
  const fs::path path = lab.out_dir() / "three_faults.safetensors";
  std::erase_if(tensors, [](const auto& t) { return t.first == "norm2.running_var"; });
  for (auto& [name, tensor] : tensors) {
    if (name == "conv1.weight") name = "conv_1.weight";
    if (name == "classifier.weight") tensor = transpose(tensor);
  }
  save_safetensors(path, tensors);
  const std::string message = refusal(path);
  // Without the place of the file, so that the lines stay short.
  lab.show(message.substr(std::min(message.find("load_state_dict"), message.size())));
  for (const char* name :
       {"norm2.running_var", "conv1.weight", "conv_1.weight", "classifier.weight"})
    lab.check_true(std::string("the message names ") + name,
                   message.find(name) != std::string::npos);

  // A download that broke off.
  const std::string bytes = read_file(net.file());
  write_file_atomic(path, std::string_view(bytes).substr(0, bytes.size() - 100));
  lab.check_true("a file that is 100 bytes short is refused", !refusal(path).empty());
  save_safetensors(path, net.model().network.state_dict(), net.model().metadata);
  lab.check_true("written again, it has the same bytes", read_file(path) == bytes);
  fs::remove(path);
}

// What the file claims of itself, measured again if the digits are there.
void claimed_accuracy(Lab& lab, Small& net) {
  std::string claim;
  for (const auto& [key, value] : net.model().metadata)
    if (key == "test_right") claim = value;
  const fs::path folder = lab.data_dir() / "mnist";
  if (claim.empty()) return;
  if (!data::has_mnist(folder)) {
    lab.say(
        "The file says that the network reads {} test digits of MNIST right. MNIST is not in {}, "
        "so that is not measured again here; `make data` fetches it.",
        claim, folder.string());
    return;
  }
  const double stated = std::stod(claim);
  lab.say("The file says that the network reads {} test digits of MNIST right.", claim);
  // Where sums are rounded otherwise, a digit or two on the border may change sides.
  lab.check_close("test digits of MNIST that it reads right",
                  static_cast<double>(right_answers(net.model().network,
                                                    data::load_mnist(folder, data::Split::test))),
                  stated, 3);
}

}  // namespace

void weights(Lab& lab) {
  lab.say(
      "Weights travel as safetensors: a header in JSON with every tensor's name, type, shape and "
      "place, and then the numbers. Only the header is read at first, and each tensor when it is "
      "asked for. Such a file can hold nothing but numbers, so that reading it is safe.");
  for (const Network* network : networks(lab)) describe(lab, *network);
  if (Published* net = published(lab); net && net->is_golden()) {
    lab.say(
        "These weights were published in 8 bits, and each was made a single-precision number "
        "again: (q - zero point) scale. So a tensor has at most 256 different values; the network "
        "was trained to put up with that.");
    lab.check_between("the most different values in a weight of MobileNetV2",
                      static_cast<double>(most_values(net->module())), 2, 256);
  }
  if (Small* net = small(lab)) {
    claimed_accuracy(lab, *net);
    read_strictly(lab, *net);
  }
}

}  // namespace labgrad::labs::pretrained
