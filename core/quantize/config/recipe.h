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

/// A setting for some nodes only. If several selectors are given (name, type, filter), all must match. For each field,
/// an override by name wins over one by filter, which wins over one by type; among equals the later wins.
struct Override {
  std::string name;                  // the node's name, or a pattern with * and ?; empty: not by name
  std::string type;                  // the operator type, such as "Conv"; empty: not by type
  std::string filter;                // JSON text of a layer filter; empty: none
  std::string config;                // JSON text of an object of QuantizationConfig fields
  std::string quantize_config = {};  // JSON text of {"class_name", "config"} of a QuantizeConfig; empty: none
  std::string trainable_quantizer =
      {};                 // name of the class that trains the weights or the output; empty: the built-in training
  bool annotate = false;  // if any override annotates, nodes that no override annotates stay float
  bool operator==(const Override&) const = default;
};

/// The platform that a recipe is for.
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

/// The samples that a recipe was made with.
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

/// Everything besides the model and the samples that decides the bytes of a quantized model: the same model, recipe and
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

/// Reads a list of overrides or a single override: {"name", "type", "filter", "config", "quantize_config",
/// "trainable_quantizer", "annotate"}. Error kInvalidConfig that lists every fault: an unknown member, an override
/// without a selector, a configuration that cannot be read or holds a field that concerns the whole model.
std::vector<Override> read_overrides(const Json& json, const std::string& place = "overrides");
std::vector<Override> parse_overrides(std::string_view text, const std::string& place);
Json to_json(const std::vector<Override>& overrides);

/// Writes a recipe file: an object with "format": "tersor-recipe", "format_version" and all defaults.
std::string write_recipe(const Recipe& recipe);
/// Reads a recipe file. Error kInvalidConfig if it is no recipe or of a newer format, or with all faulty members.
Recipe read_recipe(std::string_view text, const std::string& place = "recipe");
/// The same, but adds faulty members to `faults` and returns what could be read. Error if it is no recipe or of a newer
/// format.
Recipe read_recipe(std::string_view text, const std::string& place, Faults& faults);

/// The differences between a recipe and the model, platform or samples at hand, as sentences; empty if there are none.
/// Pass an empty digest for what is not known.
std::vector<std::string> differences(const Recipe& recipe, std::string_view model_digest,
                                     const RecipePlatform& platform, const RecipeDataSet& data_set);

}  // namespace tersor::config
