// SPDX-License-Identifier: Apache-2.0
// How far a model's outputs lie from those of a reference: the signal-to-noise ratio, pooled over all samples.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/fields.h"
#include "core/tensor/tensor.h"

namespace tersor::evaluate {

/// 10 * log10(signal / noise), both greater than 0. Our own logarithm, so the same digits on every machine (error below
/// 1e-12).
double decibels(double signal, double noise);

struct OutputDifference {
  std::string name;
  bool exact = false;             // every element equal
  std::optional<double> sqnr_db;  // absent when exact, and where an infinity or NaN stands on one side only
  int64_t not_finite = 0;         // elements that are infinite or NaN on one side only

  static constexpr auto fields() {
    return std::make_tuple(
        field("name", &OutputDifference::name, "Name of the output."),
        field("exact", &OutputDifference::exact, "Equal in every element."),
        field("sqnr_db", &OutputDifference::sqnr_db, "SQNR in dB over all samples; null when exact."),
        field("not_finite", &OutputDifference::not_finite, "Elements that are infinite or NaN on one side only."));
  }
};

/// Fed sample by sample, by any number of workers; merged in any grouping it gives the same numbers.
class OutputDifferences {
 public:
  explicit OutputDifferences(std::vector<std::string> names);
  /// Outputs of one sample, which comes once. Error kMismatch when an output has another shape than the reference's.
  void add(int64_t sample, std::span<const Tensor> reference, std::span<const Tensor> outputs);
  void merge(OutputDifferences&& other);

  std::vector<OutputDifference> result() const;
  /// Of the output where it is lowest; absent when all are exact.
  std::optional<double> least_sqnr_db() const;

 private:
  struct Sums {
    double signal = 0;
    double noise = 0;
    int64_t not_finite = 0;
  };
  struct Record {
    int64_t sample = 0;
    std::vector<Sums> outputs;
  };
  std::vector<std::string> names_;
  std::vector<Record> records_;
};

}  // namespace tersor::evaluate
