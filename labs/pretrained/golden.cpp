// The published weights against what a reference model found with them.

#include "labs/pretrained/golden.h"

#include <algorithm>
#include <cmath>

#include "engine/engine.h"

namespace labgrad::labs::pretrained {
namespace {

double farthest_golden(const Tensor& queries) {
  const Tensor unit = queries / norm(queries, 2, {1}, true);
  double farthest = 0;
  for (std::size_t q = 0; q < golden::embeddings.size(); ++q)
    for (std::size_t i = 0; i < golden::embeddings[q].size(); ++i) {
      const double want = golden::embeddings[q][i];
      const double got = unit.at({static_cast<std::int64_t>(q), static_cast<std::int64_t>(i)});
      // Relative, but for numbers near 0: the largest are about 0.1.
      farthest = std::max(farthest, std::abs(got - want) / (std::abs(want) + 0.01));
      if (std::isnan(got)) return got;
    }
  return farthest;
}

// What the checks below would say of a network that pads as torchvision does.
void wrong_padding(Lab& lab, Published& right) {
  const Task& data = task(lab);
  Published wrong(right.file(), nn::PaddingRule::torchvision, {});
  const std::int64_t queries = lab.by_budget<std::int64_t>(3, protocol_queries, protocol_queries);
  const Tensor q = features_of(wrong, slice(data.queries.pixels, 0, 0, queries)).embedding();
  const double difference = farthest_golden(q);
  std::string figures;
  if (lab.budget() != Budget::quick) {
    const Tensor d =
        features_of(wrong, slice(data.database.pixels, 0, 0, protocol_database)).embedding();
    const std::span ql(data.queries.labels.data(), protocol_queries);
    const std::span dl(data.database.labels.data(), protocol_database);
    figures = fmt::format(
        "{} of {} queries find their class then, where {} do with the right padding: the figure "
        "alone would not have shown the mistake, and might be taken for a success. ",
        data::score_retrieval(similarities({"", q, d}), ql, dl).hits, protocol_queries,
        golden::hits_embedding);
  }
  lab.say(
      "Would these checks notice a mistake? The weights were trained with TensorFlow's padding. "
      "With torchvision's, which puts every filter of stride 2 one pixel aside, the network still "
      "runs. {}The numbers of the embeddings tell.",
      figures);
  lab.check_greater("with the wrong padding, the same difference", difference, 0.01);
}

}  // namespace

void golden_checks(Lab& lab, Published& network, const Space& embedding, const Space& pixels) {
  lab.say(
      "The weights are those that a reference model in PyTorch was run with, on the same {} "
      "queries and {} entries.",
      protocol_queries, protocol_database);
  lab.check_less("embeddings: 16 numbers each of three, relative difference",
                 farthest_golden(embedding.queries), 1e-4);
  const Task& data = task(lab);
  const auto first = [](const Tensor& cosines) {
    return packed(slice(slice(cosines, 0, 0, protocol_queries), 1, 0, protocol_database));
  };
  const Tensor near = first(similarities(embedding));
  const std::span queries(data.queries.labels.data(), protocol_queries);
  const std::span database(data.database.labels.data(), protocol_database);
  std::int64_t same = 0;
  double cosine_error = 0;
  for (std::size_t q = 0; q < golden::neighbours.size(); ++q) {
    const auto row = near.span<float>().subspan(q * protocol_database, protocol_database);
    const std::int64_t nearest = data::nearest(row, 1).front();
    same += nearest == golden::neighbours[q] ? 1 : 0;
    cosine_error = std::max(cosine_error,
                            std::abs(row[static_cast<std::size_t>(nearest)] - golden::cosines[q]));
  }
  lab.check_equal("the same nearest neighbour of these three", same, 3);
  lab.check_less("its cosine (difference)", cosine_error, 1e-5);
  lab.check_equal("right by embedding, of 200", data::score_retrieval(near, queries, database).hits,
                  golden::hits_embedding);
  lab.check_equal("right by raw pixels, of 200",
                  data::score_retrieval(first(similarities(pixels)), queries, database).hits,
                  golden::hits_pixels);
  wrong_padding(lab, network);
}

}  // namespace labgrad::labs::pretrained
