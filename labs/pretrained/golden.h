#pragma once
// What a reference model, written in PyTorch, found with the same weights on the same pictures of
// Fashion-MNIST: tests/golden/mobilenet_v2.json.

#include <array>
#include <cstdint>

#include "labs/pretrained/embed.h"

namespace labgrad::labs::pretrained {
namespace golden {

// Of the first three queries: the first 16 of the 1280 numbers of the embedding, brought to length
// 1; the nearest test picture and its cosine.
inline constexpr std::array<std::array<double, 16>, 3> embeddings{
    {{0.0442946777, 0.0555602051, 0.0236013122, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.00119534147, 0,
      0.00880892854, 0.000795288186},
     {0.00605107099, 0, 0.000768026279, 0, 0, 0.0739727989, 0, 0, 0.00710561825, 0, 0.0711440817, 0,
      0.0470063053, 0, 0.048616413, 0.0565383025},
     {0.00206892192, 0, 0, 0, 0, 0.00361670949, 0, 0, 0, 0, 0.0501967184, 0, 0.113790773, 0, 0,
      0.00382333435}}};
inline constexpr std::array<std::int64_t, 3> neighbours{158, 489, 616};
inline constexpr std::array<double, 3> cosines{0.811734897, 0.814397866, 0.825312736};

// Of 200 queries.
inline constexpr std::int64_t hits_embedding = 151, hits_pixels = 157;

}  // namespace golden

// Checks the network's embeddings, neighbours and hits of Fashion-MNIST, and raw pixels', whatever
// the budget: they are of the first 200 queries and 1,000 entries. Then asks what the checks would
// say of the same weights with another padding.
void golden_checks(Lab& lab, Published& network, const Space& embedding, const Space& pixels);

}  // namespace labgrad::labs::pretrained
