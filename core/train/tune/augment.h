// SPDX-License-Identifier: Apache-2.0
// Samples made of samples. The float model says what is right for them, so they need no labels; few samples are not
// learned by heart.
#pragma once

#include <vector>

#include "core/tensor/tensor.h"
#include "core/tune/random.h"

namespace tersor::tune {

/// Moves what looks like pictures (float32, rank 4, square planes of at least 16, 1 to 4 channels first or last) by up
/// to an eighth, its edge repeated, and mirrors every other. False where no input does.
bool move_pictures(std::vector<Tensor>& inputs, Random& random);

/// `share` of each input and the rest of the other sample's; inputs that are no float32, or of another shape, stay.
void mix(std::vector<Tensor>& inputs, const std::vector<Tensor>& others, float share);

}  // namespace tersor::tune
