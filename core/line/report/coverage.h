// SPDX-License-Identifier: Apache-2.0
// How a platform runs the operators of a model; known before any sample was seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/fields.h"
#include "core/base/names.h"
#include "core/decide/placement.h"
#include "core/decide/plan.h"
#include "core/decide/role.h"
#include "core/graph/graph.h"
#include "core/onnx/left_out.h"

namespace tersor::report {

/// How an operator is run on the platform.
enum class Support {
  kInteger,  // runs as an integer kernel
  kFused,    // is part of the layer in front of it
  kMoves,    // only moves bytes; keeps int8
  kFloat,    // runs in float
  kFolded,   // was computed in advance
};

/// How a node is run.
struct Fate {
  Support support = Support::kFloat;
  std::string reason;  // why it stays float
};

Fate fate_of(const ptq::NodeRole& role, const ptq::NodeOutcome& outcome);

/// The nodes of an operator type that are run alike.
struct CoverageRow {
  std::string op;
  std::string domain;
  int64_t nodes = 0;
  Support support = Support::kFloat;
  std::string reason;
  std::optional<double> mac_share;

  static constexpr auto fields() {
    return std::make_tuple(
        field("op", &CoverageRow::op, "Operator type."),
        field("domain", &CoverageRow::domain, "Its domain; empty for ONNX's own."),
        field("nodes", &CoverageRow::nodes, "Nodes of that type with that fate."),
        field("support", &CoverageRow::support, "integer, fused, moves, float or folded."),
        field("reason", &CoverageRow::reason, "Why it stays float."),
        field("mac_share", &CoverageRow::mac_share, "Share of the multiply-adds; null where unknown."));
  }
};

/// A node that runs in float, and the reason.
struct FloatNode {
  std::string name;
  std::string op;
  std::string reason;

  static constexpr auto fields() {
    return std::make_tuple(field("name", &FloatNode::name, "Node, or its output where it has no name."),
                           field("op", &FloatNode::op, "Operator type."),
                           field("reason", &FloatNode::reason, "A sentence."));
  }
};

/// The nodes that run in float, in graph order.
std::vector<FloatNode> float_nodes(const Graph& graph, const std::vector<ptq::NodeOutcome>& outcomes);

/// How the platform runs the operators of a model, and the expected file size.
struct Coverage {
  std::vector<CoverageRow> rows;
  int64_t core_nodes = 0;
  int64_t integer_core_nodes = 0;
  std::vector<FloatNode> stays_float;
  int64_t may_stay_float = 0;
  int64_t estimated_size_bytes = 0;
  int64_t estimated_largest_bytes = 0;
  std::optional<int64_t> calibration_bytes;

  static constexpr auto fields() {
    return std::make_tuple(
        field("rows", &Coverage::rows, "By operator type and fate."),
        field("core_nodes", &Coverage::core_nodes, "Conv, ConvTranspose, Gemm and MatMul."),
        field("integer_core_nodes", &Coverage::integer_core_nodes, "Those of them that run as integers."),
        field("stays_float", &Coverage::stays_float, "What runs in float, each with the reason."),
        field(
            "may_stay_float", &Coverage::may_stay_float,
            "Of a forecast, the kernels with integer arithmetic or weights that samples may show to need float, since "
            "a logarithm, root or reciprocal reads them; 0 once the file is made."),
        field("estimated_size_bytes", &Coverage::estimated_size_bytes, "Expected size of the quantized file."),
        field("estimated_largest_bytes", &Coverage::estimated_largest_bytes,
              "The same where samples show that all weights before a logarithm, root or reciprocal need float, and "
              "those held aside that tables, weights of recurrent layers and other constants do."),
        field("calibration_bytes", &Coverage::calibration_bytes,
              "Memory that calibration takes in each thread or worker, one sample at a time; null where shapes are not "
              "known before the samples."));
  }
};

/// `original` is the graph as read. `prepared` is the graph in which quantizers were placed, with a role and an outcome
/// per node. Nodes that only `original` has were folded. Operators in the bodies of If, Loop and Scan are rows too.
/// `left_out`: nodes that none of both graphs has, and that stay in the file as they are; null: none.
Coverage coverage_of(const Graph& original, const Graph& prepared, const ptq::Placement& placement,
                     const std::vector<ptq::NodeOutcome>& outcomes, const onnx::LeftOut* left_out = nullptr);

}  // namespace tersor::report

template <>
struct tersor::EnumWords<tersor::report::Support> {
  using S = tersor::report::Support;
  static constexpr const char* kind = "support";
  static constexpr std::pair<S, std::string_view> words[] = {{S::kInteger, "integer"},
                                                             {S::kFused, "fused"},
                                                             {S::kMoves, "moves"},
                                                             {S::kFloat, "float"},
                                                             {S::kFolded, "folded"}};
};
