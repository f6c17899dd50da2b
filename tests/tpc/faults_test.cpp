// SPDX-License-Identifier: Apache-2.0
// Every level of a platform file with every kind of fault: each is told with path and reason, at once, and none twice.
#include <set>

#include "core/base/json.h"
#include "core/tpc/read.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::tpc;

namespace {

/// Every named part is used more than once, also through `extends`.
Json sound() {
  return parse_json(R"({"schema_version": 1, "name": "p", "version": 1,
    "export_rules": {"placement": "OUTPUTS"},
    "attribute_configs": {"k": {"weights_n_bits": 8, "enable_weights_quantization": true}, "idle": {"weights_n_bits": 4}},
    "op_configs": {"c": {"activation_n_bits": 8, "attr_weights_configs_mapping": {"kernel_attr": "k"}},
                   "d": {"extends": "c", "simd_size": 4}, "idle": {"activation_n_bits": 8}},
    "qc_options": {"o": {"quantization_config_list": ["c", "d"], "base_config": "c"}, "idle": {"quantization_config_list": ["c"]}},
    "tp_model": {"default_qco": "o",
      "operator_set": [{"name": ["Conv", "FullyConnected"], "qc_options": "o", "layers": ["Conv"], "runtime_kernel": "INTEGER"},
                       {"name": "ReLU", "qc_options": {"quantization_config_list": ["d"]}}],
      "fusing_patterns": [{"operator_groups_list": ["Conv", ["ReLU"]], "name": "f"}]}})",
                    "sound");
}

struct Row {
  const char* path;   // JSON pointer of what is replaced or added
  const char* value;  // JSON; empty: taken away
  const char* place;  // of the fault, after "platform"
  const char* reason;
};

Json with(Json file, const Row& row) {
  const Json::json_pointer at(row.path);
  if (*row.value == 0)
    file.at(at.parent_pointer()).erase(at.back());
  else
    file[at] = parse_json(row.value, "value");
  return file;
}

Error error_of(const Json& file) {
  try {
    read_platform(to_text(file));
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::kInternal, "no error");
}

const char* const kUnknown = "There is no field \"speed\" here.";

const Row kRows[] = {
    {"/speed", "1", "", kUnknown},
    {"/version", "0", ".version", "It is 0; 1 or more."},
    {"/tp_model/tpc_minor_version", "-1", ".tp_model.tpc_minor_version", "It is -1; 0 or more."},
    {"/export_rules/speed", "1", ".export_rules", kUnknown},
    {"/attribute_configs/k/speed", "1", ".attribute_configs.k", kUnknown},
    {"/attribute_configs/idle/speed", "1", ".attribute_configs.idle", kUnknown},
    {"/op_configs/c/speed", "1", ".op_configs.c", kUnknown},
    {"/op_configs/idle/speed", "1", ".op_configs.idle", kUnknown},
    {"/qc_options/o/speed", "1", ".qc_options.o", kUnknown},
    {"/qc_options/idle/speed", "1", ".qc_options.idle", kUnknown},
    {"/tp_model/speed", "1", ".tp_model", kUnknown},
    {"/tp_model/operator_set/0/speed", "1", ".tp_model.operator_set[0]", kUnknown},
    {"/tp_model/fusing_patterns/0/speed", "1", ".tp_model.fusing_patterns[0]", kUnknown},

    {"/name", "3", ".name", "Found 3 where a text"},
    {"/version", "\"1\"", ".version", "Found \"1\" where a whole number"},
    {"/export_rules", "3", ".export_rules", "Found 3 where an object"},
    {"/export_rules/placement", "\"INSIDE\"", ".export_rules.placement", "\"INSIDE\" is not"},
    {"/attribute_configs/idle", "3", ".attribute_configs.idle", "Found 3 where an object"},
    {"/attribute_configs/k/weights_n_bits", "\"8\"", ".attribute_configs.k.weights_n_bits", "where a whole number"},
    {"/op_configs/c/activation_quantization_method", "\"BEST\"", ".op_configs.c.activation_quantization_method",
     "\"BEST\" is not a quantization method"},
    {"/op_configs/c/attr_weights_configs_mapping", "3", ".op_configs.c.attr_weights_configs_mapping",
     "Found 3 where an object"},
    {"/qc_options/o/quantization_config_list", "3", ".qc_options.o.quantization_config_list", "Found 3 where a list"},
    {"/tp_model", "3", ".tp_model", "Found 3 where an object"},
    {"/tp_model/default_qco", "3", ".tp_model.default_qco", "Found 3 where an object"},
    {"/tp_model/operator_set/0", "3", ".tp_model.operator_set[0]", "Found 3 where an object"},
    {"/tp_model/operator_set/0/qc_options", "3", ".tp_model.operator_set[0].qc_options", "Found 3 where an object"},
    {"/tp_model/operator_set/0/layers", "3", ".tp_model.operator_set[0].layers", "Found 3 where a list"},
    {"/tp_model/operator_set/0/runtime_kernel", "\"FAST\"", ".tp_model.operator_set[0].runtime_kernel",
     "\"FAST\" is not"},
    {"/tp_model/fusing_patterns", "3", ".tp_model.fusing_patterns", "Found 3 where a list"},
    {"/tp_model/fusing_patterns/0/name", "3", ".tp_model.fusing_patterns[0].name", "Found 3 where a text"},

    {"/schema_version", "2", ".schema_version", "schema version 2"},
    {"/version", "0", ".version", "It is 0; 1 or more."},
    {"/attribute_configs/k/weights_n_bits", "99", ".attribute_configs.k.weights_n_bits", "Weights of 99 bits"},
    {"/attribute_configs/k/lut_values_bitwidth", "1", ".attribute_configs.k.lut_values_bitwidth", "entries of 1 bits"},
    {"/attribute_configs/k/weights_block_size", "24", ".attribute_configs.k.weights_block_size", "Blocks of 24 inputs"},
    {"/op_configs/c/activation_n_bits", "99", ".op_configs.c.activation_n_bits", "Activations of 99 bits"},
    {"/op_configs/d/simd_size", "0", ".op_configs.d.simd_size", "It is 0; at least 1."},
    {"/op_configs/c/fixed_scale", "-1", ".op_configs.c.fixed_scale", "not a positive number"},
    {"/op_configs/c/quantization_preserving", "true", ".op_configs.c.quantization_preserving", "both true"},

    {"/schema_version", "", "", "The field \"schema_version\" is missing."},
    {"/name", "", "", "The field \"name\" is missing."},
    {"/tp_model", "", "", "The field \"tp_model\" is missing."},
    {"/tp_model/default_qco", "", ".tp_model", "The field \"default_qco\" is missing."},
    {"/tp_model/operator_set/0/name", "", ".tp_model.operator_set[0]", "The field \"name\" is missing."},
    {"/tp_model/fusing_patterns/0/operator_groups_list", "", ".tp_model.fusing_patterns[0]",
     "The field \"operator_groups_list\" is missing."},
    {"/qc_options/idle/quantization_config_list", "", ".qc_options.idle",
     "The field \"quantization_config_list\" is missing."},

    {"/attribute_configs/idle/extends", "\"kk\"", ".attribute_configs.idle.extends",
     "There is no \"kk\" in attribute_configs. Did you mean \"k\"?"},
    {"/op_configs/d/extends", "\"nowhere\"", ".op_configs.d.extends", "There is no \"nowhere\" in op_configs."},
    {"/op_configs/c/attr_weights_configs_mapping/kernel_attr", "\"kk\"",
     ".op_configs.c.attr_weights_configs_mapping.kernel_attr", "There is no \"kk\" in attribute_configs."},
    {"/op_configs/c/attr_weights_configs_mapping/kernel_att_", "\"k\"",
     ".op_configs.c.attr_weights_configs_mapping.kernel_att_",
     "There is no attribute \"kernel_att_\". Did you mean \"kernel_attr\"?"},
    {"/qc_options/o/base_config", "\"cc\"", ".qc_options.o.base_config", "There is no \"cc\" in op_configs."},
    {"/tp_model/default_qco", "\"oo\"", ".tp_model.default_qco", "There is no \"oo\" in qc_options."},
    {"/tp_model/operator_set/0/qc_options", "\"oo\"", ".tp_model.operator_set[0].qc_options",
     "There is no \"oo\" in qc_options."},
    {"/tp_model/fusing_patterns/0/operator_groups_list/0", "\"Conf\"",
     ".tp_model.fusing_patterns[0].operator_groups_list", "There is no operator set \"Conf\"."},

    {"/tp_model/operator_set/1/name", "[\"ReLU\", \"Conv\"]", ".tp_model.operator_set[1].name",
     "\"Conv\" is there twice"},
    {"/qc_options/o/quantization_configurations", "[\"c\"]", ".qc_options.o", "are one field"},

    {"/name", "\"\"", ".name", "The platform has no name."},
    {"/tp_model/operator_set/0/name", "[]", ".tp_model.operator_set[0].name", "Found [] where a name"},
    {"/tp_model/operator_set/0/layers", "[]", ".tp_model.operator_set[0].layers", "Found [] where a list of at least"},
    {"/qc_options/idle/quantization_config_list", "[]", ".qc_options.idle.quantization_config_list", "is empty"},
    {"/op_configs/c/supported_input_activation_n_bits", "[]", ".op_configs.c.supported_input_activation_n_bits",
     "at least one number of bits"},
    {"/tp_model/fusing_patterns/0/operator_groups_list", "[]", ".tp_model.fusing_patterns[0].operator_groups_list",
     "fewer than two"},
};

}  // namespace

TEST_CASE("every kind of fault at every level of a platform file is told once, with path and reason") {
  REQUIRE(error_of(sound()).message == "no error");
  for (const Row& row : kRows) {
    const Error error = error_of(with(sound(), row));
    INFO(row.path << " = " << row.value << "\n" << error.what());
    REQUIRE(error.code == ErrorCode::kInvalidPlatform);
    REQUIRE(error.message.find(" faults:") == std::string::npos);
    REQUIRE(error.place == "platform" + std::string(row.place));
    REQUIRE(std::string(error.what()).find(row.reason) != std::string::npos);
  }
}

TEST_CASE("all faults of a platform file are told at once, none twice") {
  // Of each place one, and none that takes others with it.
  Json file = sound();
  std::set<std::string> places;
  std::vector<const Row*> put;
  for (const Row& row : kRows) {
    const std::string path = row.path;
    const bool alone = path.find("speed") != std::string::npos || path == "/name" || path == "/version" ||
                       path.find("_n_bits") != std::string::npos;
    if (!alone || *row.value == 0 || !places.insert(path).second) continue;
    file = with(std::move(file), row);
    put.push_back(&row);
  }
  REQUIRE(put.size() > 14);
  const std::string all = error_of(file).message;
  INFO(all);
  REQUIRE(all.find("has " + std::to_string(put.size()) + " faults:") != std::string::npos);
  for (const Row* row : put) {
    INFO(row->path);
    REQUIRE(all.find("\nplatform" + std::string(row->place) + ": ") != std::string::npos);
    REQUIRE(all.find(row->reason) != std::string::npos);
  }
}

TEST_CASE("parts that extend each other in a circle are a fault") {
  Json file = sound();
  file["op_configs"]["c"]["extends"] = "d";
  file["op_configs"]["c"]["simd_size"] = 0;
  const Error error = error_of(file);
  INFO(error.message);
  REQUIRE(error.message.find("It extends itself.") != std::string::npos);
}
