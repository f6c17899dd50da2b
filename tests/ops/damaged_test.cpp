// SPDX-License-Identifier: Apache-2.0
// Right nodes of operators with many inputs that must fit together, damaged at random: another input, none, another
// attribute. They give a result or an Error with the node's place, and nothing else happens. Worth most in the
// sanitized build.
#include <limits>
#include <random>

#include "core/base/error.h"
#include "core/ops/attribute_names.h"
#include "core/run/program.h"
#include "tests/catch.h"
#include "tests/support/model_builder.h"
#include "tests/support/right_nodes.h"

using namespace tersor;
using test::right_nodes;
using test::RightNode;

namespace {

class Damage {
 public:
  explicit Damage(uint32_t seed) : bits_(seed) {}

  void act_on(RightNode& node) {
    const bool reads = !node.inputs.empty();
    const size_t k = reads ? below(node.inputs.size()) : 0;
    switch (reads ? below(5) : 3 + below(2)) {
      case 0:
        node.inputs[k] = Tensor();
        return;
      case 1:
        node.inputs[k] = other_shape(node.inputs[k]);
        return;
      case 2:
        node.inputs[k] = other_values(node.inputs[k]);
        return;
      case 3:
        if (node.attributes.empty()) return;
        damage(node.attributes[below(node.attributes.size())].second);
        return;
      default: {
        struct Named {
          const char* name;
          Attribute like;
        };
        static const std::vector<int64_t> list;
        static const std::string text;
        static constexpr int64_t whole = 0;
        static const Named kNamed[] = {
            {"strides", list},        {"pads", list},          {"dilations", list}, {"group", whole},
            {"kernel_shape", list},   {"axis", whole},         {"mode", text},      {"sampling_ratio", whole},
            {"output_height", whole}, {"offset_group", whole}, {"onesided", whole}, {"inverse", whole},
            {"q_num_heads", whole},   {"kv_num_heads", whole}, {"reduction", text}, {"num_heads", whole},
            {"output_padding", list}, {"spatial_scale", 0.0f}, {"softcap", 0.0f},   {"left_window_size", whole},
            {"output_shape", list},   {"batch_axis", whole},   {"auto_pad", text},  {"rotary_embedding_dim", whole}};
        const Named& named = kNamed[below(std::size(kNamed))];
        if (!ops::has_attribute("", node.type, named.name) && below(8) != 0) return;
        Attribute value = named.like;
        damage(value);
        node.attributes.emplace_back(named.name, std::move(value));
      }
    }
  }

 private:
  size_t below(size_t count) { return bits_() % count; }

  int64_t integer() {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    static constexpr int64_t kChoices[] = {-kMost - 1, kMost, -1, 0, 1, 2, 3, 4, 7, 1000000007, int64_t{1} << 40};
    return kChoices[below(std::size(kChoices))];
  }

  /// Another value, now and then of another type.
  void damage(Attribute& attribute) {
    const size_t kind = below(8) == 0                                             ? below(4)
                        : std::holds_alternative<std::vector<int64_t>>(attribute) ? 0
                        : std::holds_alternative<float>(attribute)                ? 1
                        : std::holds_alternative<std::string>(attribute)          ? 2
                                                                                  : 3;
    switch (kind) {
      case 0:
        attribute = std::vector<int64_t>(below(5), integer());
        return;
      case 1:
        attribute = below(2) == 0 ? std::numeric_limits<float>::quiet_NaN() : -1e30f;
        return;
      case 2:
        attribute = std::string(below(2) == 0 ? "add" : "nearest");
        return;
      default:
        attribute = integer();
    }
  }

  Tensor other_shape(const Tensor& from) {
    std::vector<int64_t> dims = from.shape().dims();
    if (dims.empty() || below(3) == 0) dims.push_back(static_cast<int64_t>(below(4)));
    dims[below(dims.size())] = static_cast<int64_t>(below(5));
    if (below(4) == 0) dims.pop_back();
    return Tensor::make(below(6) == 0 ? DType::kInt32 : from.empty() ? DType::kFloat32 : from.dtype(), Shape(dims));
  }

  Tensor other_values(const Tensor& from) {
    if (from.empty()) return from;
    Tensor made = Tensor::make(from.dtype(), from.shape());
    static constexpr float kFloats[] = {
        0, 1, -1, 2.5f, 1e30f, -1e30f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()};
    if (from.dtype() == DType::kFloat32)
      for (float& x : made.mutable_data<float>()) x = kFloats[below(std::size(kFloats))];
    if (from.dtype() == DType::kInt64)
      for (int64_t& x : made.mutable_data<int64_t>()) x = integer();
    return made;
  }

  std::mt19937 bits_;
};

/// True when it gave a result.
bool runs(const RightNode& right) {
  test::ModelBuilder builder(right.opset);
  std::vector<ValueId> values;
  std::vector<Tensor> given;
  for (const Tensor& tensor : right.inputs) {
    if (tensor.empty()) {
      values.push_back(ValueId{});
      continue;
    }
    values.push_back(builder.input("x" + std::to_string(values.size()),
                                   std::vector<int64_t>(static_cast<size_t>(tensor.shape().rank()), -1),
                                   tensor.dtype()));
    given.push_back(tensor);
  }
  for (const ValueId id : builder.nodes(right.type, values, right.outputs, right.attributes)) builder.output(id);
  run::ProgramOptions options;
  options.memory_limit = 1 << 22;
  try {
    run::Runner runner(run::Program::compile(builder.model, ops::standard(), options));
    runner.run(given);
    return true;
  } catch (const Error& error) {
    INFO(error.what());
    REQUIRE(error.code != ErrorCode::kInternal);
    REQUIRE(error.code != ErrorCode::kInvalidSamples);
    REQUIRE(error.place.substr(0, 11) == "graph.node[");
    return false;
  }
}

}  // namespace

TEST_CASE("damaged nodes are refused, never more") {
  for (const RightNode& right : right_nodes()) {
    INFO(right.type);
    CHECK(runs(right));
    int refusals = 0;
    for (uint32_t seed = 0; seed < 400; ++seed) {
      INFO(right.type << " with seed " << seed);
      RightNode node = right;
      Damage damage(seed);
      for (uint32_t k = 0; k <= seed % 3; ++k) damage.act_on(node);
      refusals += runs(node) ? 0 : 1;
    }
    CHECK(refusals > 0);
  }
}
