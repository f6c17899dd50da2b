// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/tpc/op_quantization_config.h"

namespace tersor::tpc {

/// The configurations an operator may have. Invariant: not empty, and base_config is one of the list: the one to use
/// where no mixture of precisions is searched for.
class QuantizationConfigOptions {
 public:
  /// Without a base, the list must hold one configuration. Error kInvalidPlatform.
  explicit QuantizationConfigOptions(std::vector<OpQuantizationConfig> quantization_config_list,
                                     std::optional<OpQuantizationConfig> base_config = std::nullopt);

  const std::vector<OpQuantizationConfig>& quantization_config_list() const { return list_; }
  const OpQuantizationConfig& base_config() const { return list_[base_]; }
  size_t base_index() const { return base_; }
  /// Beside those of the list, every number of bits and every method that somebody asks for is taken.
  bool takes_any() const { return takes_any_; }
  QuantizationConfigOptions& set_takes_any(bool takes_any) {
    takes_any_ = takes_any;
    return *this;
  }
  /// Block sizes that may be asked for beside those of the list, ascending.
  const std::vector<int>& block_sizes() const { return block_sizes_; }
  QuantizationConfigOptions& set_block_sizes(std::vector<int> sizes) {
    block_sizes_ = std::move(sizes);
    return *this;
  }
  /// Copies in which every configuration is changed: the whole of it, or of the attributes named those that a mapping
  /// has (without names, every attribute and the default).
  QuantizationConfigOptions clone_and_edit(const std::function<void(OpQuantizationConfig&)>& edit) const;
  QuantizationConfigOptions clone_and_edit_weight_attribute(
      const std::vector<std::string>& attributes, const std::function<void(AttributeQuantizationConfig&)>& edit) const;
  /// A copy with the keys of attr_weights_configs_mapping renamed; keys that `names` does not have stay.
  QuantizationConfigOptions clone_and_map_weights_attr_keys(const std::map<std::string, std::string>& names) const;
  bool operator==(const QuantizationConfigOptions&) const = default;

 private:
  std::vector<OpQuantizationConfig> list_;
  size_t base_ = 0;
  bool takes_any_ = false;
  std::vector<int> block_sizes_;
};

}  // namespace tersor::tpc
