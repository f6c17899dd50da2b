// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/calibrate/statistics.h"
#include "core/decide/plan.h"
#include "core/graph/graph.h"
#include "core/trainable/quantization_wrapper.h"
#include "core/trainable/trainable_quantizers.h"
#include "core/tune/optimizer.h"

namespace tersor::tune {

/// The class of that name; null: among those that come with Tersor. Error kInvalidConfig where there is none.
trainable::TrainableQuantizerClass own_class(const trainable::TrainableQuantizers* classes, const std::string& name,
                                             const std::string& place);

/// A kernel's weight that a trainable quantizer named by an override trains, in the QuantizationWrapper of its node.
/// Adam steps all variables: the float weight in units of its first step, what a quantizer trains in its place as it
/// is, and the quantizer's parameters relative to where they began.
class OwnQuantizer {
 public:
  struct Rates {
    double of_weight = 0, of_variables = 0, of_parameters = 0;
  };

  /// `rounded`: the weight as the plan has it without training. Error kInvalidConfig for a quantizer that cannot be
  /// initialized or begins at what the file cannot hold.
  OwnQuantizer(const Graph& graph, const ptq::KernelPlan& kernel,
               std::unique_ptr<trainable::BaseTrainableQuantizer> quantizer, std::span<const float> rounded);

  /// What the kernel computes with in a step.
  std::vector<float> in_training();
  /// What the file has: the values of the quantizer of inference that it would be converted to now; before the first
  /// step those of the plan. Error kInvalidConfig where the file cannot hold them.
  std::vector<float> in_file();
  /// The codes and scales of the last in_file().
  calibrate::RoundedWeight rounded() const;

  /// A step by dL/dweight; `count` begins at 1. The quantizer's regularizer counts `factor` times.
  void step(std::span<const float> by, int64_t count, const Rates& rates, double beta, double factor);

  /// The variables and how they move; of what a quantizer holds beside them nothing is kept.
  void write(ByteWriter& to) const;
  /// False where it is another quantizer's.
  bool read(ByteReader& from);

 private:
  const trainable::QuantizationWrapper::Weight& weight() const { return wrapper_.weights()[0]; }
  std::vector<trainable::Variable*> variables() const;
  std::vector<float> units_of(const trainable::Variable& variable) const;
  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const;
  void take_params();

  mutable trainable::QuantizationWrapper wrapper_;
  ptq::KernelPlan kernel_;
  std::string class_name_;
  std::vector<float> values_;         // of the last in_file()
  quant::QuantizationParams params_;  // the same
  bool is_stepped_ = false;
  std::vector<Adam> adam_;                 // by variable
  std::vector<std::vector<float>> units_;  // the same; one for all values, or one for each
};

}  // namespace tersor::tune
