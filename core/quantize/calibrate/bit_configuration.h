// SPDX-License-Identifier: Apache-2.0
// The result of a search for the number of bits of each operator (core/mixed/bit_search.h).
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/fields.h"

namespace tersor::calibrate {

/// A candidate configuration of an operator.
struct SearchedCandidate {
  int64_t index = 0;           // among the candidates that the platform and the settings allow
  int64_t weights_n_bits = 0;  // 0: the operator has no weights to quantize; 32: float
  int64_t activation_n_bits = 0;
  double sensitivity = 0;

  static constexpr auto fields() {
    return std::make_tuple(
        field("index", &SearchedCandidate::index, "Its place among the candidates that platform and settings leave."),
        field("weights_n_bits", &SearchedCandidate::weights_n_bits,
              "Bits of the weights; 0 without weights, 32 in float."),
        field("activation_n_bits", &SearchedCandidate::activation_n_bits,
              "Bits of the output; 0 where this operator quantizes none, 32 in float."),
        field("sensitivity", &SearchedCandidate::sensitivity,
              "How far the model's tensors move when this operator alone is quantized so."));
  }
  bool operator==(const SearchedCandidate&) const = default;
};

/// An operator with the candidates that the search compared.
struct SearchedOperator {
  std::string node;
  std::string op;
  std::vector<std::string> shared_with;  // nodes that read the same weight and so have the same bits
  std::vector<SearchedCandidate> candidates;
  int64_t chosen = 0;  // index into candidates

  static constexpr auto fields() {
    return std::make_tuple(
        field("node", &SearchedOperator::node, "Name of the node."),
        field("op", &SearchedOperator::op, "Its operator type."),
        field("shared_with", &SearchedOperator::shared_with, "Nodes that have the same weight, and so the same bits."),
        field("candidates", &SearchedOperator::candidates, "What was compared."),
        field("chosen", &SearchedOperator::chosen, "Which of these was chosen, counted from 0."));
  }
  bool operator==(const SearchedOperator&) const = default;
};

/// Resources that a model needs under one choice of candidates.
struct TakenResources {
  double weights_memory = 0, activation_memory = 0, total_memory = 0, bops = 0;

  static constexpr auto fields() {
    return std::make_tuple(field("weights_memory", &TakenResources::weights_memory, "Bytes of the quantized weights."),
                           field("activation_memory", &TakenResources::activation_memory,
                                 "Bytes of the activations that exist at the same time, at most."),
                           field("total_memory", &TakenResources::total_memory, "Bytes of both together."),
                           field("bops", &TakenResources::bops, "Bit operations of one run."));
  }
  bool operator==(const TakenResources&) const = default;
};

/// The chosen candidate of each operator, and the resources that the choice takes.
struct BitConfiguration {
  std::string measured_for;  // SHA-256 of what the sensitivities depend on; empty: nothing was searched
  int64_t images = 0;        // number of samples that the sensitivities were measured on
  std::vector<SearchedOperator> operators;
  TakenResources taken, least, most;
  double sensitivity = 0, gap = 0;

  bool empty() const { return measured_for.empty(); }

  static constexpr auto fields() {
    return std::make_tuple(
        field("measured_for", &BitConfiguration::measured_for,
              "SHA-256 of the settings that the sensitivities depend on."),
        field("images", &BitConfiguration::images, "Samples that the sensitivities were measured on."),
        field("operators", &BitConfiguration::operators, "Operators that had a choice, in the order of the graph."),
        field("taken", &BitConfiguration::taken, "What the model takes with this choice."),
        field("least", &BitConfiguration::least,
              "With the last candidate of each operator, which has the fewest bits."),
        field("most", &BitConfiguration::most, "With the first candidate of each, which has the most."),
        field("sensitivity", &BitConfiguration::sensitivity, "Sum of the sensitivities of what was chosen."),
        field("gap", &BitConfiguration::gap, "No other choice within the budgets has a sum lower by more than this."));
  }
  bool operator==(const BitConfiguration&) const = default;
};

}  // namespace tersor::calibrate
