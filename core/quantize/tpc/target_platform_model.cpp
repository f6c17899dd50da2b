// SPDX-License-Identifier: Apache-2.0
#include "core/tpc/target_platform_model.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/faults.h"
#include "core/quant/bits.h"
#include "core/quant/params.h"
#include "core/tpc/target_platform_capabilities.h"

namespace tersor::tpc {

namespace {

[[noreturn]] void invalid(const std::string& message, const std::string& place) {
  throw Error(ErrorCode::kInvalidPlatform, message, place);
}

void check_attribute(const AttributeQuantizationConfig& config, const std::string& place) {
  if (config.enable_weights_quantization && !quant::is_number_of_bits(config.weights_n_bits))
    invalid("Weights of " + std::to_string(config.weights_n_bits) + " bits; 2 to 16 are possible.",
            place + ".weights_n_bits");
  if (config.weights_n_bits < 1 || config.weights_n_bits > kFloatBitwidth)
    invalid("Weights of " + std::to_string(config.weights_n_bits) + " bits; 32 stands for float.",
            place + ".weights_n_bits");
  if (config.lut_values_bitwidth && !quant::is_number_of_bits(*config.lut_values_bitwidth))
    invalid("Table entries of " + std::to_string(*config.lut_values_bitwidth) + " bits; 2 to 16 are possible.",
            place + ".lut_values_bitwidth");
  if (!config.weights_block_size) return;
  const int size = *config.weights_block_size;
  if (size < 16 || size > 256 || (size & (size - 1)) != 0)
    invalid("Blocks of " + std::to_string(size) + " inputs; 16, 32, 64, 128 and 256 are possible.",
            place + ".weights_block_size");
  if (config.weights_n_bits > quant::kBitsOfEvenSteps || config.weights_by_table())
    invalid("Weights in blocks have even steps of 2 to 8 bits.", place + ".weights_block_size");
}

void check_fixed(const OpQuantizationConfig& config, const std::string& place) {
  if (config.fixed_scale && !(std::isfinite(*config.fixed_scale) && *config.fixed_scale > 0))
    invalid("The fixed scale is not a positive number.", place + ".fixed_scale");
  if (config.fixed_zero_point && !config.fixed_scale)
    invalid("A fixed zero point without a fixed scale.", place + ".fixed_zero_point");
  const int half = 1 << (std::clamp(config.activation_n_bits, 2, 16) - 1);
  if (config.fixed_zero_point && (*config.fixed_zero_point < -half || *config.fixed_zero_point >= 2 * half))
    invalid("The fixed zero point " + std::to_string(*config.fixed_zero_point) + " does not fit into " +
                std::to_string(config.activation_n_bits) + " bits.",
            place + ".fixed_zero_point");
}

void check_op(const OpQuantizationConfig& config, const std::string& place, Faults& faults) {
  faults.attempt([&] { check_attribute(config.default_weight_attr_config, place + ".default_weight_attr_config"); });
  for (const auto& [name, attribute] : config.attr_weights_configs_mapping)
    faults.attempt([&, &key = name, &value = attribute] {
      check_attribute(value, place + ".attr_weights_configs_mapping." + key);
    });
  faults.attempt([&] {
    try {
      for (const std::string_view attribute : {kKernelAttr, kBiasAttr, kPosAttr}) config.attribute_config(attribute);
    } catch (const Error& error) {
      throw error.within(place);
    }
  });
  faults.attempt([&] { check_fixed(config, place); });
  faults.attempt([&] {
    if (config.enable_activation_quantization && config.quantization_preserving)
      invalid(
          "enable_activation_quantization and quantization_preserving are both true; an output either has "
          "parameters of its own or those of the input.",
          place + ".quantization_preserving");
  });
  faults.attempt([&] {
    if (config.enable_activation_quantization && !quant::is_number_of_bits(config.activation_n_bits))
      invalid("Activations of " + std::to_string(config.activation_n_bits) + " bits; 2 to 16 are possible.",
              place + ".activation_n_bits");
  });
  faults.attempt([&] {
    const auto& bits = config.supported_input_activation_n_bits;
    if (bits.empty() || std::any_of(bits.begin(), bits.end(), [](int one) { return one < 1 || one > kFloatBitwidth; }))
      invalid("It must list at least one number of bits from 1 to 32.", place + ".supported_input_activation_n_bits");
  });
  faults.attempt([&] {
    if (config.simd_size < 1)
      invalid("It is " + std::to_string(config.simd_size) + "; at least 1.", place + ".simd_size");
  });
}

void check_options(const QuantizationConfigOptions& options, const std::string& place, Faults& faults) {
  for (size_t i = 0; i < options.quantization_config_list().size(); ++i)
    check_op(options.quantization_config_list()[i], place + ".quantization_config_list[" + std::to_string(i) + "]",
             faults);
}

void check_fusing(const TargetPlatformModel& model, const Fusing& fusing, const std::string& place, Faults& faults) {
  const auto fault = [&](const std::string& message) {
    faults.add(Error(ErrorCode::kInvalidPlatform, message, place + ".operator_groups_list"));
  };
  if (fusing.operator_groups_list.size() < 2) fault("A fusing pattern of fewer than two groups.");
  for (const OperatorSetConcat& group : fusing.operator_groups_list) {
    if (group.operators_set.empty()) fault("A group without operator sets.");
    for (const std::string& name : group.operators_set)
      if (model.find(name) == nullptr) fault("There is no operator set \"" + name + "\".");
  }
  if (fusing.fuse_op_quantization_config)
    check_op(*fusing.fuse_op_quantization_config, place + ".fuse_op_quantization_config", faults);
}

}  // namespace

const AttributeQuantizationConfig& OpQuantizationConfig::attribute_config(std::string_view attribute) const {
  const AttributeQuantizationConfig* found = nullptr;
  for (const auto& [key, config] : attr_weights_configs_mapping) {
    if (attribute.find(key) == std::string_view::npos) continue;
    if (found != nullptr)
      invalid("The attribute \"" + std::string(attribute) + "\" contains several keys of the mapping, one of them \"" +
                  key + "\".",
              "attr_weights_configs_mapping");
    found = &config;
  }
  return found != nullptr ? *found : default_weight_attr_config;
}

OperatorSetConcat OperatorSetConcat::of(const std::vector<OperatorsSet>& opsets) {
  if (opsets.empty()) invalid("A group of operator sets is empty.", "operators_set");
  OperatorSetConcat concat;
  for (const OperatorsSet& one : opsets) concat.operators_set.push_back(one.name);
  return concat;
}

bool OperatorSetConcat::contains(std::string_view operators_set_name) const {
  return std::find(operators_set.begin(), operators_set.end(), operators_set_name) != operators_set.end();
}

std::string OperatorSetConcat::name() const {
  std::string joined;
  for (const std::string& one : operators_set) joined += (joined.empty() ? "" : "_") + one;
  return joined;
}

Fusing Fusing::of(std::vector<OperatorSetConcat> operator_groups_list, std::string name) {
  if (operator_groups_list.size() < 2) invalid("A fusing pattern of fewer than two groups.", "operator_groups_list");
  if (name.empty())
    for (const OperatorSetConcat& group : operator_groups_list) name += (name.empty() ? "" : "_") + group.name();
  return {std::move(operator_groups_list), std::move(name), std::nullopt};
}

bool Fusing::contains(const Fusing& other) const {
  const auto within = [](const OperatorSetConcat& mine, const OperatorSetConcat& theirs) {
    return mine == theirs || (theirs.operators_set.size() == 1 && mine.contains(theirs.operators_set[0]));
  };
  return std::search(operator_groups_list.begin(), operator_groups_list.end(), other.operator_groups_list.begin(),
                     other.operator_groups_list.end(), within) != operator_groups_list.end();
}

const OperatorsSet* TargetPlatformModel::find(std::string_view operators_set_name) const {
  for (const OperatorsSet& one : operator_set)
    if (one.name == operators_set_name) return &one;
  return nullptr;
}

const QuantizationConfigOptions& TargetPlatformModel::options_of(std::string_view operators_set_name) const {
  const OperatorsSet* found = find(operators_set_name);
  return found != nullptr && found->qc_options ? *found->qc_options : default_qco;
}

std::vector<std::pair<std::string, std::string>> TargetPlatformCapabilities::metadata() const {
  std::vector<std::pair<std::string, std::string>> entries;
  if (!tp_model.add_metadata) return entries;
  entries.emplace_back("tersor.platform", name + "@v" + std::to_string(version));
  if (!tp_model.tpc_platform_type.empty()) entries.emplace_back("tpc_platform_type", tp_model.tpc_platform_type);
  if (tp_model.tpc_minor_version)
    entries.emplace_back("tpc_minor_version", std::to_string(*tp_model.tpc_minor_version));
  if (tp_model.tpc_patch_version)
    entries.emplace_back("tpc_patch_version", std::to_string(*tp_model.tpc_patch_version));
  return entries;
}

std::vector<const PriceList*> TargetPlatformCapabilities::all_prices() const {
  std::vector<const PriceList*> all;
  if (prices) all.push_back(&*prices);
  for (const PriceList& one : other_prices) all.push_back(&one);
  return all;
}

RuntimeKernel TargetPlatformCapabilities::kernel_of(std::string_view operators_set_name) const {
  const OperatorsSet* found = tp_model.find(operators_set_name);
  if (found == nullptr) return export_rules.unlisted_kernel;
  if (found->runtime_kernel) return *found->runtime_kernel;
  const OpQuantizationConfig& base = tp_model.options_of(operators_set_name).base_config();
  return base.enable_activation_quantization || base.quantization_preserving ? RuntimeKernel::kInteger
                                                                             : RuntimeKernel::kFloat;
}

std::vector<Error> faults_of(const TargetPlatformModel& model, const std::string& place) {
  Faults faults;
  check_options(model.default_qco, place + ".default_qco", faults);
  std::set<std::string> names;
  for (size_t i = 0; i < model.operator_set.size(); ++i) {
    const OperatorsSet& one = model.operator_set[i];
    const std::string at = place + ".operator_set[" + std::to_string(i) + "]";
    faults.attempt([&] {
      if (one.name.empty()) invalid("An operator set has no name.", at + ".name");
      if (!names.insert(one.name).second)
        invalid("The operator set \"" + one.name + "\" is there twice.", at + ".name");
    });
    if (one.qc_options) check_options(*one.qc_options, at + ".qc_options", faults);
  }
  for (size_t i = 0; i < model.fusing_patterns.size(); ++i)
    check_fusing(model, model.fusing_patterns[i], place + ".fusing_patterns[" + std::to_string(i) + "]", faults);
  return faults.errors();
}

void validate(const TargetPlatformModel& model, const std::string& place) {
  Faults faults;
  for (const Error& error : faults_of(model, place)) faults.add(error);
  faults.throw_if_any(ErrorCode::kInvalidPlatform, "The platform", place);
}

}  // namespace tersor::tpc
