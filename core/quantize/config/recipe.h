// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_fwd.h"
#include "core/config/quantization_config.h"

namespace tersor::config {

/// A setting for some nodes only. Where several are given (name, type, filter) all must match; an override by name
/// beats one by filter, which beats one by type; among equals the later one wins, field by field.
struct Override {
  std::string name;                  // the node's name, or a pattern with * and ?; empty: not by name
  std::string type;                  // the operator type, such as "Conv"; empty: not by type
  std::string filter;                // JSON text of a layer filter; empty: none
  std::string config;                // JSON text of an object of QuantizationConfig fields
  std::string quantize_config = {};  // JSON text of {"class_name", "config"} of a QuantizeConfig; empty: none
  bool annotate = false;             // where some override annotates, all nodes that none annotates stay float
  bool operator==(const Override&) const = default;
};

struct RecipePlatform {
  std::string name;
  int version = 1;
  std::string digest;  // of the platform's content, see tpc::digest()
  static constexpr auto fields() {
    return std::make_tuple(field("name", &RecipePlatform::name, "Name of the platform."),
                           field("version", &RecipePlatform::version, "Its version."),
                           field("digest", &RecipePlatform::digest, "SHA-256 of its content."));
  }
  bool operator==(const RecipePlatform&) const = default;
};

struct RecipeDataSet {
  uint64_t samples = 0;
  uint64_t of = 0;     // samples in the whole data set; where more, those calibrated with are spread evenly over it
  std::string digest;  // SHA-256 over the samples' digests in order
  static constexpr auto fields() {
    return std::make_tuple(field("samples", &RecipeDataSet::samples, "Number of samples calibrated with."),
                           field("of", &RecipeDataSet::of,
                                 "Samples in the data set they come from: sample k of those calibrated with is sample "
                                 "floor(k * of / samples) of it."),
                           field("digest", &RecipeDataSet::digest, "SHA-256 over the samples' digests in order."));
  }
  bool operator==(const RecipeDataSet&) const = default;
};

/// All that decides the bytes of a quantized model but the model and the samples themselves: same model, recipe and
/// samples give the same file.
struct Recipe {
  static constexpr int kFormatVersion = 1;

  std::string tool_version;
  std::string model_digest;  // SHA-256 of the model file
  RecipePlatform platform;
  QuantizationConfig quantization_config;
  std::vector<Override> overrides;
  std::string framework_info;  // JSON text of the fields of FrameworkInfo that replace the defaults; empty: none
  std::string preprocessing;   // JSON text of the preprocessing description; empty: none
  RecipeDataSet data_set;
  std::map<std::string, uint64_t> seeds;

  bool operator==(const Recipe&) const = default;
};

/// A list of overrides, or one: {"name", "type", "filter", "config", "quantize_config", "annotate"}. Error
/// kInvalidConfig listing every fault: an unknown member, one that chooses no node, a configuration that cannot be read
/// or holds a field that concerns the whole model.
std::vector<Override> read_overrides(const Json& json, const std::string& place = "overrides");
std::vector<Override> parse_overrides(std::string_view text, const std::string& place);
Json to_json(const std::vector<Override>& overrides);

/// The recipe file: an object with "format": "tersor-recipe" and "format_version", every default written out.
std::string write_recipe(const Recipe& recipe);
/// Error kInvalidConfig: not a recipe, a newer format, or any faulty member (all are listed).
Recipe read_recipe(std::string_view text, const std::string& place = "recipe");
/// The same with faulty members added to `faults`: what could be read. Error for what is no recipe or a newer format.
Recipe read_recipe(std::string_view text, const std::string& place, Faults& faults);

/// What of a recipe does not fit the model, platform or samples at hand, as sentences; empty when all fits. Pass an
/// empty digest for what is not known.
std::vector<std::string> differences(const Recipe& recipe, std::string_view model_digest,
                                     const RecipePlatform& platform, const RecipeDataSet& data_set);

}  // namespace tersor::config
