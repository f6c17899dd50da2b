// SPDX-License-Identifier: Apache-2.0
// Trainable quantizers that are classes of Python's. The training asks for them on the thread that the call was made
// on; each is asked with the GIL, and its arrays cross as bytes.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "core/trainable/trainable_quantizers.h"

namespace tersor::python {

/// Those that come with Tersor and `classes`: (class name, target, methods, identifier, function). The function makes
/// an object of tersor._trainable.Adapter of the config's JSON. Null where the list is empty.
std::shared_ptr<const trainable::TrainableQuantizers> own_quantizers(const nanobind::list& classes);

}  // namespace tersor::python
