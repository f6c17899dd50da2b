// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/ops/op.h"

namespace tersor::ops {

/// Numbers without a pattern by their place in a tensor, always the same for the node of that name: SplitMix64 (Steele
/// et al. 2014), begun at the name's FNV-1a hash.
class Noise {
 public:
  explicit Noise(std::string_view label);

  uint64_t bits(uint64_t place) const;
  /// In (0, 1], a multiple of 2^-24.
  double fraction(uint64_t place) const { return static_cast<double>((bits(place) >> 40) + 1) * 0x1p-24; }
  /// Of a normal distribution with mean 0 and deviation 1 (Box and Muller 1958).
  double normal(uint64_t place) const;

 private:
  uint64_t seed_;
};

/// Dropout that may be in training mode: where its third input is true it drops elements and scales the others.
std::unique_ptr<const Kernel> training_dropout(const Setup& setup);

}  // namespace tersor::ops
