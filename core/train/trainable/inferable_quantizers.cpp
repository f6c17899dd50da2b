// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/inferable_quantizers.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/quant/bits.h"
#include "core/quant/lut_table.h"
#include "core/quant/quantizers/quantizers.h"

namespace tersor::trainable {

using quant::QuantizationMethod;

namespace {

constexpr double kEps = 1e-8;
constexpr auto kWeights = QuantizationTarget::kWeights;
constexpr auto kActivation = QuantizationTarget::kActivation;

}  // namespace

const QuantizerMark kWeightsPOTInferableQuantizer{
    "WeightsPOTInferableQuantizer", kWeights, {QuantizationMethod::kPowerOfTwo}, kInferable};
const QuantizerMark kWeightsSymmetricInferableQuantizer{
    "WeightsSymmetricInferableQuantizer", kWeights, {QuantizationMethod::kSymmetric}, kInferable};
const QuantizerMark kWeightsUniformInferableQuantizer{
    "WeightsUniformInferableQuantizer", kWeights, {QuantizationMethod::kUniform}, kInferable};
const QuantizerMark kWeightsLUTPOTInferableQuantizer{
    "WeightsLUTPOTInferableQuantizer", kWeights, {QuantizationMethod::kLutPotQuantizer}, kInferable};
const QuantizerMark kWeightsLUTSymmetricInferableQuantizer{
    "WeightsLUTSymmetricInferableQuantizer", kWeights, {QuantizationMethod::kLutSymQuantizer}, kInferable};
const QuantizerMark kActivationPOTInferableQuantizer{
    "ActivationPOTInferableQuantizer", kActivation, {QuantizationMethod::kPowerOfTwo}, kInferable};
const QuantizerMark kActivationSymmetricInferableQuantizer{
    "ActivationSymmetricInferableQuantizer", kActivation, {QuantizationMethod::kSymmetric}, kInferable};
const QuantizerMark kActivationUniformInferableQuantizer{
    "ActivationUniformInferableQuantizer", kActivation, {QuantizationMethod::kUniform}, kInferable};
const QuantizerMark kActivationLutPOTInferableQuantizer{
    "ActivationLutPOTInferableQuantizer", kActivation, {QuantizationMethod::kLutPotQuantizer}, kInferable};

const std::vector<const QuantizerMark*>& inferable_quantizer_marks() {
  static const std::vector<const QuantizerMark*> all = {
      &kWeightsPOTInferableQuantizer,          &kWeightsSymmetricInferableQuantizer,
      &kWeightsUniformInferableQuantizer,      &kWeightsLUTPOTInferableQuantizer,
      &kWeightsLUTSymmetricInferableQuantizer, &kActivationPOTInferableQuantizer,
      &kActivationSymmetricInferableQuantizer, &kActivationUniformInferableQuantizer,
      &kActivationLutPOTInferableQuantizer};
  return all;
}

namespace {

/// The checks of one class's arguments, each failure a sentence at the argument's name.
class Arguments {
 public:
  Arguments(const QuantizerMark& mark, const InferableQuantizerArguments& given) : mark_(mark), given_(given) {}

  void check() const {
    takes("threshold", given_.threshold.has_value(), !is_uniform());
    takes("min_range", given_.min_range.has_value(), is_uniform());
    takes("max_range", given_.max_range.has_value(), is_uniform());
    takes("lut_values", given_.lut_values.has_value(), is_table());
    takes("signed", given_.is_signed.has_value(), !is_weights() && !is_uniform());
    takes("per_channel", given_.per_channel.has_value(), is_weights());
    takes_only("channel_axis", given_.channel_axis.has_value(), is_weights());
    takes_only("input_rank", given_.input_rank.has_value(), is_weights());
    takes_only("lut_values_bitwidth", given_.lut_values_bitwidth.has_value(), is_table());
    takes_only("eps", given_.eps.has_value(), is_table());
    takes_only("narrow_range", given_.narrow_range.has_value(), is_weights() && !is_uniform() && !is_table());
    if (!quant::is_number_of_bits(given_.num_bits))
      refuse("Found " + std::to_string(given_.num_bits) + " where a number of bits from 2 to 16 is expected.",
             "num_bits");
    check_axis();
    if (is_uniform())
      check_range();
    else
      check_threshold();
    if (is_table()) check_table();
  }

 private:
  bool is_weights() const { return mark_.quantization_target == kWeights; }
  QuantizationMethod method() const { return mark_.quantization_method[0]; }
  bool is_uniform() const { return method() == QuantizationMethod::kUniform; }
  bool is_table() const { return quant::is_table_method(method()); }
  bool per_channel() const { return given_.per_channel.value_or(false); }

  [[noreturn]] void refuse(const std::string& message, const char* place) const {
    throw Error(ErrorCode::kInvalidConfig, mark_.class_name + ": " + message, place);
  }
  void takes_only(const char* name, bool is_given, bool is_one) const {
    if (is_given && !is_one) refuse("There is no such argument.", name);
  }
  void takes(const char* name, bool is_given, bool is_one) const {
    takes_only(name, is_given, is_one);
    if (is_one && !is_given) refuse("The argument is missing.", name);
  }
  void check_axis() const {
    if (per_channel() && !given_.channel_axis) refuse("Per channel, an axis is needed.", "channel_axis");
    if (!given_.input_rank) return;
    if (*given_.input_rank < 1)
      refuse("Found " + std::to_string(*given_.input_rank) + " where a rank of 1 or more is expected.", "input_rank");
    if (!given_.channel_axis) return;
    if (*given_.channel_axis < -*given_.input_rank || *given_.channel_axis >= *given_.input_rank)
      refuse("Axis " + std::to_string(*given_.channel_axis) + " is outside a weight of rank " +
                 std::to_string(*given_.input_rank) + ".",
             "channel_axis");
  }
  void check_numbers(const std::vector<double>& numbers, const char* name) const {
    if (numbers.empty()) refuse("The list is empty.", name);
    if (!per_channel() && numbers.size() != 1)
      refuse("Found " + std::to_string(numbers.size()) + " numbers; one range for the tensor takes one.", name);
    for (const double one : numbers)
      if (!std::isfinite(one)) refuse("A number is not finite.", name);
  }
  void check_threshold() const {
    const std::vector<double>& thresholds = given_.threshold->values;
    check_numbers(thresholds, "threshold");
    const bool power = method() == QuantizationMethod::kPowerOfTwo || method() == QuantizationMethod::kLutPotQuantizer;
    for (const double one : thresholds) {
      if (!(one > 0)) refuse("Found " + number_in_nine_digits(one) + " where more than 0 is expected.", "threshold");
      if (power && quant::power_of_two_above(one) != one)
        refuse("Found " + number_in_nine_digits(one) + " where a power of two is expected.", "threshold");
    }
  }
  void check_range() const {
    const std::vector<double>&lows = given_.min_range->values, &highs = given_.max_range->values;
    check_numbers(lows, "min_range");
    check_numbers(highs, "max_range");
    if (lows.size() != highs.size())
      refuse("There are " + std::to_string(lows.size()) + " lower ends and " + std::to_string(highs.size()) +
                 " upper ones.",
             "max_range");
    for (size_t c = 0; c < lows.size(); ++c)
      if (!(lows[c] < highs[c]))
        refuse("Found the range from " + number_in_nine_digits(lows[c]) + " to " + number_in_nine_digits(highs[c]) +
                   " where min_range below max_range is expected.",
               "min_range");
  }
  void check_table() const {
    const int width = given_.lut_values_bitwidth.value_or(8);
    if (width < given_.num_bits || width > quant::kMostBits)
      refuse("Found " + std::to_string(width) + " where num_bits to 16 are expected.", "lut_values_bitwidth");
    const quant::LutValues values{width, is_weights() || *given_.is_signed};
    const std::set<int64_t> distinct(given_.lut_values->begin(), given_.lut_values->end());
    if (distinct.empty()) refuse("The list is empty.", "lut_values");
    if (distinct.size() > size_t{1} << given_.num_bits)
      refuse("Found " + std::to_string(distinct.size()) + " different values; " + std::to_string(given_.num_bits) +
                 " bits tell " + std::to_string(1 << given_.num_bits) + " apart.",
             "lut_values");
    for (const int64_t one : distinct)
      if (one < values.low() || one > values.high())
        refuse("Found " + std::to_string(one) + " where " + std::to_string(values.low()) + " to " +
                   std::to_string(values.high()) + " are expected.",
               "lut_values");
    if (given_.eps && *given_.eps != kEps)
      refuse("Found " + number_in_nine_digits(*given_.eps) + "; 1e-8 is all there is.", "eps");
  }

  const QuantizerMark& mark_;
  const InferableQuantizerArguments& given_;
};

std::vector<quant::Range> ranges_of(const InferableQuantizerArguments& arguments, bool is_signed) {
  std::vector<quant::Range> ranges;
  if (arguments.threshold)
    for (const double t : arguments.threshold->values) ranges.push_back({is_signed ? -t : 0, t});
  else
    for (size_t c = 0; c < arguments.min_range->values.size(); ++c)
      ranges.push_back({arguments.min_range->values[c], arguments.max_range->values[c]});
  return ranges;
}

}  // namespace

InferableQuantizer::InferableQuantizer(const QuantizerMark& mark, InferableQuantizerArguments arguments)
    : mark_(mark), arguments_(std::move(arguments)) {
  Arguments(mark_, arguments_).check();
  const bool per_channel = arguments_.per_channel.value_or(false);
  const bool is_weights = mark_.quantization_target == kWeights;
  const bool is_signed = is_weights || arguments_.is_signed.value_or(false);
  const std::optional<int> axis = per_channel ? arguments_.channel_axis : std::nullopt;
  if (!quant::is_table_method(method())) {
    const bool with_sign = is_signed && method() != QuantizationMethod::kUniform;
    const quant::IntegerGrid grid{arguments_.num_bits, with_sign, arguments_.narrow_range.value_or(false)};
    params_ = quant::params_of_ranges(method(), grid, ranges_of(arguments_, is_signed), axis);
    steps_ = quant::EvenSteps::of(*params_);
    return;
  }
  const std::set<int64_t> sorted(arguments_.lut_values->begin(), arguments_.lut_values->end());
  quant::LutParams params{
      method(), arguments_.num_bits, {arguments_.lut_values_bitwidth.value_or(8), is_signed}, axis, {}, {}, {}};
  for (const int64_t one : sorted) params.table.push_back(static_cast<int32_t>(one));
  params.threshold = arguments_.threshold->values;
  for (const double t : params.threshold)
    params.scale.push_back(static_cast<float>(std::ldexp(t, (is_signed ? 1 : 0) - params.values.value_bits)));
  lut_params_ = std::move(params);
}

std::optional<int> InferableQuantizer::axis(int rank) const {
  if (!arguments_.per_channel.value_or(false)) return std::nullopt;
  const int given = *arguments_.channel_axis;
  if (given < -rank || given >= rank)
    throw Error(ErrorCode::kInvalidArgument, "The channel axis " + std::to_string(given) +
                                                 " is outside a tensor of rank " + std::to_string(rank) + ".");
  return given < 0 ? given + rank : given;
}

std::optional<quant::QuantizationParams> InferableQuantizer::params(int rank) const {
  auto params = params_;
  if (params) params->channel_axis = axis(rank);
  return params;
}

std::optional<quant::LutParams> InferableQuantizer::lut_params(int rank) const {
  auto params = lut_params_;
  if (params) params->channel_axis = axis(rank);
  return params;
}

void InferableQuantizer::call(std::span<const float> inputs, const Shape& shape, std::span<float> outputs) const {
  const auto along = axis(shape.rank());
  quant::ChannelBlocks blocks{1, 1, inputs.size()};
  if (along) blocks = quant::channel_blocks(shape, along);
  const size_t channels = params_ ? params_->scale.size() : lut_params_->scale.size();
  if (blocks.channels != channels)
    throw Error(ErrorCode::kInvalidArgument, std::to_string(channels) + " ranges along axis " +
                                                 std::to_string(along.value_or(0)) + " do not fit a tensor of shape " +
                                                 shape.text() + ".");
  if (inputs.size() != blocks.elements() || outputs.size() != inputs.size())
    throw Error(ErrorCode::kInvalidArgument, "There are " + std::to_string(inputs.size()) + " inputs and " +
                                                 std::to_string(outputs.size()) + " outputs of shape " + shape.text() +
                                                 ".");
  if (params_) return quant::fake_quantize(inputs, blocks, steps_, outputs);
  call_table(inputs, blocks, outputs);
}

void InferableQuantizer::call(std::span<const float> inputs, std::span<float> outputs) const {
  call(inputs, Shape{static_cast<int64_t>(inputs.size())}, outputs);
}

Tensor InferableQuantizer::operator()(const Tensor& x) const {
  const Tensor source = x.aligned();
  Tensor y = Tensor::make_unset(DType::kFloat32, x.shape());
  call(source.data<float>(), x.shape(), y.mutable_data<float>());
  return y;
}

void InferableQuantizer::call_table(std::span<const float> inputs, const quant::ChannelBlocks& blocks,
                                    std::span<float> outputs) const {
  const quant::LutParams& params = *lut_params_;
  quant::for_each_element(blocks, [&](size_t i, size_t c) {
    const double place = quant::lut_place(inputs[i], params.threshold[c], params.values);
    outputs[i] = static_cast<float>(params.table[quant::nearest_entry(params.table, place)]) * params.scale[c];
  });
}

Json InferableQuantizer::get_config() const {
  Json given = Json::object();
  const Json all = tersor::to_json(arguments_);
  for (const auto& entry : all.items())
    if (!entry.value().is_null()) given[entry.key()] = entry.value();
  return given;
}

const QuantizerMark& get_inferable_quantizer_class(QuantizationTarget target, QuantizationMethod method) {
  return select(inferable_quantizer_marks(), target, method, kInferable);
}

Json to_json(const InferableQuantizer& quantizer) {
  return Json{{"class_name", quantizer.mark().class_name}, {"config", quantizer.get_config()}};
}

std::unique_ptr<InferableQuantizer> read_inferable_quantizer(const Json& json, const std::string& place) {
  struct Described {
    std::string class_name;
    InferableQuantizerArguments config;
    static constexpr auto fields() {
      return std::make_tuple(field("class_name", &Described::class_name, ""), field("config", &Described::config, ""));
    }
  };
  Described described;
  tersor::from_json(json, described, place);
  std::vector<std::string> names;
  for (const QuantizerMark* one : inferable_quantizer_marks()) {
    names.push_back(one->class_name);
    if (one->class_name != described.class_name) continue;
    try {
      return std::make_unique<InferableQuantizer>(*one, std::move(described.config));
    } catch (const Error& error) {
      throw error.within(detail::join_place(place, "config"));
    }
  }
  detail::unknown_word("inferable quantizer", described.class_name, names, detail::join_place(place, "class_name"));
}

}  // namespace tersor::trainable
