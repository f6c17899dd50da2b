// SPDX-License-Identifier: Apache-2.0
// A numeric case and what is found out about it. A file holds cases of one of two forms: those a reference
// implementation made, told apart by the function they are of, and numbered ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/quant/even_bins.h"
#include "core/quant/params.h"
#include "core/quant/threshold_search.h"
#include "core/tensor/tensor.h"

namespace tersor::vectors {

struct Case {
  std::string id, title, function;  // function is empty in numbered cases
  Json input, output;
  double tolerance = 0;
  std::string deviates;  // why Tersor differs on purpose, or empty
  const Json* inputs = nullptr;

  /// The entry of "inputs" that a field of the input names.
  const Json& named(const char* field) const { return (*inputs)[input.at(field).get<std::string>()]; }
};

struct Verdict {
  enum Kind { kPassed, kFailed, kSkipped } kind = kPassed;
  std::string expected, got;
  std::string remark;
};

/// Each judges the cases it knows and gives nothing for others. Numbers are compared by the case's own tolerance.
std::optional<Verdict> judge_quantizer(const Case& one);
std::optional<Verdict> judge_histogram(const Case& one);
std::optional<Verdict> judge_activation(const Case& one);
std::optional<Verdict> judge_weight(const Case& one);
std::optional<Verdict> judge_correction(const Case& one);
std::optional<Verdict> judge_graph(const Case& one);
std::optional<Verdict> judge_similarity(const Case& one);
std::optional<Verdict> judge_numbered(const Case& one);
std::optional<Verdict> judge_numbered_graph(const Case& one);
std::optional<Verdict> judge_numbered_selection(const Case& one);
std::optional<Verdict> judge_mixed(const Case& one);
std::optional<Verdict> judge_trainable(const Case& one);

Verdict skipped(std::string reason);
/// Passed when `holds`; the texts say what was compared.
Verdict verdict(bool holds, std::string expected, std::string got, std::string remark = {});
/// Passed when all are equal within the tolerance, relative or absolute.
Verdict compared(const std::vector<double>& expected, const std::vector<double>& got, double tolerance,
                 std::string remark = {});
/// The first that failed, or both in one.
Verdict both(const Verdict& a, const Verdict& b);

bool near(double a, double b, double tolerance);
std::string text_of(const std::vector<double>& numbers);
std::string text_of(const std::vector<quant::Range>& ranges);

double number(const Json& json);
/// All numbers of nested lists, in order; a single number is a list of one.
std::vector<double> numbers(const Json& json);
std::vector<int64_t> shape_of(const Json& nested);
/// Values of a tensor's "data" along `axis`, or all in one row.
std::vector<std::vector<double>> rows_of(const std::vector<double>& data, const std::vector<int64_t>& shape,
                                         std::optional<int> axis);
/// A histogram of the file: "lo", "hi", "counts".
quant::EvenBins bins_of_case(const Json& histogram);
/// Histograms of batches, of as many bins each, as the reference joins them: over the range of all.
quant::EvenBins joined_bins(const std::vector<quant::EvenBins>& batches);
/// A float32 tensor of doubles.
Tensor tensor_of(const std::vector<double>& values, const std::vector<int64_t>& shape);

/// `threshold`, or `low` and `high`; each one number or one per channel.
std::vector<quant::Range> ranges_of(const Json& object, bool is_signed);
quant::Criterion criterion_of(const Json& input);

}  // namespace tersor::vectors
