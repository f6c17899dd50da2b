// SPDX-License-Identifier: Apache-2.0
// A quantized model as a .tflite file: the same numbers as the ONNX file holds, in TensorFlow Lite's operators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "core/base/fields.h"
#include "core/graph/graph.h"

namespace tersor {

/// What a microcontroller needs for a .tflite file.
struct Board {
  int64_t flash_bytes = 0;
  std::optional<int64_t> activation_bytes = {};
  std::optional<int64_t> arena_bytes = {};

  static constexpr auto fields() {
    return std::make_tuple(
        field("flash_bytes", &Board::flash_bytes, "The file itself, which is read in place."),
        field("activation_bytes", &Board::activation_bytes,
              "Activations and scratch of TensorFlow Lite Micro; null where an operator's are not known."),
        field("arena_bytes", &Board::arena_bytes, "An arena that the model loads in, on a machine of 64 bits."));
  }
};

struct TfliteFile {
  std::vector<std::byte> bytes;
  /// Its operators are all known to the bit, so that figures can be those of the file.
  bool is_simulated = false;
  Board board;
  std::vector<NodeId> integer_nodes;  // of the quantized model: those that the file computes in integers
};

/// Error kUnsupportedModel naming the first node that TensorFlow Lite has no operator for.
void check_tflite(const Model& in_float);

/// What the file of a quantized model computes, to the last bit, with the inputs, outputs and names of that model; none
/// where it has operators whose arithmetic is not known here. Error kUnsupportedModel as above.
std::optional<Model> tflite_model(const Model& quantized);

/// `for_micro`: TensorFlow Lite Micro is to run it (lower()'s `keeps_codes`). Error kUnsupportedModel as above.
TfliteFile tflite_file(const Model& quantized, bool for_micro);

}  // namespace tersor
