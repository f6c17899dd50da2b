// SPDX-License-Identifier: Apache-2.0
// Every operator against random attributes, types, shapes and values, most of them wrong: it gives a result or an Error
// with the node's place, and nothing else happens. Worth most in the sanitized build.
#include <limits>
#include <optional>
#include <random>

#include "core/base/error.h"
#include "core/ops/attribute_names.h"
#include "core/run/program.h"
#include "tests/catch.h"
#include "tests/support/model_builder.h"

using namespace tersor;

namespace {

class Chance {
 public:
  explicit Chance(uint32_t seed) : bits_(seed) {}

  /// 0 <= result < count.
  int64_t below(int64_t count) { return static_cast<int64_t>(bits_() % static_cast<uint64_t>(count)); }
  bool one_in(int64_t count) { return below(count) == 0; }
  template <class T>
  T pick(std::initializer_list<T> choices) {
    return *(choices.begin() + below(static_cast<int64_t>(choices.size())));
  }
  int64_t integer() {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    if (one_in(40)) return pick<int64_t>({-kMost - 1, kMost, int64_t{1} << 40, -(int64_t{1} << 33), 1000000007});
    return below(7) - 2;
  }
  std::vector<int64_t> integers(int64_t most) {
    std::vector<int64_t> list(static_cast<size_t>(below(most + 1)));
    for (int64_t& x : list) x = integer();
    return list;
  }
  float number() {
    if (one_in(30))
      return pick<float>({std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -1e38f});
    return static_cast<float>(below(2001) - 1000) / 250.0f;
  }
  Shape shape() {
    std::vector<int64_t> dims(static_cast<size_t>(pick<int64_t>({0, 1, 1, 2, 3, 4, 4, 4, 5})));
    const int64_t usual = one_in(2) ? 1 + below(4) : 0;
    for (int64_t& dim : dims) dim = one_in(12) ? 0 : usual != 0 ? usual : 1 + below(4);
    return Shape(dims);
  }

 private:
  std::mt19937 bits_;
};

Tensor random_tensor(Chance& chance, DType dtype, const Shape& shape) {
  Tensor tensor = Tensor::make(dtype, shape);
  const auto bytes = tensor.mutable_bytes();
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>(dtype == DType::kBool ? chance.below(2) : chance.below(256));
  if (dtype == DType::kFloat32)
    for (float& x : tensor.mutable_data<float>()) x = chance.number();
  if (dtype == DType::kInt64)
    for (int64_t& x : tensor.mutable_data<int64_t>()) x = chance.integer();
  return tensor;
}

DType random_type(Chance& chance) {
  if (!chance.one_in(4)) return chance.pick({DType::kFloat32, DType::kFloat32, DType::kInt64});
  return chance.pick({DType::kInt8, DType::kUint8, DType::kInt32, DType::kBool, DType::kFloat64, DType::kUint64,
                      DType::kInt16, DType::kFloat16, DType::kInt4, DType::kUint32});
}

test::ModelBuilder::Attributes random_attributes(Chance& chance, bool gentle, int rank) {
  test::ModelBuilder::Attributes attributes;
  for (const char* name : {"axis",
                           "axes",
                           "perm",
                           "pads",
                           "strides",
                           "dilations",
                           "kernel_shape",
                           "group",
                           "auto_pad",
                           "mode",
                           "keepdims",
                           "to",
                           "ceil_mode",
                           "allowzero",
                           "starts",
                           "ends",
                           "split",
                           "num_outputs",
                           "transA",
                           "transB",
                           "alpha",
                           "beta",
                           "epsilon",
                           "min",
                           "max",
                           "value",
                           "direction",
                           "block_size",
                           "output_dtype",
                           "batch_dims",
                           "count_include_pad",
                           "storage_order",
                           "noop_with_empty_axes",
                           "select_last_index",
                           "scales",
                           "blocksize",
                           "output_padding",
                           "coordinate_transformation_mode",
                           "num_groups",
                           "size",
                           "reduction",
                           "largest",
                           "exclusive",
                           "k",
                           "dtype",
                           "p",
                           "equation",
                           "q_num_heads",
                           "kv_num_heads",
                           "num_heads",
                           "is_causal",
                           "update_rule",
                           "activation",
                           "align_corners",
                           "padding_mode",
                           "output_height",
                           "sampling_ratio",
                           "pooled_shape",
                           "spatial_scale",
                           "offset_group",
                           "onesided",
                           "inverse",
                           "batch_axis",
                           "time_axis",
                           "rotary_embedding_dim"}) {
    const std::string key = name;
    const bool always = key == "direction" || (gentle && (key == "kernel_shape" || key == "num_groups" ||
                                                          key == "size" || key == "equation" || key == "pooled_shape"));
    if (!always && !chance.one_in(gentle ? 9 : 5)) continue;
    Attribute value = chance.integer();
    if (key == "axes" || key == "perm" || key == "pads" || key == "strides" || key == "dilations" ||
        key == "kernel_shape" || key == "starts" || key == "ends" || key == "split" || key == "output_padding")
      value = gentle ? std::vector<int64_t>(
                           static_cast<size_t>(std::max(0, rank - static_cast<int>(chance.pick({0, 2})))), 1)
                     : chance.integers(key == "pads" ? 8 : 4);
    if (key == "auto_pad") value = std::string(chance.pick({"SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET", "?"}));
    if (key == "mode")
      value = std::string(chance.pick({"constant", "edge", "reflect", "wrap", "linear", "nearest", "?"}));
    if (key == "direction") value = std::string(chance.pick({"LEFT", "RIGHT", "forward", "bidirectional", "?"}));
    if (key == "coordinate_transformation_mode")
      value = std::string(chance.pick({"asymmetric", "align_corners", "half_pixel"}));
    if (key == "alpha" || key == "beta" || key == "epsilon" || key == "min" || key == "max") value = chance.number();
    if (gentle && (key == "num_groups" || key == "size" || key.substr(0, 5) == "q_num" || key.substr(0, 6) == "kv_num"))
      value = 1 + chance.below(2);
    if (key == "pooled_shape") value = gentle ? std::vector<int64_t>{1, 2} : chance.integers(3);
    if (key == "reduction") value = std::string(chance.pick({"none", "add", "mul", "max", "min", "?"}));
    if (key == "padding_mode") value = std::string(chance.pick({"zeros", "border", "reflection", "?"}));
    if (key == "activation") value = std::string(chance.pick({"none", "silu", "?"}));
    if (key == "update_rule") value = std::string(chance.pick({"linear", "gated", "delta", "gated_delta", "?"}));
    if (key == "spatial_scale") value = chance.number();
    if (key == "equation")
      value = std::string(chance.pick({"ij,jk->ik", "ij,jk,kl", "i,i", "...ij,...jk->...ik", "ii->i", "ij->ji",
                                       "bhqd,bhkd->bhqk", "i->ii", "a,", "->", "?"}));
    if (key == "scales") value = std::vector<float>{1, 1, chance.number(), 2};
    if (key == "value")
      value = chance.one_in(2) ? Attribute(chance.number())
                               : Attribute(random_tensor(chance, random_type(chance), chance.shape()));
    attributes.emplace_back(key, value);
  }
  return attributes;
}

/// Input shapes that are likelier to fit together than independent ones.
Shape related_shape(Chance& chance, const Shape& first) {
  switch (chance.below(4)) {
    case 0:
      return first;
    case 1:
      return first.rank() > 1 ? Shape{first[1]} : Shape{};
    case 2: {
      std::vector<int64_t> dims = first.dims();
      for (int64_t& dim : dims)
        if (chance.one_in(3)) dim = chance.one_in(2) ? 1 : chance.below(4);
      return Shape(dims);
    }
    default:
      return chance.shape();
  }
}

/// The first input's shape and that of the others, for operators whose inputs luck does not make fit.
struct Fitting {
  Shape first, others;
};

std::optional<Fitting> fitting(std::string_view type) {
  if (type == "GRU") return Fitting{{2, 3, 1}, {1, 3, 1}};
  if (type == "LSTM") return Fitting{{2, 3, 1}, {1, 4, 1}};
  return std::nullopt;
}

struct Outcome {
  int results = 0;
  int refusals = 0;
};

void try_once(const ops::Op& op, uint32_t seed, Outcome& outcome) {
  Chance chance(seed);
  test::ModelBuilder builder(std::max<int64_t>(op.since, chance.pick<int64_t>({7, 9, 10, 11, 13, 18, 21})));
  std::vector<ValueId> values;
  std::vector<Tensor> given;
  Shape first = chance.shape();
  const bool gentle = chance.one_in(2);  // inputs that are likelier to fit
  Shape others = first.rank() > 1 && chance.one_in(2) ? Shape{first[1]} : related_shape(chance, first);
  if (const auto fit = fitting(op.type); fit && gentle) first = fit->first, others = fit->others;
  const DType first_type = gentle ? chance.pick({DType::kFloat32, DType::kBool, DType::kUint8}) : random_type(chance);
  for (int64_t k = chance.below(7); k > 0; --k) {
    if (!gentle && chance.one_in(12)) {
      values.push_back(ValueId{});
      continue;
    }
    const DType dtype = chance.one_in(gentle ? 10 : 3) ? random_type(chance) : first_type;
    Tensor tensor = random_tensor(chance, dtype,
                                  values.empty() ? first
                                  : gentle       ? others
                                                 : related_shape(chance, first));
    if (gentle && !values.empty() && chance.one_in(4))
      tensor = Tensor::of<int64_t>(Shape{first.rank()},
                                   std::vector<int64_t>(static_cast<size_t>(first.rank()), chance.below(3)));
    if (chance.one_in(2)) {
      values.push_back(builder.weight(tensor));
      continue;
    }
    std::vector<int64_t> dims(static_cast<size_t>(tensor.shape().rank()), -1);
    values.push_back(builder.input("x" + std::to_string(k), dims, tensor.dtype()));
    given.push_back(std::move(tensor));
  }
  auto attributes = random_attributes(chance, gentle, first.rank());
  std::erase_if(attributes,
                [&](const auto& one) { return !ops::has_attribute("", op.type, one.first) && !chance.one_in(200); });
  const auto outputs = builder.nodes((op.domain.empty() ? "" : std::string(op.domain) + "::") + std::string(op.type),
                                     values, static_cast<size_t>(1 + chance.below(2)), attributes);
  if (chance.one_in(3)) builder.output(builder.node("Relu", {outputs[0]}));
  for (const ValueId id : outputs) builder.output(id);
  run::ProgramOptions options;
  options.memory_limit = 1 << 22;
  try {
    run::Runner runner(run::Program::compile(builder.model, ops::standard(), options));
    runner.run(given);
    ++outcome.results;
  } catch (const Error& error) {
    INFO(error.what());
    REQUIRE(error.code != ErrorCode::kInternal);
    REQUIRE(error.code != ErrorCode::kInvalidSamples);
    REQUIRE(error.place.substr(0, 11) == "graph.node[");
    ++outcome.refusals;
  }
}

/// Operators that luck alone hardly ever gives anything that fits: damaged_test.cpp starts from right nodes of them.
bool is_choosy(std::string_view type) {
  for (const char* name : {"AffineGrid", "Attention", "DeformConv", "GatherBlockQuantized", "GroupQueryAttention",
                           "LinearAttention", "MaxRoiPool", "MaxUnpool", "MelWeightMatrix", "MultiHeadAttention",
                           "RandomNormal", "RandomUniform", "RoiAlign", "RotaryEmbedding", "STFT"})
    if (type == name) return true;
  return false;
}

}  // namespace

TEST_CASE("wrong nodes are refused, never more") {
  for (const ops::Op* op : ops::standard().ops()) {
    Outcome outcome;
    // Some operators need luck to be given anything that fits.
    for (uint32_t seed = 0; seed < 250 || (outcome.results == 0 && seed < 60000 && !is_choosy(op->type)); ++seed) {
      INFO(op->type << " with seed " << seed);
      try_once(*op, seed, outcome);
    }
    INFO(op->type << ": " << outcome.results << " results, " << outcome.refusals << " refusals");
    CHECK((outcome.results > 0 || is_choosy(op->type)));
    CHECK(outcome.refusals > 0);
  }
}
