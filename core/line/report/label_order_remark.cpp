// SPDX-License-Identifier: Apache-2.0
#include "core/report/label_order_remark.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/base/names.h"
#include "core/base/number_text.h"
#include "core/samples/labels.h"

namespace tersor::report {

namespace {

/// Lines and numbers that are said in one sentence.
constexpr size_t kMostSaid = 24;

std::string percent_of(int64_t right, int64_t count) {
  return formatted("%.1f %%", 100 * static_cast<double>(right) / static_cast<double>(count));
}

std::string shown(const std::vector<std::string>& words) {
  if (words.size() <= kMostSaid) return joined(words);
  return joined({words.begin(), words.begin() + kMostSaid}) + " and so on, as label_order in the report has them";
}

/// The class of each output; a class without an answer keeps its number where that is free.
std::map<int64_t, std::string> names_of_outputs(const evaluate::LabelOrder& order, const samples::DataSet& data) {
  std::map<int64_t, int64_t> output_of;
  for (size_t k = 0; k < order.labels.size(); ++k) output_of[order.labels[k]] = order.outputs[k];
  std::map<int64_t, std::string> names;
  std::vector<const samples::SampleClass*> left;
  for (const samples::SampleClass& one : data.classes())
    if (const auto found = output_of.find(one.number); found != output_of.end())
      names[found->second] = one.name;
    else
      left.push_back(&one);
  for (const samples::SampleClass* one : left) {
    int64_t output = one->number;
    if (names.count(output) != 0)
      for (output = data.preprocessing().label_offset; names.count(output) != 0;) ++output;
    names[output] = one->name;
  }
  return names;
}

/// Line k + 1 of labels.txt names the output k, less label_offset.
std::string lines_of(const std::map<int64_t, std::string>& names, int64_t offset) {
  const int64_t last = names.rbegin()->first - offset;
  if (last >= static_cast<int64_t>(kMostSaid)) {
    std::vector<std::string> places;
    for (const auto& [output, name] : names)
      places.push_back("\"" + name + "\" in line " + std::to_string(output - offset + 1));
    return shown(places) + ", and in the other lines names that are not there";
  }
  std::vector<std::string> lines;
  for (int64_t k = 0; k <= last; ++k) {
    const auto found = names.find(k + offset);
    lines.push_back("\"" + (found == names.end() ? "output " + std::to_string(k + offset) : found->second) + "\"");
  }
  return joined(lines);
}

std::string numbers_of(const evaluate::LabelOrder& order) {
  std::vector<std::string> changes;
  for (size_t k = 0; k < order.labels.size(); ++k)
    if (order.labels[k] != order.outputs[k])
      changes.push_back(std::to_string(order.labels[k]) + " -> " + std::to_string(order.outputs[k]));
  return shown(changes);
}

}  // namespace

std::optional<Diagnostic> label_order_remark(const evaluate::EvaluationResult& in_float, const samples::DataSet& data,
                                             std::span<const int64_t> labels) {
  if (!in_float.label_order || in_float.label_shift || !in_float.value) return std::nullopt;
  const evaluate::LabelOrder& order = *in_float.label_order;
  const std::vector<int64_t> own = data.classes().empty() ? std::vector<int64_t>() : samples::own_labels(data);
  const bool are_own = !own.empty() && std::equal(own.begin(), own.end(), labels.begin(), labels.end());
  const std::string whose = are_own && data.label_source() == samples::LabelSource::kFolders ? "folders" : "labels";
  const std::string found = "Your " + whose + " look like a reordering of the model's outputs: " +
                            percent_of(in_float.correct.value_or(0), in_float.count) + " -> " +
                            percent_of(order.correct, in_float.count) + " of " + std::to_string(in_float.count) +
                            " samples are right.";
  const auto names = are_own ? names_of_outputs(order, data) : std::map<int64_t, std::string>();
  const int64_t offset = data.preprocessing().label_offset;
  const bool has_lines = are_own && names.begin()->first >= offset;
  return Diagnostic{
      std::string(kLabelsReordered), found, "labels",
      "Look at a sample of some classes. If they are what they are called, " +
          (has_lines ? "put a file labels.txt beside the samples that names the outputs in order, one in a line: " +
                           lines_of(names, offset) + "."
                     : "number the labels as the outputs are: " + numbers_of(order) + ".")};
}

}  // namespace tersor::report
