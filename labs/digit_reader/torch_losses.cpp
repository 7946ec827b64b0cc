#include "labs/digit_reader/torch_losses.h"

namespace labgrad::labs::digit_reader {
namespace {

constexpr double ritual_attention[] = {2.614861, 2.483328, 2.410537, 2.351546, 2.309751,
                                       2.278472, 2.251571, 2.226055, 2.198389, 2.167482};
constexpr double ritual_fixed[] = {2.579824, 2.539743, 2.508968, 2.482066, 2.45648,
                                   2.432552, 2.40978,  2.388228, 2.367648, 2.34777};
constexpr double training_attention[] = {2.600337, 2.500509, 2.453068, 2.411335, 2.389781,
                                         2.358502, 2.340151, 2.322958, 2.306861, 2.280658,
                                         2.270766, 2.245191, 2.214196, 2.196684, 2.16307,
                                         2.129791, 2.122768, 2.133408, 2.136343, 2.052751};
constexpr double training_fixed[] = {2.571392, 2.551714, 2.537677, 2.523085, 2.503458,
                                     2.493532, 2.488696, 2.469917, 2.455012, 2.437102,
                                     2.426525, 2.42379,  2.41257,  2.410356, 2.394761,
                                     2.385111, 2.377447, 2.370435, 2.362898, 2.353705};
constexpr double ritual_attention_double[] = {
    2.614861101, 2.483328068, 2.410545355, 2.351556545, 2.309741521, 2.278444326, 2.251574672,
    2.225952777, 2.198248244, 2.167268901, 2.13397173,  2.095994031, 2.050810459, 1.999018547,
    1.942200142, 1.889222639, 1.83978011,  1.851384826, 1.792320971, 1.734550806};
constexpr double training_attention_double[] = {2.600336847, 2.500507675, 2.45305755, 2.411368231,
                                                2.389899323};
constexpr double ritual_fixed_double[] = {
    2.579824107, 2.539742828, 2.508967657, 2.482064354, 2.456480566, 2.432552581, 2.409777779,
    2.388228917, 2.367698671, 2.347826514, 2.32839081,  2.309677162, 2.291480283, 2.273719604,
    2.256585055, 2.240001826, 2.223751059, 2.207904195, 2.192430944, 2.177270801};
constexpr double training_fixed_double[] = {2.571391551, 2.551713639, 2.53767659, 2.523080983,
                                            2.503459777};

}  // namespace

TorchLosses torch_ritual(Kind kind) {
  if (kind == Kind::fixed) return {ritual_fixed, ritual_fixed_double, 1e-4};
  return {ritual_attention, ritual_attention_double, 3e-4};
}

TorchLosses torch_training(Kind kind) {
  if (kind == Kind::fixed) return {training_fixed, training_fixed_double, 1e-4};
  return {training_attention, training_attention_double, 1e-2};
}

}  // namespace labgrad::labs::digit_reader
