// SPDX-License-Identifier: Apache-2.0
// A platform file may give parts a name ("attribute_configs", "op_configs", "qc_options") and use the name where the
// part is expected; a named or inline part with "extends" starts from another one. Everything is read before anything
// is thrown, so that one error lists all faults.
#include "core/tpc/read.h"

#include <map>
#include <set>

#include "core/base/digest.h"
#include "core/base/faults.h"
#include "core/base/json.h"
#include "core/tpc/read_mct.h"

namespace tersor::tpc {

namespace {

constexpr int kSchemaVersion = 1;

class Reader {
 public:
  /// `model_at`: path of the model inside the file; empty where the file is the model.
  Reader(const Json& file, std::string model_at) : file_(file), model_at_(std::move(model_at)) {}

  TargetPlatformCapabilities read(const std::string& place) {
    check_head(place);
    const std::string model_place = place + model_at_;
    const Json& model = member(file_, "tp_model", place);
    check_keys(model,
               {"name", "default_qco", "add_metadata", "operator_set", "fusing_patterns", "tpc_minor_version",
                "tpc_patch_version", "tpc_platform_type", "is_simd_padding", "insert_preserving_quantizers"},
               model_place);
    std::optional<TargetPlatformModel> made;
    attempt(
        [&] { made.emplace(read_options(member(model, "default_qco", model_place), model_place + ".default_qco")); });
    if (!made) made.emplace(QuantizationConfigOptions({OpQuantizationConfig()}));  // to find the other faults
    read_into(model, "name", made->name, model_place);
    read_into(model, "add_metadata", made->add_metadata, model_place);
    read_into(model, "tpc_minor_version", made->tpc_minor_version, model_place);
    read_into(model, "tpc_patch_version", made->tpc_patch_version, model_place);
    read_into(model, "tpc_platform_type", made->tpc_platform_type, model_place);
    read_into(model, "is_simd_padding", made->is_simd_padding, model_place);
    read_into(model, "insert_preserving_quantizers", made->insert_preserving_quantizers, model_place);
    read_operator_sets(model, *made, model_place);
    read_fusings(model, *made, model_place);
    find_contradictions(*made, model_place);
    TargetPlatformCapabilities platform(std::move(*made));
    read_into(file_, "name", platform.name, place);
    read_into(file_, "version", platform.version, place);
    read_into(file_, "title", platform.title, place);
    read_into(file_, "description", platform.description, place);
    read_into(file_, "export_rules", platform.export_rules, place);
    attempt([&] {
      if (platform.version < 1)
        throw Error(ErrorCode::kInvalidPlatform, "It is " + std::to_string(platform.version) + "; 1 or more.",
                    place + ".version");
    });
    faults_.throw_if_any(ErrorCode::kInvalidPlatform, "The platform file", place);
    return platform;
  }

 private:
  template <class Part>
  void attempt(Part&& part) {
    faults_.attempt(std::forward<Part>(part));
  }

  template <class T>
  void read_into(const Json& object, const char* key, T& value, const std::string& place) {
    if (object.is_object() && object.contains(key))
      attempt([&] { from_json(object[key], value, detail::join_place(place, key)); });
  }

  /// What the parts that could be read say wrongly. A set or pattern that could not be read at all is missing here, so
  /// names are looked up only when all of them are there.
  void find_contradictions(const TargetPlatformModel& model, const std::string& place) {
    for (const Error& error : faults_of(model, place)) {
      const bool about_names = error.place.find("fusing_patterns") != std::string::npos && !all_sets_read_;
      if (!about_names) faults_.add(error);
    }
  }

  void check_head(const std::string& place) {
    if (!file_.is_object()) detail::wrong_type(file_, "an object", place);
    check_keys(file_,
               {"$schema", "schema_version", "name", "version", "title", "description", "export_rules",
                "attribute_configs", "op_configs", "qc_options", "tp_model"},
               place);
    attempt([&] {
      int version = 0;
      from_json(member(file_, "schema_version", place), version, place + ".schema_version");
      if (version != kSchemaVersion)
        throw Error(ErrorCode::kInvalidPlatform,
                    "The file has schema version " + std::to_string(version) + "; this version of Tersor reads " +
                        std::to_string(kSchemaVersion) + ".",
                    place + ".schema_version");
    });
    attempt([&] { member(file_, "name", place); });
  }

  void check_keys(const Json& object, const std::vector<std::string>& allowed, const std::string& place) {
    if (!object.is_object()) return;
    for (const auto& entry : object.items())
      attempt([&] {
        for (const std::string& key : allowed)
          if (entry.key() == key || canonical_name(entry.key()) == key) return;
        detail::unknown_key(entry.key(), allowed, place);
      });
  }

  const Json& member(const Json& object, const char* key, const std::string& place) const {
    if (!object.is_object()) detail::wrong_type(object, "an object", place);
    const auto it = object.find(key);
    if (it == object.end())
      throw Error(ErrorCode::kInvalidPlatform, "The field \"" + std::string(key) + "\" is missing.", place);
    return *it;
  }

  /// The part itself: an inline one, or the one of that name in the section.
  const Json& resolve(const Json& part, const char* section, const std::string& place) const {
    if (!part.is_string()) return part;
    const std::string& name = part.get_ref<const std::string&>();
    const auto found = file_.find(section);
    if (found == file_.end() || !found->is_object() || !found->contains(name))
      throw Error(ErrorCode::kInvalidPlatform, "There is no \"" + name + "\" in " + section + ".", place);
    return (*found)[name];
  }

  /// Applies the part that `part` extends, first of all, and then its own members.
  template <class T, class Apply>
  void extend(const Json& part, const char* section, T& value, const std::string& place, int depth, Apply&& apply) {
    if (depth > 16) throw Error(ErrorCode::kInvalidPlatform, "It extends itself.", place);
    const Json& object = resolve(part, section, place);
    if (!object.is_object()) detail::wrong_type(object, "an object or the name of one", place);
    if (object.contains("extends"))
      extend(object["extends"], section, value, detail::join_place(place, "extends"), depth + 1, apply);
    Faults own;
    for (const auto& entry : object.items())
      if (entry.key() != "extends") own.attempt([&] { apply(entry.key(), entry.value(), value, place); });
    for (const Error& error : own.errors()) faults_.add(error);
  }

  AttributeQuantizationConfig read_attribute(const Json& part, AttributeQuantizationConfig start,
                                             const std::string& place) {
    extend(part, "attribute_configs", start, place, 0,
           [](const std::string& key, const Json& value, AttributeQuantizationConfig& config, const std::string& at) {
             Json entry = Json::object();
             entry[key] = value;
             from_json(entry, config, at);
           });
    return start;
  }

  OpQuantizationConfig read_op(const Json& part, const std::string& place) {
    OpQuantizationConfig op;
    extend(part, "op_configs", op, place, 0,
           [this](const std::string& key, const Json& value, OpQuantizationConfig& config, const std::string& at) {
             read_op_member(key, value, config, at);
           });
    return op;
  }

  void read_op_member(const std::string& key, const Json& value, OpQuantizationConfig& config,
                      const std::string& place) {
    const std::string at = detail::join_place(place, key);
    if (key == "default_weight_attr_config") {
      config.default_weight_attr_config = read_attribute(value, {}, at);
    } else if (key == "attr_weights_configs_mapping") {
      if (!value.is_object()) detail::wrong_type(value, "an object", at);
      for (const auto& [name, attribute] : value.items())
        config.attr_weights_configs_mapping[name] = read_attribute(attribute, {}, detail::join_place(at, name));
    } else if (key == "supported_input_activation_n_bits" && value.is_number()) {
      config.supported_input_activation_n_bits.assign(1, 0);
      from_json(value, config.supported_input_activation_n_bits[0], at);
    } else if (key == "signedness" && value.is_boolean()) {
      config.signedness = value.get<bool>() ? Signedness::kSigned : Signedness::kUnsigned;
    } else {
      Json entry = Json::object();
      entry[key] = value;
      from_json(entry, config, place);
    }
  }

  QuantizationConfigOptions read_options(const Json& part, const std::string& place) {
    const Json& object = resolve(part, "qc_options", place);
    check_keys(object, {"quantization_config_list", "base_config"}, place);
    const char* list_key = object.is_object() && object.contains("quantization_configurations")
                               ? "quantization_configurations"
                               : "quantization_config_list";
    const Json& list = member(object, list_key, place);
    if (!list.is_array()) detail::wrong_type(list, "a list", detail::join_place(place, list_key));
    std::vector<OpQuantizationConfig> configs;
    for (size_t i = 0; i < list.size(); ++i)
      configs.push_back(read_op(list[i], detail::join_place(place, list_key) + "[" + std::to_string(i) + "]"));
    std::optional<OpQuantizationConfig> base;
    if (object.contains("base_config") && !object["base_config"].is_null())
      base = read_op(object["base_config"], place + ".base_config");
    try {
      return QuantizationConfigOptions(std::move(configs), std::move(base));
    } catch (const Error& error) {
      throw error.within(place);
    }
  }

  /// "name" may be a list: so many sets of the same options.
  void read_operator_sets(const Json& model, TargetPlatformModel& made, const std::string& place) {
    if (!model.is_object() || !model.contains("operator_set")) return;
    const std::string list_place = place + ".operator_set";
    const Json& list = model["operator_set"];
    if (!list.is_array()) return faults_.attempt([&] { detail::wrong_type(list, "a list", list_place); });
    for (size_t i = 0; i < list.size(); ++i) {
      const std::string at = list_place + "[" + std::to_string(i) + "]";
      check_keys(list[i], {"name", "qc_options", "runtime_kernel", "layers"}, at);
      const size_t faults_before = faults_.errors().size();
      attempt([&] {
        OperatorsSet one;
        if (list[i].is_object() && list[i].contains("qc_options") && !list[i]["qc_options"].is_null())
          one.qc_options = read_options(list[i]["qc_options"], at + ".qc_options");
        if (list[i].is_object() && list[i].contains("runtime_kernel"))
          from_json(list[i]["runtime_kernel"], one.runtime_kernel, at + ".runtime_kernel");
        if (list[i].is_object() && list[i].contains("layers")) {
          if (!list[i]["layers"].is_array()) detail::wrong_type(list[i]["layers"], "a list of layers", at + ".layers");
          one.layers = to_text(list[i]["layers"], false);
        }
        for (const std::string& name : read_names(member(list[i], "name", at), at + ".name")) {
          one.name = name;
          made.operator_set.push_back(one);
        }
      });
      all_sets_read_ = all_sets_read_ && faults_.errors().size() == faults_before;
    }
  }

  static std::vector<std::string> read_names(const Json& json, const std::string& place) {
    std::vector<std::string> names;
    if (json.is_string())
      names.push_back(json.get<std::string>());
    else
      from_json(json, names, place);
    return names;
  }

  void read_fusings(const Json& model, TargetPlatformModel& made, const std::string& place) {
    if (!model.is_object() || !model.contains("fusing_patterns")) return;
    const std::string list_place = place + ".fusing_patterns";
    const Json& list = model["fusing_patterns"];
    if (!list.is_array()) return faults_.attempt([&] { detail::wrong_type(list, "a list", list_place); });
    for (size_t i = 0; i < list.size(); ++i) {
      const std::string at = list_place + "[" + std::to_string(i) + "]";
      check_keys(list[i], {"operator_groups_list", "name", "fuse_op_quantization_config"}, at);
      attempt([&] {
        const Json& groups = member(list[i], "operator_groups_list", at);
        if (!groups.is_array()) detail::wrong_type(groups, "a list", at + ".operator_groups_list");
        std::vector<OperatorSetConcat> read;
        for (size_t k = 0; k < groups.size(); ++k)
          read.push_back({read_names(groups[k], at + ".operator_groups_list[" + std::to_string(k) + "]")});
        std::string name;
        if (list[i].contains("name")) from_json(list[i]["name"], name, at + ".name");
        std::optional<OpQuantizationConfig> fused;
        if (list[i].contains("fuse_op_quantization_config") && !list[i]["fuse_op_quantization_config"].is_null())
          fused = read_op(list[i]["fuse_op_quantization_config"], at + ".fuse_op_quantization_config");
        try {
          made.fusing_patterns.push_back(Fusing::of(std::move(read), std::move(name)));
          made.fusing_patterns.back().fuse_op_quantization_config = std::move(fused);
        } catch (const Error& error) {
          throw error.within(at);
        }
      });
    }
  }

  const Json& file_;
  const std::string model_at_;
  bool all_sets_read_ = true;
  Faults faults_;
};

Json to_json(const QuantizationConfigOptions& options) {
  return Json{{"quantization_config_list", tersor::to_json(options.quantization_config_list())},
              {"base_config", tersor::to_json(options.base_config())}};
}

}  // namespace

TargetPlatformCapabilities read_platform(std::string_view text, const std::string& place) {
  const Json json = parse_json(text, place, ErrorCode::kInvalidPlatform);
  try {
    if (is_mct_capabilities(json)) return Reader(from_mct_capabilities(json, place), "").read(place);
    return Reader(json, ".tp_model").read(place);
  } catch (const Error& error) {
    throw Error(ErrorCode::kInvalidPlatform, error.message, error.place, error.hint);
  }
}

Json to_json(const TargetPlatformCapabilities& platform) {
  const TargetPlatformModel& model = platform.tp_model;
  Json sets = Json::array(), fusings = Json::array();
  for (const OperatorsSet& one : model.operator_set) {
    sets.push_back(Json{{"name", one.name},
                        {"qc_options", one.qc_options ? to_json(*one.qc_options) : Json(nullptr)},
                        {"runtime_kernel", enum_word(platform.kernel_of(one.name))}});
    if (!one.layers.empty()) sets.back()["layers"] = parse_json(one.layers, "layers");
  }
  for (const Fusing& one : model.fusing_patterns) {
    Json groups = Json::array();
    for (const OperatorSetConcat& group : one.operator_groups_list) groups.push_back(group.operators_set);
    fusings.push_back(Json{{"operator_groups_list", groups}, {"name", one.name}});
    if (one.fuse_op_quantization_config)
      fusings.back()["fuse_op_quantization_config"] = tersor::to_json(*one.fuse_op_quantization_config);
  }
  Json described = Json{{"name", model.name},
                        {"default_qco", to_json(model.default_qco)},
                        {"add_metadata", model.add_metadata},
                        {"operator_set", sets},
                        {"fusing_patterns", fusings}};
  if (model.tpc_minor_version) described["tpc_minor_version"] = *model.tpc_minor_version;
  if (model.tpc_patch_version) described["tpc_patch_version"] = *model.tpc_patch_version;
  if (!model.tpc_platform_type.empty()) described["tpc_platform_type"] = model.tpc_platform_type;
  if (model.is_simd_padding) described["is_simd_padding"] = true;
  if (model.insert_preserving_quantizers) described["insert_preserving_quantizers"] = true;
  return Json{{"schema_version", kSchemaVersion},    {"name", platform.name},
              {"version", platform.version},         {"title", platform.title},
              {"description", platform.description}, {"export_rules", tersor::to_json(platform.export_rules)},
              {"tp_model", std::move(described)}};
}

std::string digest(const TargetPlatformCapabilities& platform) {
  Sha256 hash;
  hash.update(to_text(to_json(platform), false));
  return hash.hex();
}

}  // namespace tersor::tpc
