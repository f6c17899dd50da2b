// SPDX-License-Identifier: Apache-2.0
#include "core/job/tflite_file.h"

#include <set>

#include "core/correct/bound_relus.h"
#include "core/correct/equalize_channels.h"
#include "core/tflite/arena.h"
#include "core/tflite/integer_model.h"
#include "core/tflite/integer_nodes.h"
#include "core/tflite/lower.h"
#include "core/tflite/write.h"

namespace tersor {

namespace {

/// Tensors that hold other numbers than those of their name in the float model, by channel or in all.
std::set<std::string> rescaled_tensors(const Model& quantized) {
  std::set<std::string> names;
  for (const auto& [key, value] : quantized.metadata) {
    if (key == ptq::kChannelScales)
      for (const auto& [name, scales] : ptq::read_channel_scales(value)) names.insert(name);
    if (key == ptq::kTensorFactors)
      for (const auto& [name, factor] : ptq::read_tensor_factors(value)) names.insert(name);
  }
  return names;
}

}  // namespace

void check_tflite(const Model& in_float) {
  tflite::lower(in_float);
}

std::optional<Model> tflite_model(const Model& quantized) {
  const tflite::Network network = tflite::lower(quantized);
  if (!tflite::runs_here(network)) return std::nullopt;
  return tflite::as_made_from(tflite::integer_model(network), quantized);
}

TfliteFile tflite_file(const Model& quantized, bool for_micro) {
  tflite::Network network = tflite::lower(quantized, !for_micro);
  network.description = quantized.producer_name + " " + quantized.producer_version;
  // The file does not say by how much, so nobody is to compare them with the float model's.
  const std::set<std::string> rescaled = rescaled_tensors(quantized);
  for (tflite::NetworkTensor& tensor : network.tensors)
    if (rescaled.count(tensor.name) != 0) tensor.name += "_rescaled";
  const Uses uses(quantized.graph);
  TfliteFile file{tflite::write(network),
                  tflite::runs_here(network),
                  {},
                  tflite::integer_nodes(quantized.graph, uses, tflite::quantized_values(quantized.graph, uses))};
  file.board.flash_bytes = static_cast<int64_t>(file.bytes.size());
  if (const auto arena = tflite::plan_arena(network)) {
    file.board.activation_bytes = arena->head;
    file.board.arena_bytes = arena->needed;
  }
  return file;
}

}  // namespace tersor
