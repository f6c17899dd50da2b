// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/operator_case.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "core/ops/attribute_names.h"
#include "core/simulate/operators.h"

namespace tersor::fuzz {

namespace {

constexpr int64_t kMostElements = 4096;
constexpr size_t kMostInputs = 10, kMostAttributes = 12, kMostInList = 16, kMostText = 48;
constexpr int kMostRank = 6;
constexpr int8_t kLong = -128;  // an integer of eight bytes follows

constexpr std::string_view kAttributes[] = {"K",
                                            "N",
                                            "accuracy_level",
                                            "activation",
                                            "activation_alpha",
                                            "activation_beta",
                                            "activations",
                                            "align_corners",
                                            "allowzero",
                                            "alpha",
                                            "antialias",
                                            "approximate",
                                            "auto_pad",
                                            "axes",
                                            "axis",
                                            "batch_axis",
                                            "batch_dims",
                                            "beta",
                                            "bias",
                                            "bits",
                                            "block_size",
                                            "blocksize",
                                            "ceil_mode",
                                            "center_point_box",
                                            "channels_last",
                                            "clip",
                                            "coordinate_transformation_mode",
                                            "count_include_pad",
                                            "cubic_coeff_a",
                                            "dilations",
                                            "direction",
                                            "dtype",
                                            "epsilon",
                                            "equation",
                                            "exclude_outside",
                                            "exclusive",
                                            "extrapolation_value",
                                            "fmod",
                                            "group",
                                            "hidden_size",
                                            "input_forget",
                                            "interleaved",
                                            "inverse",
                                            "is_causal",
                                            "k",
                                            "keep_aspect_ratio_policy",
                                            "keepdims",
                                            "kernel_shape",
                                            "kv_num_heads",
                                            "largest",
                                            "layout",
                                            "left_window_size",
                                            "linear_before_reset",
                                            "max",
                                            "min",
                                            "mode",
                                            "nearest_mode",
                                            "noop_with_empty_axes",
                                            "num_groups",
                                            "num_heads",
                                            "num_outputs",
                                            "offset_group",
                                            "onesided",
                                            "output_datatype",
                                            "output_dtype",
                                            "output_height",
                                            "output_padding",
                                            "output_shape",
                                            "output_width",
                                            "p",
                                            "padding_mode",
                                            "pads",
                                            "periodic",
                                            "perm",
                                            "pooled_shape",
                                            "q_num_heads",
                                            "qk_matmul_output_mode",
                                            "reduction",
                                            "reverse",
                                            "right_window_size",
                                            "rotary_embedding_dim",
                                            "sampling_ratio",
                                            "scale",
                                            "scales",
                                            "select_last_index",
                                            "size",
                                            "softcap",
                                            "sorted",
                                            "spatial_scale",
                                            "split",
                                            "starts",
                                            "ends",
                                            "storage_order",
                                            "strides",
                                            "time_axis",
                                            "to",
                                            "training_mode",
                                            "transA",
                                            "transB",
                                            "update_rule",
                                            "upper",
                                            "value",
                                            "value_float",
                                            "value_floats",
                                            "value_int",
                                            "value_ints",
                                            "value_string",
                                            "saturate",
                                            "scatter_mode",
                                            "lambd",
                                            "gamma",
                                            "threshold",
                                            "stash_type",
                                            "sample_size",
                                            "high",
                                            "low",
                                            "seed",
                                            "detect_negative"};

uint32_t hash(std::string_view text) {
  uint32_t value = 2166136261u;
  for (const char c : text) value = (value ^ static_cast<uint8_t>(c)) * 16777619u;
  return value;
}

uint16_t short_hash(std::string_view text) {
  const uint32_t value = hash(text);
  return static_cast<uint16_t>(value ^ value >> 16);
}

uint32_t hash_of(std::string_view domain, std::string_view type) {
  return hash(std::string(domain) + ":" + std::string(type));
}

enum class Kind : uint8_t { kInt, kFloat, kText, kInts, kFloats, kTensor, kTexts, kCount };

class In {
 public:
  explicit In(std::span<const std::byte> bytes) : left_(bytes) {}

  /// Zeros after the end.
  template <class T>
  T take() {
    T value{};
    const size_t size = std::min(sizeof(T), left_.size());
    if (size > 0) std::memcpy(&value, left_.data(), size);
    left_ = left_.subspan(size);
    return value;
  }
  size_t below(size_t count) { return take<uint8_t>() % count; }
  int64_t integer() {
    const auto value = take<int8_t>();
    return value == kLong ? take<int64_t>() : value;
  }
  std::string text() {
    std::string made(below(kMostText), '\0');
    for (char& c : made) c = take<char>();
    return made;
  }
  void fill(std::span<std::byte> bytes) {
    if (const auto same = take<uint8_t>(); same != 0) {
      std::fill(bytes.begin(), bytes.end(), static_cast<std::byte>(same));
      return;
    }
    const size_t size = std::min(bytes.size(), left_.size());
    std::copy_n(left_.begin(), size, bytes.begin());
    left_ = left_.subspan(size);
  }
  template <class T, class Make>
  std::vector<T> list(const Make& make) {
    std::vector<T> made;
    for (size_t left = below(kMostInList); left > 0; --left) made.push_back(make());
    return made;
  }

  Tensor tensor() {
    DType dtype = static_cast<DType>(below(27));
    if (dtype == DType::kUndefined) dtype = DType::kFloat32;
    std::vector<int64_t> dims(below(kMostRank + 1));
    int64_t elements = 1;
    for (int64_t& dim : dims) {
      dim = take<uint8_t>();
      if (elements * dim > kMostElements) dim = 1;
      elements *= dim;
    }
    if (dtype == DType::kString) {
      std::vector<std::string> texts(static_cast<size_t>(elements));
      for (std::string& one : texts) one = text();
      return Tensor::of_strings(Shape(dims), std::move(texts));
    }
    Tensor made = Tensor::make(dtype, Shape(dims));
    fill(made.mutable_bytes());
    if (dtype == DType::kBool)  // as the readers have it
      for (std::byte& one : made.mutable_bytes()) one &= std::byte{1};
    return made;
  }

  Attribute attribute() {
    switch (static_cast<Kind>(below(static_cast<size_t>(Kind::kCount)))) {
      case Kind::kFloat:
        return take<float>();
      case Kind::kText:
        return text();
      case Kind::kInts:
        return list<int64_t>([this] { return integer(); });
      case Kind::kFloats:
        return list<float>([this] { return take<float>(); });
      case Kind::kTensor:
        return tensor();
      case Kind::kTexts:
        return list<std::string>([this] { return text(); });
      default:
        return integer();
    }
  }

 private:
  std::span<const std::byte> left_;
};

class Out {
 public:
  std::vector<std::byte> bytes;

  template <class T>
  void put(T value) {
    const auto raw = std::as_bytes(std::span(&value, 1));
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  }
  void count(size_t value) { put(static_cast<uint8_t>(value)); }
  void integer(int64_t value) {
    if (value > kLong && value < 128) return put(static_cast<int8_t>(value));
    put(kLong);
    put(value);
  }
  void text(std::string_view value) {
    value = value.substr(0, kMostText - 1);
    count(value.size());
    for (const char c : value) put(c);
  }
  template <class List, class Put>
  void list(const List& values, const Put& put_one) {
    const size_t size = std::min(values.size(), kMostInList - 1);
    count(size);
    for (size_t k = 0; k < size; ++k) put_one(values[k]);
  }

  void tensor(const Tensor& value) {
    count(static_cast<size_t>(value.dtype()));
    count(static_cast<size_t>(value.shape().rank()));
    for (const int64_t dim : value.shape()) count(static_cast<size_t>(dim));
    if (value.dtype() == DType::kString) {
      for (const std::string& one : value.strings()) text(one);
      return;
    }
    count(0);
    bytes.insert(bytes.end(), value.bytes().begin(), value.bytes().end());
  }

  void attribute(const Attribute& value) {
    if (const auto* number = std::get_if<int64_t>(&value)) return kind(Kind::kInt), integer(*number);
    if (const auto* number = std::get_if<float>(&value)) return kind(Kind::kFloat), put(*number);
    if (const auto* one = std::get_if<std::string>(&value)) return kind(Kind::kText), text(*one);
    if (const auto* list_of = std::get_if<std::vector<int64_t>>(&value))
      return kind(Kind::kInts), list(*list_of, [this](int64_t x) { integer(x); });
    if (const auto* list_of = std::get_if<std::vector<float>>(&value))
      return kind(Kind::kFloats), list(*list_of, [this](float x) { put(x); });
    if (const auto* one = std::get_if<Tensor>(&value)) return kind(Kind::kTensor), tensor(*one);
    if (const auto* list_of = std::get_if<std::vector<std::string>>(&value))
      return kind(Kind::kTexts), list(*list_of, [this](const std::string& x) { text(x); });
    kind(Kind::kInt), integer(0);
  }

 private:
  void kind(Kind value) { count(static_cast<size_t>(value)); }
};

}  // namespace

const ops::Registry& registry_of(uint8_t number) {
  constexpr std::array kProfiles = {simulate::Profile::kX64, simulate::Profile::kWasm, simulate::Profile::kArm64,
                                    simulate::Profile::kAvx2};
  return number == 0 ? ops::standard() : simulate::registry(kProfiles[(number - 1u) % kProfiles.size()]);
}

OperatorCase decode(std::span<const std::byte> bytes) {
  In in(bytes);
  OperatorCase made;
  made.registry = static_cast<uint8_t>(in.below(5));
  const auto wanted = in.take<uint32_t>();
  const auto known = registry_of(made.registry).ops();
  const ops::Op* op = known[wanted % known.size()];
  for (const ops::Op* one : known)
    if (hash_of(one->domain, one->type) == wanted) op = one;
  made.domain = op->domain;
  made.type = op->type;
  made.opset = 1 + static_cast<int64_t>(in.below(28));
  made.outputs = in.below(6);
  for (size_t left = in.below(kMostInputs); left > 0; --left) {
    const size_t kind = in.below(4);
    made.inputs.push_back(kind == 0 ? GivenInput{} : GivenInput{in.tensor(), kind == 1});
  }
  for (size_t left = in.below(kMostAttributes); left > 0; --left) {
    const auto hashed = in.take<uint16_t>();
    std::string_view name = kAttributes[hashed % std::size(kAttributes)];
    for (const std::string_view one : kAttributes)
      if (short_hash(one) == hashed) name = one;
    Attribute value = in.attribute();
    // A name that the operator does not have says nothing about its kernel: it is refused before.
    if (ops::has_attribute(made.domain, made.type, name)) made.attributes[name] = std::move(value);
  }
  return made;
}

std::vector<std::byte> encode(const OperatorCase& one) {
  Out out;
  out.count(one.registry);
  out.put(hash_of(one.domain, one.type));
  out.count(static_cast<size_t>(one.opset - 1));
  out.count(one.outputs);
  const size_t inputs = std::min(one.inputs.size(), kMostInputs - 1);
  out.count(inputs);
  for (size_t k = 0; k < inputs; ++k) {
    const bool absent = one.inputs[k].tensor.empty();
    out.count(absent ? 0 : one.inputs[k].constant ? 1 : 2);
    if (!absent) out.tensor(one.inputs[k].tensor);
  }
  std::vector<const Attributes::value_type*> named;
  for (const auto& entry : one.attributes)
    if (std::find(std::begin(kAttributes), std::end(kAttributes), entry.first) != std::end(kAttributes) &&
        named.size() + 1 < kMostAttributes)
      named.push_back(&entry);
  out.count(named.size());
  for (const auto* entry : named) {
    out.put(short_hash(entry->first));
    out.attribute(entry->second);
  }
  return out.bytes;
}

}  // namespace tersor::fuzz
