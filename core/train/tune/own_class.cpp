// SPDX-License-Identifier: Apache-2.0
// Alone in its object: the light engine (wasm/left_out.cpp) has something else in its place.
#include "core/tune/own_quantizer.h"

namespace tersor::tune {

trainable::TrainableQuantizerClass own_class(const trainable::TrainableQuantizers* classes, const std::string& name,
                                             const std::string& place) {
  const trainable::TrainableQuantizers known;
  return (classes != nullptr ? *classes : known).named(name, place);
}

}  // namespace tersor::tune
