// SPDX-License-Identifier: Apache-2.0
// A platform file may give parts a name ("attribute_configs", "op_configs", "qc_options") and use the name where the
// part is expected; a named or inline part with "extends" starts from another one. Everything is read before anything
// is thrown, so that one error lists all faults. What is wrong in a named part is told once, at the part's own place,
// however many use it.
#include "core/tpc/read.h"

#include <algorithm>
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
  Reader(const Json& file, std::string model_at, const FindSetFaults& find_set_faults)
      : file_(file), model_at_(std::move(model_at)), find_set_faults_(find_set_faults) {}

  TargetPlatformCapabilities read(const std::string& place) {
    root_ = place;
    check_head(place);
    read_named_parts();
    const std::string model_place = place + model_at_;
    const Json& model = member(file_, "tp_model", place);
    check_keys(model,
               {"name", "default_qco", "add_metadata", "operator_set", "fusing_patterns", "tpc_minor_version",
                "tpc_patch_version", "tpc_platform_type", "is_simd_padding", "insert_preserving_quantizers"},
               model_place);
    std::optional<QuantizationConfigOptions> defaults;
    attempt([&] { defaults = read_options(member(model, "default_qco", model_place), model_place + ".default_qco"); });
    // Any options will do to find the other faults.
    std::optional<TargetPlatformModel> made(defaults ? *defaults : QuantizationConfigOptions({OpQuantizationConfig()}));
    read_into(model, "name", made->name, model_place);
    read_into(model, "add_metadata", made->add_metadata, model_place);
    read_into(model, "tpc_minor_version", made->tpc_minor_version, model_place);
    read_into(model, "tpc_patch_version", made->tpc_patch_version, model_place);
    check_number("tpc_minor_version", made->tpc_minor_version, 0, model_place);
    check_number("tpc_patch_version", made->tpc_patch_version, 0, model_place);
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
    read_into(file_, "prices", platform.prices, place);
    read_into(file_, "other_prices", platform.other_prices, place);
    if (platform.prices) check_prices(*platform.prices, place + ".prices");
    for (const PriceList& one : platform.other_prices) check_prices(one, place + ".other_prices");
    check_number("version", platform.version, 1, place);
    attempt([&] {
      if (platform.name.empty() && file_.contains("name") && file_["name"].is_string())
        throw Error(ErrorCode::kInvalidPlatform, "The platform has no name.", place + ".name");
    });
    Faults once;
    std::set<std::string> told;
    for (const Error& error : faults_.errors())
      if (told.insert(error.what()).second) once.add(error);
    once.throw_if_any(ErrorCode::kInvalidPlatform, "The platform file", place);
    return platform;
  }

 private:
  void check_number(const char* key, std::optional<int> number, int least, const std::string& place) {
    attempt([&] {
      if (number && *number < least)
        throw Error(ErrorCode::kInvalidPlatform,
                    "It is " + std::to_string(*number) + "; " + std::to_string(least) + " or more.", place + "." + key);
    });
  }

  void check_prices(const PriceList& list, const std::string& place) {
    for (const auto& [name, price] : list.prices)
      for_each_field<Price>([&, &at = name, &of = price](const auto& one) {
        attempt([&] {
          if (of.*(one.member) < 0)
            throw Error(ErrorCode::kInvalidPlatform, "It is negative; a price is 0 or more nanoseconds.",
                        place + ".prices." + at + "." + one.name);
        });
      });
  }

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
  /// names are looked up only when all of them are there; where a value could not be read, its default is not judged.
  void find_contradictions(const TargetPlatformModel& model, const std::string& place) {
    std::set<std::string> unreadable;
    for (const Error& error : faults_.errors()) unreadable.insert(error.place);
    for (const Error& error : faults_of(model, place)) {
      const bool about_names = error.place.find("fusing_patterns") != std::string::npos && !all_sets_read_;
      const std::string at = defined_at(error.place);
      if (!about_names && unreadable.count(at) == 0) faults_.add(Error(error.code, error.message, at, error.hint));
    }
  }

  /// The place of the named part, or of the part that is extended, which the value at `place` comes from.
  std::string defined_at(std::string place) const {
    for (const auto& [made, entry] : entries_)
      if (place.compare(0, made.size(), made) == 0) {
        place = entry + place.substr(made.size());
        break;
      }
    bool moved = true;
    for (int step = 0; moved && step < 64; ++step) {  // parts may extend each other in a circle
      moved = false;
      for (const auto& [user, source] : sources_) {
        if (place.compare(0, user.size(), user) != 0 || (place.size() > user.size() && place[user.size()] != '.'))
          continue;
        const std::string rest = place.substr(user.size());
        const auto covers = [&rest](const std::string& own) {
          return rest.compare(0, own.size(), own) == 0 && (rest.size() == own.size() || rest[own.size()] == '.');
        };
        if (rest.empty() || std::any_of(source.own.begin(), source.own.end(), covers)) continue;
        place = source.place + rest;
        moved = true;
        break;
      }
    }
    return place;
  }

  /// Also those that nothing uses.
  void read_named_parts() {
    const auto each = [this](const char* section, auto&& read) {
      if (!file_.contains(section)) return;
      const std::string at = root_ + "." + section;
      if (!file_[section].is_object()) return attempt([&] { detail::wrong_type(file_[section], "an object", at); });
      for (const auto& entry : file_[section].items())
        attempt([&, name = Json(entry.key())] { read(name, at + "." + entry.key()); });
    };
    each("attribute_configs", [this](const Json& name, const std::string& at) { read_attribute(name, {}, at); });
    each("op_configs", [this](const Json& name, const std::string& at) { read_op(name, at); });
    each("qc_options", [this](const Json& name, const std::string& at) { read_options(name, at); });
  }

  void check_head(const std::string& place) {
    if (!file_.is_object()) detail::wrong_type(file_, "an object", place);
    check_keys(file_,
               {"$schema", "schema_version", "name", "version", "title", "description", "export_rules",
                "attribute_configs", "op_configs", "qc_options", "tp_model", "prices", "other_prices"},
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

  /// The part itself, an inline one or the one of that name in the section, and the place where it stands.
  std::pair<const Json&, std::string> resolve(const Json& part, const char* section, const std::string& place) {
    if (!part.is_string()) return {part, place};
    const std::string& name = part.get_ref<const std::string&>();
    const auto found = file_.find(section);
    if (found == file_.end() || !found->is_object() || !found->contains(name)) {
      std::vector<std::string> names;
      if (found != file_.end() && found->is_object())
        for (const auto& entry : found->items()) names.push_back(entry.key());
      throw Error(ErrorCode::kInvalidPlatform, "There is no \"" + name + "\" in " + section + ".", place,
                  suggestion(name, names));
    }
    const std::string at = root_ + "." + section + "." + name;
    if (at != place) sources_[place] = {at, {}};
    return {(*found)[name], at};
  }

  /// Applies the part that `part` extends, first of all, and then its own members.
  template <class T, class Apply>
  void extend(const Json& part, const char* section, T& value, const std::string& place, int depth, Apply&& apply) {
    if (depth > 16) throw Error(ErrorCode::kInvalidPlatform, "It extends itself.", place);
    const auto [object, at] = resolve(part, section, place);
    if (!object.is_object()) detail::wrong_type(object, "an object or the name of one", at);
    if (object.contains("extends")) {
      const std::string base = detail::join_place(at, "extends");
      attempt([&, &object = object] { extend(object["extends"], section, value, base, depth + 1, apply); });
      Source source{base, {".extends"}};
      for (const auto& entry : object.items()) {
        const bool merged = entry.key() == "attr_weights_configs_mapping" && entry.value().is_object();
        if (!merged) source.own.push_back("." + entry.key());
        if (merged)
          for (const auto& one : entry.value().items()) source.own.push_back("." + entry.key() + "." + one.key());
      }
      sources_[at] = std::move(source);
    }
    for (const auto& entry : object.items())
      if (entry.key() != "extends") attempt([&, &at = at] { apply(entry.key(), entry.value(), value, at); });
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

  /// A key that no attribute's name contains would configure nothing.
  static void check_attribute_key(const std::string& key, const std::string& place) {
    const std::vector<std::string> known{std::string(kKernelAttr), std::string(kBiasAttr), std::string(kPosAttr)};
    const bool some = !key.empty() && std::any_of(known.begin(), known.end(), [&](const std::string& one) {
      return one.find(key) != std::string::npos;
    });
    if (!some)
      throw Error(ErrorCode::kInvalidPlatform, "There is no attribute \"" + key + "\".", place,
                  suggestion(key, known) + "The attributes are: " + joined(known) + ".");
  }

  void read_op_member(const std::string& key, const Json& value, OpQuantizationConfig& config,
                      const std::string& place) {
    const std::string at = detail::join_place(place, key);
    if (key == "default_weight_attr_config") {
      config.default_weight_attr_config = read_attribute(value, {}, at);
    } else if (key == "attr_weights_configs_mapping") {
      if (!value.is_object()) detail::wrong_type(value, "an object", at);
      for (const auto& entry : value.items())
        attempt([&] {
          const std::string name_at = detail::join_place(at, entry.key());
          check_attribute_key(entry.key(), name_at);
          config.attr_weights_configs_mapping[entry.key()] = read_attribute(entry.value(), {}, name_at);
        });
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

  /// What could be read of it, none where nothing could; the faults are kept.
  std::optional<QuantizationConfigOptions> read_options(const Json& part, const std::string& given_at) {
    const auto [object, place] = resolve(part, "qc_options", given_at);
    const size_t before = faults_.errors().size();
    check_keys(object, {"quantization_config_list", "base_config", "takes_any", "block_sizes"}, place);
    std::vector<int> block_sizes;
    if (object.contains("block_sizes"))
      from_json(object["block_sizes"], block_sizes, detail::join_place(place, "block_sizes"));
    bool takes_any = false;
    if (object.contains("takes_any")) {
      if (!object["takes_any"].is_boolean())
        detail::wrong_type(object["takes_any"], "true or false", detail::join_place(place, "takes_any"));
      takes_any = object["takes_any"].get<bool>();
    }
    const bool newer = object.is_object() && object.contains("quantization_configurations");
    if (newer && object.contains("quantization_config_list"))
      throw Error(ErrorCode::kInvalidPlatform,
                  "quantization_configurations and quantization_config_list are one field.", place,
                  "Give one of them.");
    const char* list_key = newer ? "quantization_configurations" : "quantization_config_list";
    const Json& list = member(object, list_key, place);
    const std::string list_at = detail::join_place(place, list_key);
    if (!list.is_array()) detail::wrong_type(list, "a list", list_at);
    // faults_of() knows the list by its one name.
    if (newer) sources_[detail::join_place(place, "quantization_config_list")] = {list_at, {}};
    std::vector<OpQuantizationConfig> configs;
    for (size_t i = 0; i < list.size(); ++i)
      attempt([&] { configs.push_back(read_op(list[i], list_at + "[" + std::to_string(i) + "]")); });
    std::optional<OpQuantizationConfig> base;
    if (object.contains("base_config") && !object["base_config"].is_null())
      attempt([&, &object = object, &place = place] { base = read_op(object["base_config"], place + ".base_config"); });
    if (faults_.errors().size() != before) {  // what could be read is judged all the same
      if (configs.empty()) return std::nullopt;
      OpQuantizationConfig first = configs.front();
      return QuantizationConfigOptions(std::move(configs), std::move(first));
    }
    try {
      return QuantizationConfigOptions(std::move(configs), std::move(base))
          .set_takes_any(takes_any)
          .set_block_sizes(std::move(block_sizes));
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
      check_keys(list[i], {"name", "qc_options", "runtime_kernel", "layers", "attr_mapping"}, at);
      read_operator_set(list[i], made, at);
    }
  }

  void read_operator_set(const Json& json, TargetPlatformModel& made, const std::string& at) {
    OperatorsSet one;
    const auto given = [&json](const char* key) { return json.is_object() && json.contains(key); };
    if (given("qc_options") && !json["qc_options"].is_null())
      attempt([&] { one.qc_options = read_options(json["qc_options"], at + ".qc_options"); });
    if (given("runtime_kernel"))
      attempt([&] { from_json(json["runtime_kernel"], one.runtime_kernel, at + ".runtime_kernel"); });
    if (given("layers"))
      attempt([&] {
        if (!json["layers"].is_array() || json["layers"].empty())
          detail::wrong_type(json["layers"], "a list of at least one layer", at + ".layers");
        one.layers = to_text(json["layers"], false);
      });
    if (given("attr_mapping"))
      attempt([&] {
        if (!json["attr_mapping"].is_object())
          detail::wrong_type(json["attr_mapping"], "an object", at + ".attr_mapping");
        one.attr_mapping = to_text(json["attr_mapping"], false);
      });
    std::vector<std::string> names;
    attempt([&] { names = read_names(member(json, "name", at), at + ".name"); });
    all_sets_read_ = all_sets_read_ && !names.empty();
    for (const std::string& name : names) {
      one.name = name;
      // Of several names the faults are those of one entry.
      entries_[model_place() + ".operator_set[" + std::to_string(made.operator_set.size()) + "]"] = at;
      made.operator_set.push_back(one);
      if (find_set_faults_) find_set_faults_(one, at, faults_);
    }
  }

  static std::vector<std::string> read_names(const Json& json, const std::string& place) {
    std::vector<std::string> names;
    if (json.is_string())
      names.push_back(json.get<std::string>());
    else
      from_json(json, names, place);
    if (names.empty()) detail::wrong_type(json, "a name or a list of names", place);
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

  /// Where a value comes from that is not said at the place itself; `own`: members that are, as ".name".
  struct Source {
    std::string place;
    std::vector<std::string> own;
  };

  std::string model_place() const { return root_ + model_at_; }

  const Json& file_;
  const std::string model_at_;
  const FindSetFaults& find_set_faults_;
  std::string root_;
  std::map<std::string, Source> sources_;
  std::map<std::string, std::string> entries_;  // of an operator set as made: one entry of the file may make several
  bool all_sets_read_ = true;
  Faults faults_;
};

Json to_json(const QuantizationConfigOptions& options) {
  Json json{{"quantization_config_list", tersor::to_json(options.quantization_config_list())},
            {"base_config", tersor::to_json(options.base_config())}};
  if (options.takes_any()) json["takes_any"] = true;
  if (!options.block_sizes().empty()) json["block_sizes"] = options.block_sizes();
  return json;
}

}  // namespace

TargetPlatformCapabilities read_platform(std::string_view text, const std::string& place,
                                         const FindSetFaults& find_set_faults) {
  Json json = parse_json(text, place, ErrorCode::kInvalidPlatform);
  // What `tersor platforms NAME --json` prints holds the platform beside what it comes to.
  if (json.is_object() && !json.contains("tp_model") && json.contains("platform") && json.contains("effective"))
    json = Json(json.at("platform"));
  try {
    if (is_mct_capabilities(json)) return Reader(from_mct_capabilities(json, place), "", find_set_faults).read(place);
    return Reader(json, ".tp_model", find_set_faults).read(place);
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
    if (!one.attr_mapping.empty()) sets.back()["attr_mapping"] = parse_json(one.attr_mapping, "attr_mapping");
  }
  for (const Fusing& one : model.fusing_patterns) {
    Json groups = Json::array();
    for (const OperatorSetConcat& group : one.operator_groups_list) groups.push_back(group.operators_set);
    fusings.push_back(Json{{"operator_groups_list", std::move(groups)}, {"name", one.name}});
    if (one.fuse_op_quantization_config)
      fusings.back()["fuse_op_quantization_config"] = tersor::to_json(*one.fuse_op_quantization_config);
  }
  Json described = Json{{"name", model.name},
                        {"default_qco", to_json(model.default_qco)},
                        {"add_metadata", model.add_metadata},
                        {"operator_set", std::move(sets)},
                        {"fusing_patterns", std::move(fusings)}};
  if (model.tpc_minor_version) described["tpc_minor_version"] = *model.tpc_minor_version;
  if (model.tpc_patch_version) described["tpc_patch_version"] = *model.tpc_patch_version;
  if (!model.tpc_platform_type.empty()) described["tpc_platform_type"] = model.tpc_platform_type;
  if (model.is_simd_padding) described["is_simd_padding"] = true;
  if (model.insert_preserving_quantizers)
    described["insert_preserving_quantizers"] = *model.insert_preserving_quantizers;
  Json json{{"schema_version", kSchemaVersion},    {"name", platform.name},
            {"version", platform.version},         {"title", platform.title},
            {"description", platform.description}, {"export_rules", tersor::to_json(platform.export_rules)},
            {"tp_model", std::move(described)}};
  if (!platform.export_rules.half_scales) json["export_rules"].erase("half_scales");
  if (platform.prices) json["prices"] = tersor::to_json(*platform.prices);
  for (const PriceList& one : platform.other_prices) json["other_prices"].push_back(tersor::to_json(one));
  return json;
}

std::string digest(const TargetPlatformCapabilities& platform) {
  Sha256 hash;
  hash.update(to_text(to_json(platform), false));
  return hash.hex();
}

}  // namespace tersor::tpc
