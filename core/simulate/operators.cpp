// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/operators.h"

#include <deque>

#include "core/simulate/operator_parts.h"

namespace tersor::simulate {

namespace {

struct Row {
  std::string_view domain, type;
  PrepareFunction prepare;
};

// The list: one line per integer operator. Sigmoid and Tanh replace the standard ones.
constexpr Row kRows[] = {
    {"", "QLinearConv", prepare_qlinear_conv},
    {"", "QLinearMatMul", prepare_qlinear_matmul},
    {"com.microsoft", "MatMulIntegerToFloat", prepare_matmul_integer_to_float},
    {"com.microsoft", "QGemm", prepare_qgemm},
    {"com.microsoft", "QLinearAdd", prepare_qlinear_add},
    {"com.microsoft", "QLinearMul", prepare_qlinear_mul},
    {"com.microsoft", "QLinearAveragePool", prepare_qlinear_average_pool},
    {"com.microsoft", "QLinearGlobalAveragePool", prepare_qlinear_global_average_pool},
    {"com.microsoft", "QLinearSigmoid", prepare_qlinear_sigmoid},
    {"com.microsoft", "QLinearLeakyRelu", prepare_qlinear_leaky_relu},
    {"com.microsoft", "QLinearSoftmax", prepare_qlinear_softmax},
    {"com.microsoft", "QLinearConcat", prepare_qlinear_concat},
    {"com.tersor", "MaxPool", prepare_integer_max_pool},
    {"", "Sigmoid", prepare_sigmoid},
    {"", "Tanh", prepare_tanh},
};

/// The records of a profile live as long as the program.
const std::deque<ops::Op>& records(Profile profile) {
  const auto make = [](Profile of) {
    std::deque<ops::Op> made;
    for (const Row& row : kRows) {
      ops::Op op;
      op.domain = row.domain;
      op.type = row.type;
      op.prepare = [prepare = row.prepare, of](ops::Setup& setup) { return prepare(setup, of); };
      made.push_back(std::move(op));
    }
    return made;
  };
  static const std::deque<ops::Op> x64 = make(Profile::kX64), wasm = make(Profile::kWasm),
                                   arm64 = make(Profile::kArm64);
  switch (profile) {
    case Profile::kWasm:
      return wasm;
    case Profile::kArm64:
      return arm64;
    default:
      return x64;
  }
}

ops::Registry make_registry(Profile profile) {
  std::vector<const ops::Op*> list;
  for (const ops::Op& op : records(profile)) list.push_back(&op);
  return ops::standard().with(list);
}

}  // namespace

const ops::Registry& registry(Profile profile) {
  static const ops::Registry x64 = make_registry(Profile::kX64), wasm = make_registry(Profile::kWasm),
                             arm64 = make_registry(Profile::kArm64);
  switch (profile) {
    case Profile::kX64:
      return x64;
    case Profile::kWasm:
      return wasm;
    case Profile::kArm64:
      return arm64;
    case Profile::kAvx2:
      break;
  }
  throw Error(ErrorCode::kInvalidArgument, "The runtime avx2 (16-bit saturation without VNNI) is not simulated yet.",
              "runtime", "Use x64, wasm or arm64.");
}

}  // namespace tersor::simulate
