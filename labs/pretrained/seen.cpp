// What the network takes the pictures for, asked by its own classifier.

#include <algorithm>
#include <map>

#include "engine/engine.h"
#include "labs/pretrained/embed.h"
#include "labs/pretrained/sections.h"

namespace labgrad::labs::pretrained {
namespace {

struct Answers {
  std::vector<std::int64_t> classes;  // the likeliest of each picture
  std::vector<double> probabilities;
};

Answers answers_of(Network& network, const Tensor& embeddings) {
  const NoGrad no_grad;
  const Tensor p = softmax(network.logits(embeddings), 1);
  return {argmax(p, 1).to_vector<std::int64_t>(), amax(p, {1}).to_vector()};
}

using Counts = std::map<std::int64_t, std::int64_t>;

// The key with the largest count, the first of equals.
std::pair<std::int64_t, std::int64_t> most(const Counts& counts) {
  return *std::max_element(counts.begin(), counts.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
}

// Each answer stands for the class with which it goes most often in the database: how often is that
// the query's?
double by_answer_alone(const Task& data, const Answers& known, const Answers& asked) {
  std::map<std::int64_t, Counts> labels;
  for (std::size_t i = 0; i < known.classes.size(); ++i)
    ++labels[known.classes[i]][data.database.labels[i]];
  std::int64_t right = 0;
  for (std::size_t i = 0; i < asked.classes.size(); ++i) {
    const auto found = labels.find(asked.classes[i]);
    if (found != labels.end() && most(found->second).first == data.queries.labels[i]) ++right;
  }
  return static_cast<double>(right) / static_cast<double>(asked.classes.size());
}

void table_of_answers(Lab& lab, Network& network, const Answers& answers) {
  const Task& data = task(lab);
  Table table({{"class"},
               {"most often taken for"},
               {"share", ".3f"},
               {"then for"},
               {"share", ".3f"},
               {"different answers", "d"},
               {"mean probability", ".3f"}},
              network.name() + ", trained on " + network.trained_on());
  for (std::size_t c = 0; c < data.classes.size(); ++c) {
    Counts counts;
    double n = 0, probability = 0;
    for (std::size_t i = 0; i < answers.classes.size(); ++i) {
      if (data.database.labels[i] != static_cast<std::int64_t>(c)) continue;
      ++counts[answers.classes[i]];
      probability += answers.probabilities[i];
      ++n;
    }
    if (n == 0) continue;
    std::vector<Cell> row{data.classes[c]};
    const auto different = std::ssize(counts);
    for (int place = 0; place < 2; ++place) {
      if (counts.empty()) {
        row.insert(row.end(), {Cell{}, Cell{}});
        continue;
      }
      const auto [answer, times] = most(counts);
      row.insert(row.end(), {network.class_name(answer), static_cast<double>(times) / n});
      counts.erase(answer);
    }
    row.insert(row.end(), {Cell(different), Cell(probability / n)});
    table.add_row(row);
  }
  lab.table(table);
}

}  // namespace

void seen(Lab& lab) {
  const Task& data = task(lab);
  lab.say(
      "The embedding was made for a classifier, so ask it: what does the network take the {} "
      "pictures of the database for? Its answers can only be classes of {}.",
      data.database.size(), subject(lab).trained_on());
  for (Network* network : networks(lab)) {
    const Answers known = answers_of(*network, database_features(lab, *network).embedding());
    table_of_answers(lab, *network, known);
    const Answers asked = answers_of(*network, query_features(lab, *network).embedding());
    double mean = 0;
    for (const double p : known.probabilities)
      mean += p / static_cast<double>(known.classes.size());
    if (!data.fashion && network->trained_on() == "MNIST") {
      std::int64_t right = 0;
      for (std::size_t i = 0; i < known.classes.size(); ++i)
        right += known.classes[i] == data.database.labels[i] ? 1 : 0;
      lab.say(
          "Digits it knows: it was trained on handwritten ones, and reads these, which a program "
          "drew, without having seen one.");
      lab.check_greater("generated digits that the small network reads right (share)",
                        static_cast<double>(right) / static_cast<double>(known.classes.size()),
                        0.95);
      continue;
    }
    const double alone = by_answer_alone(data, known, asked);
    lab.say(
        "On average it gives its answer a probability of {:.2f}, sure of things that are not "
        "there: a softmax shares out everything among the classes it has. The names are wrong and "
        "say something all the same: let each answer stand for the class of picture with which it "
        "goes most often in the database, and it tells the class of {:.3f} of the queries.",
        mean, alone);
    lab.check_greater(network->name() + ": the answer alone tells the class (share of queries)",
                      alone, 0.15);
  }
}

}  // namespace labgrad::labs::pretrained
