// SPDX-License-Identifier: Apache-2.0
#include "core/graph/attribute_defaults.h"

#include "core/base/error.h"
#include "core/graph/operators.h"
#include "tests/catch.h"

using namespace tersor;

namespace {

Node node_of(std::string type, Attributes attributes = {}) {
  Node node;
  node.op_type = std::move(type);
  node.attributes = std::move(attributes);
  return node;
}

}  // namespace

TEST_CASE("what a node does not say has ONNX's default", "[graph]") {
  CHECK(float_of(node_of("LeakyRelu"), "alpha") == 0.01f);
  CHECK(float_of(node_of("Selu"), "alpha") == 1.67326319217681884765625f);
  CHECK(float_of(node_of("Selu"), "gamma") == 1.05070102214813232421875f);
  CHECK(float_of(node_of("BatchNormalization"), "epsilon") == 1e-5f);
  CHECK(int_of(node_of("ArgMax"), "keepdims") == 1);
  CHECK(int_of(node_of("TopK"), "axis") == -1);
  CHECK(string_of(node_of("Resize"), "coordinate_transformation_mode") == "half_pixel");
}

TEST_CASE("a default may be another one in older operator sets", "[graph]") {
  for (const char* type : {"Softmax", "LogSoftmax", "Hardmax"}) {
    CHECK(int_of(node_of(type), "axis", 12) == 1);
    CHECK(int_of(node_of(type), "axis", 13) == -1);
    CHECK(int_of(node_of(type), "axis") == -1);
    CHECK(names_with_defaults(type) == std::vector<std::string_view>{"axis"});
  }
}

TEST_CASE("the node's own attribute comes first", "[graph]") {
  Attributes own;
  own["alpha"] = 0.5f;
  CHECK(float_of(node_of("LeakyRelu", own), "alpha") == 0.5f);
  own["alpha"] = int64_t{1};
  CHECK_THROWS_AS(float_of(node_of("LeakyRelu", own), "alpha"), Error);
}

TEST_CASE("where ONNX has no default there is none", "[graph]") {
  CHECK(!default_of("Conv", "strides"));
  CHECK(!default_of("Relu", "alpha"));
  CHECK(!default_of("NoSuchOperator", "alpha"));
  CHECK(names_with_defaults("Relu").empty());
  CHECK_THROWS_AS(int_of(node_of("Relu"), "axis"), Error);
}

TEST_CASE("every attribute with a default is one of its operator", "[graph]") {
  size_t found = 0;
  for (const std::string& type : operator_names())
    for (const std::string_view name : names_with_defaults(type)) {
      INFO(type << " " << name);
      CHECK(default_of(type, name));
      CHECK((" " + std::string(find_operator(type)->attributes) + " ").find(" " + std::string(name) + " ") !=
            std::string::npos);
      ++found;
    }
  CHECK(found > 200);
}
