// SPDX-License-Identifier: Apache-2.0
// The quantizers of inference, as trainable ones become them: the classes of mct_quantizers under its names, arguments
// and checks. What they compute is what core/quant computes, and so what the file holds. Weights are always signed.
//   class                                 arguments
//   WeightsPOTInferableQuantizer          num_bits, threshold, per_channel, channel_axis, input_rank
//   WeightsSymmetricInferableQuantizer    the same; POT: each threshold is a power of two
//   WeightsUniformInferableQuantizer      num_bits, min_range, max_range, per_channel, channel_axis, input_rank
//   WeightsLUTPOTInferableQuantizer       num_bits, lut_values, threshold, per_channel, channel_axis, input_rank,
//   WeightsLUTSymmetricInferableQuantizer   lut_values_bitwidth, eps
//   ActivationPOTInferableQuantizer       num_bits, threshold (one), signed
//   ActivationSymmetricInferableQuantizer the same
//   ActivationUniformInferableQuantizer   num_bits, min_range, max_range (one each)
//   ActivationLutPOTInferableQuantizer    num_bits, lut_values, threshold (one), signed, lut_values_bitwidth, eps
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/fields.h"
#include "core/base/json_fwd.h"
#include "core/quant/even_steps.h"
#include "core/quant/lut_quantizer.h"
#include "core/quant/params.h"
#include "core/tensor/tensor.h"
#include "core/trainable/quantizer_mark.h"

namespace tersor::trainable {

/// The arguments of all of these classes; each takes some of them. narrow_range is Tersor's own.
struct InferableQuantizerArguments {
  int num_bits = 8;
  std::optional<PerChannel> threshold = {};
  std::optional<PerChannel> min_range = {};
  std::optional<PerChannel> max_range = {};
  std::optional<std::vector<int64_t>> lut_values = {};
  std::optional<bool> is_signed = {};
  std::optional<bool> per_channel = {};
  std::optional<int> channel_axis = {};
  std::optional<int> input_rank = {};
  std::optional<int> lut_values_bitwidth = {};
  std::optional<double> eps = {};
  std::optional<bool> narrow_range = {};

  static constexpr auto fields() {
    using C = InferableQuantizerArguments;
    return std::make_tuple(
        field("num_bits", &C::num_bits, "Bits, 2 to 16."),
        field("threshold", &C::threshold, "One, or one per channel; above 0."),
        field("min_range", &C::min_range, "The lower end, one or one per channel."),
        field("max_range", &C::max_range, "The upper end, above the lower one."),
        field("lut_values", &C::lut_values, "The table: integers of lut_values_bitwidth bits, 2^num_bits at most."),
        field("signed", &C::is_signed, "Activations: whether values below 0 have codes."),
        field("per_channel", &C::per_channel, "Weights: one range per index of channel_axis."),
        field("channel_axis", &C::channel_axis, "Of a quantizer per channel; below 0 it counts from the end."),
        field("input_rank", &C::input_rank, "The rank of the weight, where it is to be checked."),
        field("lut_values_bitwidth", &C::lut_values_bitwidth, "Bits of the table's integers; 8."),
        field("eps", &C::eps, "What is added to the threshold that values are divided by; 1e-8 is all there is."),
        field("narrow_range", &C::narrow_range, "Symmetric weights: the lowest code is left out."));
  }
  bool operator==(const InferableQuantizerArguments&) const = default;
};

class InferableQuantizer {
 public:
  /// Error kInvalidConfig, at the argument's name, for an argument that is missing or not of this class, another number
  /// of ranges than one per tensor, a threshold that is no power of two where it has to be, or a value out of its
  /// limits.
  InferableQuantizer(const QuantizerMark& mark, InferableQuantizerArguments arguments);

  /// `shape`: of the tensor, whose channel axis it needs; any for one range. Outputs may be inputs. Error
  /// kInvalidArgument for unlike sizes, or a shape that does not fit.
  void call(std::span<const float> inputs, const Shape& shape, std::span<float> outputs) const;
  /// For one range.
  void call(std::span<const float> inputs, std::span<float> outputs) const;
  Tensor operator()(const Tensor& x) const;

  /// The arguments that make it again; read_inferable_quantizer() reads them beside the class name.
  Json get_config() const;
  const InferableQuantizerArguments& arguments() const { return arguments_; }
  const QuantizerMark& mark() const { return mark_; }
  quant::QuantizationMethod method() const { return mark_.quantization_method[0]; }

  /// What a plan takes: of even steps, or of a table. `rank`: of the tensor, for an axis that counts from the end.
  std::optional<quant::QuantizationParams> params(int rank) const;
  std::optional<quant::LutParams> lut_params(int rank) const;

 private:
  std::optional<int> axis(int rank) const;
  void call_table(std::span<const float> inputs, const quant::ChannelBlocks& blocks, std::span<float> outputs) const;

  const QuantizerMark& mark_;
  InferableQuantizerArguments arguments_;
  std::optional<quant::QuantizationParams> params_;  // the axis as given
  std::optional<quant::LutParams> lut_params_;
  quant::EvenSteps steps_;
};

using BaseInferableQuantizer = InferableQuantizer;

// The classes, under their names: InferableQuantizer with the mark of each.
#define TERSOR_INFERABLE_QUANTIZER(Name)                                                                        \
  extern const QuantizerMark k##Name;                                                                           \
  struct Name : InferableQuantizer {                                                                            \
    explicit Name(InferableQuantizerArguments arguments) : InferableQuantizer(k##Name, std::move(arguments)) {} \
  }
TERSOR_INFERABLE_QUANTIZER(WeightsPOTInferableQuantizer);
TERSOR_INFERABLE_QUANTIZER(WeightsSymmetricInferableQuantizer);
TERSOR_INFERABLE_QUANTIZER(WeightsUniformInferableQuantizer);
TERSOR_INFERABLE_QUANTIZER(WeightsLUTPOTInferableQuantizer);
TERSOR_INFERABLE_QUANTIZER(WeightsLUTSymmetricInferableQuantizer);
TERSOR_INFERABLE_QUANTIZER(ActivationPOTInferableQuantizer);
TERSOR_INFERABLE_QUANTIZER(ActivationSymmetricInferableQuantizer);
TERSOR_INFERABLE_QUANTIZER(ActivationUniformInferableQuantizer);
TERSOR_INFERABLE_QUANTIZER(ActivationLutPOTInferableQuantizer);
#undef TERSOR_INFERABLE_QUANTIZER

/// The marks of the nine.
const std::vector<const QuantizerMark*>& inferable_quantizer_marks();
/// The class for a target and a method. Error kInvalidConfig where there is none.
const QuantizerMark& get_inferable_quantizer_class(QuantizationTarget target, quant::QuantizationMethod method);

/// {"class_name": "WeightsSymmetricInferableQuantizer", "config": {...}}, and back. Error kInvalidConfig.
Json to_json(const InferableQuantizer& quantizer);
std::unique_ptr<InferableQuantizer> read_inferable_quantizer(const Json& json, const std::string& place);

}  // namespace tersor::trainable
