// SPDX-License-Identifier: Apache-2.0
// Which operators have a choice of configurations, and what the model takes with a choice made.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/calibrate/statistics.h"
#include "core/config/quantization_config.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/mixed/memory.h"

namespace tersor::mixed {

constexpr int kFloatBits = 32;

/// The bits of an operator: 0 where it has no weights to quantize, or its output passes no quantizer of its own.
struct OperatorBits {
  int weights = 0, activation = 0;
  /// Nothing of it is quantized.
  bool is_float() const { return weights % kFloatBits == 0 && activation % kFloatBits == 0; }
  bool operator==(const OperatorBits&) const = default;
};

/// What the node's configuration at that index comes to.
OperatorBits bits_of(const framework::NodeAttachment& attached, size_t candidate);

/// An operator with several candidates.
struct Configurable {
  /// Indices into the attachment's nodes; several where one weight serves several nodes.
  std::vector<size_t> nodes;
  std::vector<size_t> candidates;  // indices into NodeAttachment::candidates, falling bits of weights, then of output
  std::vector<OperatorBits> bits;  // of each, for the first node
};

/// In the order of the graph. Of candidates of equal bits that with the base's methods is kept, else the first. Weights
/// have a choice where a budget restricts them or weights_n_bits says so, else the base's bits; outputs likewise; both
/// with a configuration_overwrite. Float is a candidate of operators with weights where float_operators allows it.
std::vector<Configurable> configurable_operators(const Graph& graph, const framework::Attachment& attachment,
                                                 const config::QuantizationConfig& config);

/// What a model takes, by the bits of its operators.
class UtilizationMeter {
 public:
  /// Of one run: of one sample, or of the whole batch where the model declares one. Sizes that the model leaves open
  /// are those of the samples that `statistics` have seen, their mean where samples differ.
  UtilizationMeter(const Model& model, const framework::Attachment& attachment,
                   const calibrate::Statistics& statistics);

  /// As the attachment has them.
  const std::vector<OperatorBits>& base() const { return base_; }
  double weights_memory(const std::vector<OperatorBits>& bits) const;
  /// One number for each cut.
  std::vector<double> cuts(const std::vector<OperatorBits>& bits) const;
  /// Of operators with a kernel; what is in float counts with 32 bits.
  double bops(const std::vector<OperatorBits>& bits) const;
  config::ResourceUtilization all(const std::vector<OperatorBits>& bits) const;

 private:
  struct Weight {
    double elements = 0;
    std::optional<size_t> node;  // whose weights' bits it has
    int n_bits = 0;              // else
    double blocks = 0;           // of weights in blocks: each has a scale in float32
  };
  struct Activation {
    double elements = 0;
    std::optional<size_t> node;  // whose output's bits it has
    int n_bits = 0;              // else; 0: it does not count
    int bits(const std::vector<OperatorBits>& of) const { return node ? of[*node].activation : n_bits; }
  };
  struct Product {
    size_t node = 0;
    double macs = 0;
    Activation input;
  };

  std::vector<OperatorBits> base_;
  std::vector<Weight> weights_;
  std::vector<Activation> activations_;  // by value
  std::vector<std::vector<size_t>> cuts_;
  std::vector<Product> products_;
};

}  // namespace tersor::mixed
