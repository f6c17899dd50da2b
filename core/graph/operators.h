// SPDX-License-Identifier: Apache-2.0
// What ONNX says of its operators, as far as the rooms below the kernels ask: one record for each, in one table. The
// kernels' part of the record is ops::Op, found by the same name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tersor {

/// What the shape of output 0 follows from.
enum class OutputShape {
  kOwnShape,     // a rule of the operator's own
  kSameShape,    // it is that of input 0
  kSameRank,     // it has as many axes as input 0
  kBroadcast,    // numpy's rule over all inputs
  kPooledToOne,  // input 0's batch and channels, and 1 for each further axis
  kScalar,
  kVector,
  kMatrix,
  kFourAxes,
};

/// What the element types of the outputs follow from.
enum class OutputType {
  kOwnType,       // a rule of the operator's own
  kSameType,      // that of input 0
  kTypeOfSecond,  // that of input 1
  kTypeOfThird,   // that of input 2
  kInt32,
  kInt64,
  kBool,
  kThenInt64,  // output 0 has the type of input 0, further ones are int64
  kThenBool,   // output 0 has the type of input 0, further ones are bool
};

/// An operator of ONNX's own domain, in all its versions together.
struct Operator {
  std::string_view name;
  int since;  // first operator set that has it
  OutputShape shape;
  OutputType type;
  std::string_view attributes = "";  // names with a blank between
  int removed = 0;                   // first operator set without it, 0: none
};

/// Null where ONNX's own domain never had it.
const Operator* find_operator(std::string_view name);

/// True for every operator name that ONNX's own domain has or had, and for the domains of ONNX and ONNX Runtime
/// whatever the name.
bool is_known_operator(std::string_view domain, std::string_view op_type);

/// Every operator name that ONNX's own domain has or had.
std::vector<std::string> operator_names();

/// True when that version of ONNX's own operator set has the operator.
bool is_in_opset(std::string_view op_type, int64_t version);

}  // namespace tersor
