// SPDX-License-Identifier: Apache-2.0
// How many bits the readers of an output can take.
#include <algorithm>
#include <optional>

#include "core/framework/attach.h"
#include "core/graph/uses.h"

namespace tersor::framework {

namespace {

using tpc::OpQuantizationConfig;

int most_bits(const OpQuantizationConfig& op) {
  const auto& bits = op.supported_input_activation_n_bits;
  return bits.empty() ? tpc::kFloatBitwidth : *std::max_element(bits.begin(), bits.end());
}

bool quantizes(const OpQuantizationConfig& op) {
  return op.enable_activation_quantization || op.quantization_preserving;
}

class InputBits {
 public:
  InputBits(const Graph& graph, Attachment& attachment) : graph_(graph), attachment_(attachment), uses_(graph) {}

  void limit(size_t index, Faults& faults) {
    NodeAttachment& maker = attachment_.nodes[index];
    if (maker.activation != ActivationMode::kQuant && maker.activation != ActivationMode::kFlnQuant) return;
    const std::vector<size_t> readers = readers_of(index);
    int limit = tpc::kFloatBitwidth, base_limit = tpc::kFloatBitwidth;
    size_t strictest = index;
    for (const size_t reader : readers) {
      const NodeAttachment& node = attachment_.nodes[reader];
      for (const OpQuantizationConfig& op : node.candidates)
        if (quantizes(op) && most_bits(op) < limit) limit = most_bits(op), strictest = reader;
      if (quantizes(node.config())) base_limit = std::min(base_limit, most_bits(node.config()));
    }
    drop(maker, index, limit, base_limit, strictest, faults);
  }

 private:
  /// The nodes that read what the node makes, through those that pass it on, which are among them.
  std::vector<size_t> readers_of(size_t index) const {
    std::vector<size_t> found, open{index};
    while (!open.empty()) {
      const Node& node = graph_.nodes()[open.back()];
      open.pop_back();
      for (const ValueId id : node.outputs) {
        if (!id.valid()) continue;
        for (const size_t reader : uses_.reader_indices(id)) {
          if (std::find(found.begin(), found.end(), reader) != found.end()) continue;
          found.push_back(reader);
          if (attachment_.nodes[reader].activation == ActivationMode::kPreserveQuant) open.push_back(reader);
        }
      }
    }
    return found;
  }

  void drop(NodeAttachment& maker, size_t index, int limit, int base_limit, size_t strictest, Faults& faults) {
    const OpQuantizationConfig base = maker.config();
    std::vector<OpQuantizationConfig> left;
    for (const OpQuantizationConfig& op : maker.candidates)
      if (!op.enable_activation_quantization || op.activation_n_bits <= limit) left.push_back(op);
    const std::string place = place_of(graph_.nodes()[index], index);
    if (left.empty()) {
      faults.add(Error(ErrorCode::kInvalidConfig,
                       "Its output has " + std::to_string(base.activation_n_bits) + " bits, but " +
                           place_of(graph_.nodes()[strictest], strictest) + " reads it, and the operator set \"" +
                           attachment_.nodes[strictest].operator_set + "\" takes inputs of at most " +
                           std::to_string(limit) + " bits (supported_input_activation_n_bits).",
                       place, "Give it fewer bits."));
      return;
    }
    const auto same = std::find(left.begin(), left.end(), base);
    const bool keeps = same != left.end() && base.activation_n_bits <= base_limit;
    size_t chosen = static_cast<size_t>(same - left.begin());
    if (!keeps) {
      const auto fits = [&](const OpQuantizationConfig& op) { return op.activation_n_bits <= base_limit; };
      chosen = 0;
      for (size_t k = 1; k < left.size(); ++k)
        if (fits(left[k]) > fits(left[chosen]) ||
            (fits(left[k]) == fits(left[chosen]) && left[k].activation_n_bits > left[chosen].activation_n_bits))
          chosen = k;
      attachment_.notes.push_back({"fewer_bits",
                                   "Its output has " + std::to_string(left[chosen].activation_n_bits) +
                                       " bits instead of " + std::to_string(base.activation_n_bits) +
                                       ": an operator that reads it takes no more.",
                                   place,
                                   {}});
    }
    maker.candidates = std::move(left);
    maker.base = chosen;
  }

  const Graph& graph_;
  Attachment& attachment_;
  const Uses uses_;
};

}  // namespace

void limit_input_bits(const Graph& graph, Attachment& attachment, Faults& faults) {
  InputBits bits(graph, attachment);
  for (size_t i = 0; i < graph.nodes().size(); ++i) bits.limit(i, faults);
}

}  // namespace tersor::framework
