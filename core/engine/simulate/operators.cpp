// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/operators.h"

#include <array>
#include <deque>

#include "core/simulate/late_operator.h"
#include "core/tflite/operators.h"

namespace tersor::simulate {

namespace {

bool is_first(size_t k) {
  return k == 0;
}
bool is_operand(size_t k) {
  return k == 0 || k == 3;
}
bool is_part(size_t k) {
  return k % 3 == 2;
}
bool is_chosen_from(size_t k) {
  return k == 0 || k == 1 || k == 4;
}
bool is_no_weight(size_t k) {
  return k != 3 && k != 5;
}
bool is_no_plain_weight(size_t k) {
  return k != 1 && k != 3;
}

bool is_no_block(size_t k) {
  return k == 0 || k == 5;
}

// The list: one line per integer operator. Float functions, softmax and Resize replace the standard ones.
constexpr IntegerOperator kOperators[] = {
    {"", "QLinearConv", prepare_qlinear_conv, is_no_weight},
    {"com.microsoft", "QLinearConv", prepare_qlinear_conv, is_no_weight},
    {"", "ConvInteger", prepare_conv_integer, is_no_plain_weight},
    {"", "QLinearMatMul", prepare_qlinear_matmul},
    {"", "MatMulInteger", prepare_matmul_integer},
    {"com.microsoft", "MatMulIntegerToFloat", prepare_matmul_integer_to_float},
    {"com.microsoft", "DynamicQuantizeMatMul", prepare_dynamic_quantize_matmul},
    {"com.microsoft", "QGemm", prepare_qgemm},
    {"com.microsoft", "MatMulNBits", prepare_matmul_nbits, is_no_block},
    {"", "DynamicQuantizeLinear", prepare_dynamic_quantize_linear},
    {"com.microsoft", "QLinearAdd", prepare_qlinear_add, is_operand, {2, 5, 7}},
    {"com.microsoft", "QLinearMul", prepare_qlinear_mul, is_operand, {2, 5, 7}},
    {"com.microsoft", "QLinearAveragePool", prepare_qlinear_average_pool, is_first, {2, 4}},
    {"com.microsoft", "QLinearGlobalAveragePool", prepare_qlinear_global_average_pool, is_first, {2, 4}},
    {"com.microsoft", "QLinearSigmoid", prepare_qlinear_sigmoid, is_first, {2, 4}},
    {"com.microsoft", "QLinearLeakyRelu", prepare_qlinear_leaky_relu, is_first, {2, 4}},
    {"com.microsoft", "QLinearSoftmax", prepare_qlinear_softmax, is_first, {2, 4}},
    {"com.microsoft", "QLinearConcat", prepare_qlinear_concat, is_part},
    {"com.microsoft", "QLinearWhere", prepare_qlinear_where, is_chosen_from},
    {"com.tersor", "MaxPool", prepare_integer_max_pool},
    {"", "QuantizeLinear", prepare_quantize_linear, nullptr, {}, 10},
    {"", "Sigmoid", prepare_sigmoid},
    {"", "Tanh", prepare_tanh},
    {"", "Softmax", prepare_softmax},
    {"", "LogSoftmax", prepare_softmax},
    {"", "Resize", prepare_resize, nullptr, {}, 10},
};

// That of TensorFlow Lite Micro runs what it does not compute itself as kX64.
constexpr std::array kProfiles = {Profile::kX64, Profile::kWasm, Profile::kArm64, Profile::kAvx2};

/// The records of a profile live as long as the program.
std::deque<ops::Op> make_records(Profile profile) {
  std::deque<ops::Op> records;
  for (const IntegerOperator& one : kOperators) {
    ops::Op op;
    op.domain = one.domain;
    op.type = one.type;
    op.since = one.since;
    op.prepare = [&one, profile](ops::Setup& setup) { return prepare_now_or_later(one, setup, profile); };
    records.push_back(std::move(op));
  }
  return records;
}

ops::Registry make_registry(const std::deque<ops::Op>& records) {
  std::vector<const ops::Op*> list;
  for (const ops::Op& op : records) list.push_back(&op);
  return ops::standard().with(list).with(tflite::operators());
}

}  // namespace

const ops::Registry& registry(Profile profile) {
  static const std::array<std::deque<ops::Op>, kProfiles.size()> records = [] {
    std::array<std::deque<ops::Op>, kProfiles.size()> made;
    for (size_t k = 0; k < made.size(); ++k) made[k] = make_records(kProfiles[k]);
    return made;
  }();
  static const std::array<ops::Registry, kProfiles.size()> registries = {
      make_registry(records[0]), make_registry(records[1]), make_registry(records[2]), make_registry(records[3])};
  const auto* found = std::find(kProfiles.begin(), kProfiles.end(), profile);
  return registries[found == kProfiles.end() ? 0 : static_cast<size_t>(found - kProfiles.begin())];
}

}  // namespace tersor::simulate
