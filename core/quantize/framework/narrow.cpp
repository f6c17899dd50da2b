// SPDX-License-Identifier: Apache-2.0
// What the user's settings leave of the configurations that a platform offers.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/config/search_settings.h"
#include "core/framework/attach.h"

namespace tersor::framework {

namespace {

using tpc::AttributeQuantizationConfig;
using tpc::OpQuantizationConfig;

/// One setting as a condition on a configuration.
struct Condition {
  const char* field;
  bool of_weights;
  std::string wanted;                                                                    // the value as text
  std::string (*read)(const OpQuantizationConfig&, const AttributeQuantizationConfig&);  // the configuration's, as text
  std::string_view attribute;                                                            // which weights it is about

  std::string value(const OpQuantizationConfig& op) const { return read(op, op.attribute_config(attribute)); }
};

const AttributeQuantizationConfig& kernel(const OpQuantizationConfig& op) {
  return op.attribute_config(tpc::kKernelAttr);
}

bool names(const OpQuantizationConfig& op, std::string_view attribute) {
  return std::any_of(op.attr_weights_configs_mapping.begin(), op.attr_weights_configs_mapping.end(),
                     [&](const auto& one) { return attribute.find(one.first) != std::string::npos; });
}

/// The weights that settings are about: kernels; of a set without any that has a choice for other constants, such as
/// tables, these.
std::string_view attribute_of(const std::vector<OpQuantizationConfig>& list) {
  const auto is_of_constants = [](const OpQuantizationConfig& op) {
    return names(op, tpc::kPosAttr) && !names(op, tpc::kKernelAttr);
  };
  const auto constants = [](const OpQuantizationConfig& op) { return op.attribute_config(tpc::kPosAttr); };
  const bool has_choice = std::all_of(list.begin(), list.end(), is_of_constants) &&
                          std::any_of(list.begin(), list.end(), [&](const OpQuantizationConfig& op) {
                            return !(constants(op) == constants(list[0]));
                          });
  return has_choice ? tpc::kPosAttr : tpc::kKernelAttr;
}

std::string text(bool value) {
  return value ? "true" : "false";
}

/// The settings that are set, each with how to read it off a configuration.
std::vector<Condition> conditions(const config::QuantizationConfig& settings, std::string_view attribute) {
  std::vector<Condition> all;
  const auto add = [&](const char* field, bool of_weights, std::string wanted, auto read) {
    all.push_back({field, of_weights, std::move(wanted), read, attribute});
  };
  if (settings.activation_quantization_method)
    add("activation_quantization_method", false, std::string(enum_word(*settings.activation_quantization_method)),
        [](const auto& op, const auto&) { return std::string(enum_word(op.activation_quantization_method)); });
  if (settings.activation_n_bits)
    add("activation_n_bits", false, std::to_string(*settings.activation_n_bits),
        [](const auto& op, const auto&) { return std::to_string(op.activation_n_bits); });
  if (settings.enable_activation_quantization.value_or(false))
    add("enable_activation_quantization", false, text(*settings.enable_activation_quantization),
        [](const auto& op, const auto&) { return text(op.enable_activation_quantization); });
  if (settings.weights_quantization_method)
    add("weights_quantization_method", true, std::string(enum_word(*settings.weights_quantization_method)),
        [](const auto&, const auto& weights) { return std::string(enum_word(weights.weights_quantization_method)); });
  if (settings.weights_n_bits)
    add("weights_n_bits", true, std::to_string(*settings.weights_n_bits),
        [](const auto&, const auto& weights) { return std::to_string(weights.weights_n_bits); });
  if (settings.weights_per_channel_threshold)
    add("weights_per_channel_threshold", true, text(*settings.weights_per_channel_threshold),
        [](const auto&, const auto& weights) { return text(weights.weights_per_channel_threshold); });
  if (settings.weights_block_size)
    add("weights_block_size", true, std::to_string(*settings.weights_block_size),
        [](const auto&, const auto& weights) { return std::to_string(weights.weights_block_size.value_or(0)); });
  if (settings.enable_weights_quantization.value_or(false))
    add("enable_weights_quantization", true, text(*settings.enable_weights_quantization),
        [](const auto&, const auto& weights) { return text(weights.enable_weights_quantization); });
  return all;
}

bool searches_activation(const OpQuantizationConfig& op) {
  return op.enable_activation_quantization && !op.fixed_scale;
}

/// It is the kernel that settings of weights are about; what a set says of other attributes (constants of an Add) is
/// not asked. Operators of no set may have kernels, so the default counts for them.
bool quantizes_kernel(const OpQuantizationConfig& op, bool of_no_set) {
  return (names(op, tpc::kKernelAttr) || of_no_set) && kernel(op).enable_weights_quantization;
}

/// The values that the candidates have, each once, in their order.
std::string values(const std::vector<OpQuantizationConfig>& candidates, const Condition& condition) {
  std::vector<std::string> seen;
  for (const OpQuantizationConfig& op : candidates) {
    const std::string value = condition.value(op);
    if (std::find(seen.begin(), seen.end(), value) == seen.end()) seen.push_back(value);
  }
  return joined(seen);
}

/// Where the field was set.
std::string place_of(const NodeSettings& settings, const char* field) {
  const auto found = settings.set_at.find(field);
  return found == settings.set_at.end() ? std::string("config.") + field : found->second;
}

/// What a fault says the field can be.
std::string possible(const tpc::QuantizationConfigOptions& options, const Condition& condition) {
  if (std::string_view(condition.field) != "weights_block_size")
    return values(options.quantization_config_list(), condition);
  std::vector<std::string> sizes;
  for (const int size : options.block_sizes()) sizes.push_back(std::to_string(size));
  return sizes.empty() ? "0, for none" : "0, for none, " + joined(sizes);
}

std::string advice(const Condition& condition) {
  if (std::string_view(condition.field) == "weights_block_size")
    return "Leave the field unset, or choose a platform that has blocks: weight-only-int4, weight-only-int8, "
           "weight-only-blocks, ort-matmul-nbits or ort-unpacked-weights.";
  return "Leave the field unset, or choose another platform: \"any\" takes every number of bits and every method.";
}

void nothing_left(const tpc::QuantizationConfigOptions& options, const std::vector<Condition>& asked,
                  std::string_view operator_set, const NodeSettings& settings, Faults& faults) {
  const std::vector<OpQuantizationConfig>& candidates = options.quantization_config_list();
  const std::string where = set_text(operator_set);
  bool each = true;
  for (const Condition& condition : asked) {
    const bool some = std::any_of(candidates.begin(), candidates.end(), [&](const OpQuantizationConfig& op) {
      return condition.value(op) == condition.wanted;
    });
    if (some) continue;
    each = false;
    faults.add(Error(ErrorCode::kInvalidConfig,
                     "The platform offers nothing for " + where + " with " + condition.field + " = " +
                         condition.wanted + "; it can be " + possible(options, condition) + ".",
                     place_of(settings, condition.field), advice(condition)));
  }
  if (!each) return;
  std::string together;
  for (const Condition& condition : asked)
    together += (together.empty() ? "" : ", ") + (condition.field + (" = " + condition.wanted));
  faults.add(Error(ErrorCode::kInvalidConfig,
                   "The platform offers each of these for " + where + ", but not all together: " + together + ".",
                   place_of(settings, asked.back().field), "Leave one of them unset."));
}

void switch_off_weights(OpQuantizationConfig& op) {
  op.default_weight_attr_config.enable_weights_quantization = false;
  for (auto& [name, attribute] : op.attr_weights_configs_mapping) attribute.enable_weights_quantization = false;
}

}  // namespace

std::string set_text(std::string_view operator_set) {
  return operator_set.empty() ? "operators outside its operator sets"
                              : "the operator set \"" + std::string(operator_set) + "\"";
}

namespace {

/// The options with what the settings ask for in every configuration.
tpc::QuantizationConfigOptions as_asked(const tpc::QuantizationConfigOptions& options,
                                        const config::QuantizationConfig& settings) {
  return options.clone_and_edit([&](OpQuantizationConfig& op) {
    if (settings.activation_quantization_method)
      op.activation_quantization_method = *settings.activation_quantization_method;
    if (settings.activation_n_bits) op.activation_n_bits = *settings.activation_n_bits;
    for (auto& [name, attribute] : op.attr_weights_configs_mapping) {
      if (tpc::kKernelAttr.find(name) == std::string::npos) continue;
      if (settings.weights_quantization_method)
        attribute.weights_quantization_method = *settings.weights_quantization_method;
      if (settings.weights_n_bits) attribute.weights_n_bits = *settings.weights_n_bits;
      if (settings.weights_per_channel_threshold)
        attribute.weights_per_channel_threshold = *settings.weights_per_channel_threshold;
    }
  });
}

/// The options with the block size asked for, where the platform has it, in every configuration whose weights can be in
/// blocks.
tpc::QuantizationConfigOptions in_blocks(const tpc::QuantizationConfigOptions& options, int size) {
  const std::vector<int>& sizes = options.block_sizes();
  if (size != 0 && std::find(sizes.begin(), sizes.end(), size) == sizes.end()) return options;
  return options.clone_and_edit([&](OpQuantizationConfig& op) {
    for (auto& [name, attribute] : op.attr_weights_configs_mapping) {
      if (tpc::kKernelAttr.find(name) == std::string::npos || attribute.weights_by_table()) continue;
      if (size == 0)
        attribute.weights_block_size.reset();
      else if (attribute.weights_n_bits <= quant::kBitsOfEvenSteps)
        attribute.weights_block_size = size;
    }
  });
}

/// The bits to choose among, the most first, which are the base.
std::vector<int> bits_to_choose(const std::vector<int64_t>& asked, std::vector<int> otherwise) {
  if (!asked.empty()) otherwise.assign(asked.begin(), asked.end());
  std::sort(otherwise.rbegin(), otherwise.rend());
  otherwise.erase(std::unique(otherwise.begin(), otherwise.end()), otherwise.end());
  return otherwise;
}

/// What a platform that takes any bits offers to a search: every combination of the bits to choose among. Bits that the
/// settings state are no choice.
tpc::QuantizationConfigOptions all_bits(const tpc::QuantizationConfigOptions& options,
                                        const config::QuantizationConfig& settings) {
  const config::MixedPrecisionQuantizationConfig mixed = config::mixed_precision_of(settings);
  const config::ResourceUtilization target = config::target_of(settings);
  const bool of_both = std::isfinite(target.total_memory) || std::isfinite(target.bops);
  std::vector<OpQuantizationConfig> list;
  for (const OpQuantizationConfig& one : options.quantization_config_list()) {
    const bool has_kernel = quantizes_kernel(one, false), has_output = searches_activation(one);
    std::vector<int> of_weights = {8}, of_outputs = {one.activation_n_bits};
    if (has_kernel && settings.weights_n_bits) of_weights = {*settings.weights_n_bits};
    if (has_kernel && !settings.weights_n_bits)
      of_weights = bits_to_choose(mixed.weights_n_bits, of_both || std::isfinite(target.weights_memory)
                                                            ? std::vector<int>{8, 4, 2}
                                                            : std::vector<int>{8});
    if (has_output && !settings.activation_n_bits)
      of_outputs =
          bits_to_choose(mixed.activation_n_bits,
                         of_both || std::isfinite(target.activation_memory) ? std::vector<int>{8, 4} : of_outputs);
    for (const int outputs : of_outputs)
      for (const int weights : of_weights) {
        OpQuantizationConfig& op = list.emplace_back(one);
        op.activation_n_bits = outputs;
        for (auto& [name, attribute] : op.attr_weights_configs_mapping)
          if (tpc::kKernelAttr.find(name) != std::string::npos) attribute.weights_n_bits = weights;
      }
  }
  // The platform's own bits where they are among these.
  const OpQuantizationConfig& own = options.base_config();
  const auto is_own = std::find(list.begin(), list.end(), own);
  const OpQuantizationConfig base = is_own == list.end() ? list[0] : own;
  return tpc::QuantizationConfigOptions(std::move(list), base);
}

/// How unlike two configurations are, in bits; a method or an axis counts for less than a bit.
double distance(const OpQuantizationConfig& a, const OpQuantizationConfig& b, std::string_view attribute) {
  const AttributeQuantizationConfig &of_a = a.attribute_config(attribute), &of_b = b.attribute_config(attribute);
  const auto unlike = [](bool differs, double weight) { return differs ? weight : 0; };
  const double enabled = unlike(a.enable_activation_quantization != b.enable_activation_quantization, 64) +
                         unlike(of_a.enable_weights_quantization != of_b.enable_weights_quantization, 64),
               bits = std::abs(a.activation_n_bits - b.activation_n_bits) +
                      std::abs(of_a.weights_n_bits - of_b.weights_n_bits);
  return enabled + bits + unlike(a.activation_quantization_method != b.activation_quantization_method, 0.25) +
         unlike(of_a.weights_quantization_method != of_b.weights_quantization_method, 0.25) +
         unlike(of_a.weights_per_channel_threshold != of_b.weights_per_channel_threshold, 0.25);
}

/// The conditions less as few of the open fields as leave something of the list, the first ones before the last; all of
/// them where nothing does.
std::vector<Condition> without_open(const std::vector<Condition>& asked, const std::vector<OpQuantizationConfig>& list,
                                    const std::vector<std::string>& open_fields) {
  const auto left_of = [&](uint32_t given_up) {
    std::vector<Condition> left = asked;
    std::erase_if(left, [&](const Condition& one) {
      const auto at = std::find(open_fields.begin(), open_fields.end(), one.field) - open_fields.begin();
      return at < std::ssize(open_fields) && (given_up >> at & 1) != 0;
    });
    return left;
  };
  const uint32_t choices = uint32_t{1} << open_fields.size();
  for (int count = 1; count <= std::ssize(open_fields); ++count)
    for (uint32_t given_up = 1; given_up < choices; ++given_up) {
      if (std::popcount(given_up) != count) continue;
      const std::vector<Condition> left = left_of(given_up);
      if (std::any_of(list.begin(), list.end(), [&](const OpQuantizationConfig& op) {
            return std::all_of(left.begin(), left.end(),
                               [&](const Condition& one) { return one.value(op) == one.wanted; });
          }))
        return left;
    }
  return asked;
}

}  // namespace

Narrowed narrow(const tpc::QuantizationConfigOptions& given, const NodeSettings& settings,
                std::string_view operator_set, Faults& faults) {
  tpc::QuantizationConfigOptions options = given.takes_any() ? as_asked(given, settings.config) : given;
  if (given.takes_any() && settings.config.mixes_precisions()) options = all_bits(options, settings.config);
  if (settings.config.weights_block_size) options = in_blocks(options, *settings.config.weights_block_size);
  const std::vector<OpQuantizationConfig>& list = options.quantization_config_list();
  const std::string_view attribute = attribute_of(list);
  const bool no_weights = settings.config.enable_weights_quantization == false,
             no_activation = settings.config.enable_activation_quantization == false;
  const bool activation = !no_activation && std::any_of(list.begin(), list.end(), searches_activation);
  const bool weights = !no_weights && std::any_of(list.begin(), list.end(), [&](const OpQuantizationConfig& op) {
    return quantizes_kernel(op, operator_set.empty());
  });
  std::vector<Condition> asked = conditions(settings.config, attribute);
  Narrowed left;
  std::erase_if(asked, [&](const Condition& one) {
    if (one.of_weights ? no_weights : no_activation) return true;
    const bool by_name =
        std::find(settings.by_name.begin(), settings.by_name.end(), one.field) != settings.by_name.end();
    if (by_name || (one.of_weights ? weights : activation)) return false;
    // Not this set's concern, unless it has a choice all the same: fixed parameters of 8 and of 16 bits.
    const bool idle = std::none_of(list.begin(), list.end(),
                                   [&](const OpQuantizationConfig& op) { return one.value(op) == one.wanted; });
    if (idle) left.idle_fields.emplace_back(one.field);
    return idle;
  });

  const auto agrees = [&](const OpQuantizationConfig& op) {
    return std::all_of(asked.begin(), asked.end(), [&](const Condition& one) { return one.value(op) == one.wanted; });
  };
  if (std::none_of(list.begin(), list.end(), agrees)) asked = without_open(asked, list, settings.open_fields);
  // What is set for kernels, which constants may have one by one and not together.
  while (attribute == tpc::kPosAttr && std::none_of(list.begin(), list.end(), agrees)) {
    const auto last = std::find_if(asked.rbegin(), asked.rend(), [](const Condition& one) { return one.of_weights; });
    if (last == asked.rend()) break;
    asked.erase(std::next(last).base());
  }
  double least = HUGE_VAL;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!agrees(list[i])) continue;
    const double far = i == options.base_index() ? -1 : distance(list[i], options.base_config(), attribute);
    if (far < least) least = far, left.base = left.candidates.size();
    OpQuantizationConfig& op = left.candidates.emplace_back(list[i]);
    if (no_weights) switch_off_weights(op);
    if (no_activation) op.enable_activation_quantization = op.quantization_preserving = false;
  }
  const bool may_be_float = config::mixed_precision_of(settings.config).float_operators.value_or(0) > 0;
  if (!left.candidates.empty() && may_be_float) {
    OpQuantizationConfig in_float = left.candidates[left.base];
    switch_off_weights(in_float);
    in_float.enable_activation_quantization = in_float.quantization_preserving = false;
    if (!(in_float == left.candidates[left.base])) left.candidates.push_back(std::move(in_float));
  }
  if (!left.candidates.empty()) return left;
  nothing_left(options, asked, operator_set, settings, faults);
  return {list, options.base_index(), {}};
}

Narrowed narrow(const tpc::QuantizationConfigOptions& options, const config::QuantizationConfig& settings,
                std::string_view operator_set, Faults& faults) {
  NodeSettings everywhere;
  everywhere.config = settings;
  return narrow(options, everywhere, operator_set, faults);
}

void settle_open(NodeAttachment& attached) {
  using quant::QuantizationMethod;
  auto& weights = attached.kernel_quantizer;
  auto& outputs = attached.output_quantizers;
  const bool open_weights = weights && !weights->symmetric, open_outputs = !outputs.empty() && !outputs[0].symmetric;
  const auto uniform_weights = [](const OpQuantizationConfig& op) {
    return kernel(op).weights_quantization_method == QuantizationMethod::kUniform;
  };
  const auto uniform_outputs = [](const OpQuantizationConfig& op) {
    return op.activation_quantization_method == QuantizationMethod::kUniform;
  };
  const auto asymmetric = [&](const OpQuantizationConfig& op) {
    return (open_weights && uniform_weights(op)) + (open_outputs && uniform_outputs(op));
  };
  for (size_t k = 0; k < attached.candidates.size(); ++k)
    if (asymmetric(attached.candidates[k]) > asymmetric(attached.config())) attached.base = k;
  if (weights) {
    const tpc::AttributeQuantizationConfig& taken = kernel(attached.config());
    weights->num_bits = weights->num_bits.value_or(taken.weights_n_bits);
    weights->per_axis = weights->per_axis.value_or(taken.weights_per_channel_threshold);
  }
  // The platform leaves the activation in float.
  if (!attached.config().enable_activation_quantization && !attached.config().quantization_preserving) outputs.clear();
  for (LayerQuantizer& one : outputs) {
    one.num_bits = one.num_bits.value_or(attached.config().activation_n_bits);
    one.per_axis = one.is_per_axis();
  }
  if (open_weights) {
    weights->symmetric = !uniform_weights(attached.config());
    weights->narrow_range = weights->narrow_range || *weights->symmetric;
  }
  if (open_outputs)
    for (LayerQuantizer& one : outputs) one.symmetric = !uniform_outputs(attached.config());
}

}  // namespace tersor::framework
