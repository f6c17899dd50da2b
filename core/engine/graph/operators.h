// SPDX-License-Identifier: Apache-2.0
// What ONNX says of its operators, as far as the rooms below the kernels ask: one record for each, in one table. The
// kernels' part of the record is ops::Op, found by the same name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

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

/// What an operator does to values, as far as rewrites ask. An operator may have several.
enum class Trait : uint32_t {
  kNone = 0,
  kView = 1,         // output 0 has the values of input 0, in their order
  kReorders = 2,     // output 0 has each value of input 0 once, in another order
  kSelects = 4,      // the outputs have values of input 0, and no others
  kRepeats = 8,      // output 0 has each value of input 0, some of them several times
  kActivation = 16,  // an activation function: each value of output 0 follows from the one of input 0 at its place
  kFunction = 32,    // the same, of functions that are no activation functions
  kArithmetic = 64,  // each value of output 0 follows from those of all inputs at its place
  kReduces = 128,    // output 0 has one value for many of input 0, along axes
  kWeighted = 256,   // multiplies input 0 by a weight, input 1
  kRecurrent = 512,  // repeats a step over a sequence; its weights are inputs 1 and 2
  kRandom = 1024,    // gives other values each time
  kClamp = 2048,     // an activation function that keeps values within bounds, and changes no others
};
constexpr Trait operator|(Trait a, Trait b) {
  return static_cast<Trait>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}
constexpr bool shares(Trait a, Trait b) {
  return (static_cast<uint32_t>(a) & static_cast<uint32_t>(b)) != 0;
}

/// Operators whose outputs have values of input 0 and no others.
constexpr Trait kMoves = Trait::kView | Trait::kReorders | Trait::kSelects | Trait::kRepeats;

/// An operator of ONNX's own domain, in all its versions together.
struct Operator {
  std::string_view name;
  int since;  // first operator set that has it
  OutputShape shape;
  OutputType type;
  std::string_view attributes = "";  // names with a blank between
  Trait traits = Trait::kNone;
  int removed = 0;  // first operator set without it, 0: none
};

/// Null where ONNX's own domain never had it.
const Operator* find_operator(std::string_view name);

/// True when an operator of ONNX's own domain has one of the traits.
bool has_trait(std::string_view name, Trait any);
/// The same of a node's operator; false for nodes of other domains.
bool has_trait(const Node& node, Trait any);

/// True for every operator name that ONNX's own domain has or had, and for the domains of ONNX and ONNX Runtime
/// whatever the name.
bool is_known_operator(std::string_view domain, std::string_view op_type);

/// Every operator name that ONNX's own domain has or had.
std::vector<std::string> operator_names();

/// True when that version of ONNX's own operator set has the operator.
bool is_in_opset(std::string_view op_type, int64_t version);

}  // namespace tersor
