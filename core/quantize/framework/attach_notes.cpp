// SPDX-License-Identifier: Apache-2.0
#include "core/framework/attach_notes.h"

#include <string>
#include <vector>

#include "core/base/names.h"

namespace tersor::framework {

namespace {

/// "a (Conv), b (Conv) and 3 more".
std::string few_of(std::vector<std::string> names) {
  constexpr size_t kNamed = 5;
  const size_t more = names.size() > kNamed ? names.size() - kNamed : 0;
  names.resize(names.size() - more);
  return joined(names) + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

std::string name_of(const Graph& graph, const NodeAttachment& attached) {
  const Node& node = *graph.find(attached.node);
  return graph.label_of(node) + " (" + node.op_type + ")";
}

bool quantizes(const NodeAttachment& attached) {
  return attached.activation == ActivationMode::kQuant || attached.activation == ActivationMode::kFlnQuant;
}

}  // namespace

std::optional<Diagnostic> idle_blocks_note(const Graph& graph, const Attachment& attachment) {
  std::vector<std::string> names;
  int size = 0;
  for (const NodeAttachment& one : attachment.nodes) {
    const WeightAttribute* kernel = one.weight(tpc::kKernelAttr);
    if (kernel == nullptr || !kernel->config.enable_weights_quantization || kernel->config.weights_block_size) continue;
    const std::optional<int> asked = one.config().attribute_config(tpc::kKernelAttr).weights_block_size;
    if (!asked) continue;
    size = *asked;
    names.push_back(name_of(graph, one));
  }
  if (names.empty()) return std::nullopt;
  return Diagnostic{"no_blocks",
                    "A scale for each output channel, and none for each block of " + std::to_string(size) +
                        " inputs: " + few_of(std::move(names)) +
                        ". ConvTranspose has no blocks, and others no more inputs than one.",
                    "", "Ask for smaller blocks where there are enough inputs."};
}

std::optional<Diagnostic> usual_bits_note(const Graph& graph, const Attachment& attachment,
                                          const std::set<NodeId>& with_usual_bits, int bits) {
  std::vector<std::string> names;
  bool others = false;
  for (const NodeAttachment& one : attachment.nodes) {
    if (!quantizes(one)) continue;
    if (with_usual_bits.contains(one.node))
      names.push_back(name_of(graph, one));
    else
      others = true;
  }
  if (!others) return std::nullopt;
  const std::string count = std::to_string(names.size());
  return Diagnostic{"usual_bits",
                    "The platform has no " + std::to_string(bits) + " bits for " + count +
                        " of the outputs that are quantized, or for what reads them; these keep the platform's own: " +
                        few_of(std::move(names)) + ".",
                    "config.activation_n_bits",
                    {}};
}

std::optional<Diagnostic> table_note(const Graph& graph, const Attachment& attachment,
                                     const config::QuantizationConfig& asked) {
  if (!asked.activation_n_bits || asked.activation_quantization_method) return std::nullopt;
  std::vector<std::string> names;
  for (const NodeAttachment& one : attachment.nodes) {
    if (!quantizes(one) || !one.config().activation_by_table()) continue;
    names.push_back(name_of(graph, one));
  }
  if (names.empty()) return std::nullopt;
  const std::string bits = std::to_string(*asked.activation_n_bits), count = std::to_string(names.size());
  return Diagnostic{"activations_by_table",
                    "The platform has activations of " + bits + " bits as a table of " +
                        std::to_string(1 << *asked.activation_n_bits) +
                        " values, not as even steps. Each table costs a Cast and a Gather in the runtime; " + count +
                        " outputs have one: " + few_of(std::move(names)) + ".",
                    "config.activation_n_bits", "For even steps choose the platform \"any\"."};
}

}  // namespace tersor::framework
