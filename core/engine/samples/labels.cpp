// SPDX-License-Identifier: Apache-2.0
#include "core/samples/labels.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/samples/fixed_batch.h"
#include "core/samples/npy.h"

namespace tersor::samples {

namespace {

constexpr int64_t kNoLabel = INT64_MIN;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  return text;
}

struct Line {
  std::string_view text;
  size_t number;  // from 1
};

/// Lines that are not blank.
std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  size_t number = 0;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = trimmed(text.substr(start, end - start));
    ++number;
    if (!line.empty()) lines.push_back({line, number});
    start = end + 1;
  }
  return lines;
}

std::optional<int64_t> whole_number(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > 15) return std::nullopt;
  int64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return negative ? -value : value;
}

/// The fields of a CSV line; quotes may enclose one, doubled quotes stand for one.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += line[++i];
      } else {
        quoted = !quoted;
      }
    } else if (!quoted && (c == ',' || c == ';' || c == '\t')) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  for (std::string& field : fields) field = std::string(trimmed(field));
  return fields;
}

class LabelReader {
 public:
  LabelReader(const NamedBytes& file, const DataSet& data, int64_t group, int64_t offset)
      : file_(file), data_(data), group_(group), offset_(offset) {
    TERSOR_CHECK(group >= 1);
    wanted_ = data.size() / group;
    for (const std::string& one : data.class_names()) classes_.emplace(one, static_cast<int64_t>(classes_.size()));
  }

  std::vector<int64_t> read() {
    if (data_.size() % group_ != 0)
      refuse(std::to_string(data_.size()) + " samples do not divide into groups of " + std::to_string(group_) + ".",
             "Check the size of the groups (--group).");
    std::vector<int64_t> labels;
    if (is_npy(file_.bytes)) {
      labels = from_array();
    } else {
      const std::vector<Line> lines = lines_of(text_of(file_.bytes));
      const bool csv = !lines.empty() && fields_of(lines.back().text).size() > 1;
      labels = csv ? from_csv(lines) : from_lines(lines);
    }
    check(labels);
    for (int64_t& label : labels) label += offset_;
    return labels;
  }

 private:
  [[noreturn]] void refuse(const std::string& message, const std::string& hint = {}, size_t line = 0) const {
    throw Error(ErrorCode::kInvalidLabels, message,
                "labels \"" + file_.path + "\"" + (line != 0 ? " line " + std::to_string(line) : std::string()), hint);
  }
  std::string name(int64_t index) const { return data_.name(index * group_); }

  std::vector<int64_t> from_array() const {
    RawArray raw;
    try {
      NpyArray array(
          [&](uint64_t offset, uint64_t length) {
            return Bytes{file_.bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(length)), file_.owner};
          },
          file_.bytes.size());
      const Shape& shape = array.shape();
      const bool column = shape.rank() == 1 || (shape.rank() == 2 && shape[1] == 1);
      if (!column)
        refuse("The labels have the shape " + shape.text() + "; one whole number a sample is expected.",
               shape.rank() == 2 ? "If these are scores for each class, save their argmax."
                                 : "Save them as a list of int64.");
      raw = array.part(0, Shape{shape[0]});
    } catch (const Error& error) {
      if (error.code == ErrorCode::kInvalidLabels) throw;
      throw Error(ErrorCode::kInvalidLabels, error.message, "labels \"" + file_.path + "\"", error.hint);
    }
    if (!is_integer(raw.dtype) && raw.dtype != DType::kBool)
      refuse("The labels are " + std::string(name_of(raw.dtype)) + "; whole numbers are expected.",
             "Save them as int64.");
    InputSpec spec;
    spec.name = "labels";
    spec.dtype = DType::kInt64;
    return to_input_type(raw, spec).to_int64s();
  }

  std::optional<int64_t> label_of(const std::string& text) const {
    if (const auto number = whole_number(text)) return number;
    const auto found = classes_.find(text);
    return found == classes_.end() ? std::nullopt : std::optional(found->second);
  }

  int64_t need_label(const std::string& text, size_t line) const {
    const auto label = label_of(text);
    if (!label)
      refuse("The label \"" + shortened(text) + "\" is neither a whole number nor a class name.",
             data_.class_names().empty() ? "Put a labels.txt with the class names into the data set's folder."
                                         : "Write a number from 0, or a name of labels.txt.",
             line);
    return *label;
  }

  std::vector<int64_t> from_lines(const std::vector<Line>& lines) const {
    std::vector<int64_t> labels;
    for (const Line& line : lines) labels.push_back(need_label(fields_of(line.text)[0], line.number));
    return labels;
  }

  std::vector<int64_t> from_csv(const std::vector<Line>& lines) const {
    std::unordered_map<std::string, size_t> by_name;
    for (int64_t i = 0; i < wanted_; ++i) by_name.emplace(name(i), static_cast<size_t>(i));
    std::vector<int64_t> labels(static_cast<size_t>(wanted_), kNoLabel);
    size_t other = 0;  // the first line of a sample that is not there
    std::string other_name;
    for (const Line& line : lines) {
      const std::vector<std::string> fields = fields_of(line.text);
      if (fields.size() != 2)
        refuse("A line has " + std::to_string(fields.size()) + " columns; `sample,label` are expected.",
               "Write the sample's name and its label, with a comma between them.", line.number);
      // The first line may name the columns.
      if (&line == &lines.front() && !label_of(fields[1])) continue;
      const auto found = find_sample(by_name, fields[0]);
      if (!found) {
        if (other == 0) other = line.number, other_name = fields[0];
        continue;
      }
      if (labels[*found] != kNoLabel)
        refuse("The sample \"" + shortened(fields[0]) + "\" has two labels.", "Remove one of them.", line.number);
      labels[*found] = need_label(fields[1], line.number);
    }
    // A list of more samples than are there serves; a name that is written otherwise leaves one without a label.
    if (other != 0 && std::count(labels.begin(), labels.end(), kNoLabel) > 0)
      refuse("There is no sample \"" + shortened(other_name) + "\".",
             wanted_ > 0 ? "The first is named \"" + name(0) + "\"." : "", other);
    return labels;
  }

  static std::optional<size_t> find_sample(const std::unordered_map<std::string, size_t>& by_name, std::string path) {
    std::replace(path.begin(), path.end(), '\\', '/');
    auto found = by_name.find(path);
    if (found == by_name.end()) found = by_name.find(path.substr(0, path.size() - extension_of(path).size()));
    return found == by_name.end() ? std::nullopt : std::optional(found->second);
  }

  /// One label for so many samples in a row may be what is meant.
  std::string count_hint(int64_t found) const {
    if (group_ > 1) return "Give one label for each group, in the samples' order.";
    const int64_t rows = fixed_batch(data_.inputs());
    if (rows > 1 && found == wanted_ * rows)
      return "The samples are whole batches of " + std::to_string(rows) +
             ", as the model takes them. Give each row a file of its own, so that it is a sample with a label.";
    if (found > 0 && found < wanted_ && wanted_ % found == 0)
      return "Give one label for each sample, or say that " + std::to_string(wanted_ / found) +
             " samples in a row share one (--group).";
    return "Give one label for each sample, in the samples' order.";
  }

  void check(const std::vector<int64_t>& labels) const {
    const auto found = static_cast<int64_t>(labels.size());
    const std::string things = group_ == 1 ? "samples" : "groups of " + std::to_string(group_) + " samples";
    if (found < wanted_)
      refuse("There are " + std::to_string(found) + " labels for " + std::to_string(wanted_) + " " + things +
                 ": the first without one is \"" + name(found) + "\".",
             count_hint(found));
    if (found > wanted_)
      refuse("There are " + std::to_string(found) + " labels for " + std::to_string(wanted_) + " " + things + ".",
             count_hint(found));
    for (int64_t i = 0; i < found; ++i) {
      const int64_t label = labels[static_cast<size_t>(i)];
      if (label == kNoLabel) refuse("The sample \"" + name(i) + "\" has no label.", "Add a line for it.");
      if (label < 0)
        refuse("The label of \"" + name(i) + "\" is " + std::to_string(label) + "; classes are numbered from 0.",
               "Number the classes anew, and leave out samples that have none.");
    }
  }

  const NamedBytes& file_;
  const DataSet& data_;
  int64_t group_;
  int64_t offset_;
  int64_t wanted_ = 0;
  std::unordered_map<std::string, int64_t> classes_;  // their numbers, by name
};

}  // namespace

std::vector<std::string> read_class_names(const Bytes& file) {
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const Line& line : lines_of(text_of(file.view))) {
    if (!seen.insert(line.text).second)
      throw Error(ErrorCode::kInvalidLabels, "The class \"" + shortened(line.text) + "\" stands twice.",
                  "samples \"labels.txt\" line " + std::to_string(line.number), "Name each class once.");
    names.emplace_back(line.text);
  }
  return names;
}

std::vector<int64_t> own_labels(const DataSet& data) {
  if (data.classes().empty())
    throw Error(ErrorCode::kInvalidLabels,
                "There are no labels: the samples do not all lie in class folders, and no "
                "file among them holds labels.",
                "samples", "Sort them into a folder for each class, or give a file with labels.");
  std::vector<int64_t> labels(static_cast<size_t>(data.size()));
  for (int64_t i = 0; i < data.size(); ++i) labels[static_cast<size_t>(i)] = data.classes()[*data.class_of(i)].number;
  return labels;
}

std::vector<int64_t> read_labels(const NamedBytes& file, const DataSet& data, int64_t group, int64_t label_offset) {
  return LabelReader(file, data, group, label_offset).read();
}

}  // namespace tersor::samples
