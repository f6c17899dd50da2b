// SPDX-License-Identifier: Apache-2.0
// .csv, .tsv: one sample for each row of numbers. A first row that names the columns is passed over. One column more
// than the input takes is that of the labels. By hand: rows of numbers need strtod, and no types or quoted texts.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/samples/format.h"

namespace tersor::samples {

namespace {

constexpr uint64_t kPartBytes = uint64_t{1} << 20;
constexpr uint64_t kMostRowBytes = uint64_t{64} << 20;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  while (!text.empty() && kBlanks.find(text.front()) != std::string_view::npos) text.remove_prefix(1);
  while (!text.empty() && kBlanks.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  return text;
}

/// As trimmed(), and without the quotes around the field.
std::string_view unquoted(std::string_view field) {
  field = trimmed(field);
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
    field = trimmed(field.substr(1, field.size() - 2));
  return field;
}

/// Calls visit(column from 0, field) for each field of a row.
template <class Visit>
void visit_fields(std::string_view row, char separator, Visit&& visit) {
  for (int64_t column = 0;; ++column) {
    const size_t end = std::min(row.find(separator), row.size());
    visit(column, unquoted(row.substr(0, end)));
    if (end == row.size()) return;
    row.remove_prefix(end + 1);
  }
}

int64_t count_fields(std::string_view row, char separator) {
  return 1 + static_cast<int64_t>(std::count(row.begin(), row.end(), separator));
}

char separator_of(std::string_view row) {
  for (char separator : {'\t', ';'})
    if (row.find(separator) != std::string_view::npos) return separator;
  return ',';
}

/// A finite decimal number, read as the nearest double.
std::optional<double> number_of(std::string_view text) {
  constexpr std::string_view kCharacters = "0123456789+-.eE";
  char copy[64];
  if (text.empty() || text.size() >= sizeof(copy) || text.find_first_not_of(kCharacters) != std::string_view::npos)
    return std::nullopt;
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = 0;
  char* end = nullptr;
  const double value = std::strtod(copy, &end);
  if (end != copy + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// A decimal whole number of at most 18 digits.
std::optional<int64_t> whole_number_of(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text.empty() || text.size() > 18) return std::nullopt;
  int64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return negative ? -value : value;
}

/// A label as it is compared with others: whole numbers in one form ("3" for "3.0"), names as they are.
std::string label_text(std::string_view field) {
  constexpr double kMost = 1e15;
  const std::optional<double> number = number_of(field);
  if (!number || *number < 0 || *number > kMost || std::floor(*number) != *number) return std::string(field);
  return std::to_string(static_cast<int64_t>(*number));
}

bool is_whole(std::string_view label) {
  return !label.empty() && label.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Whether a column of this name holds labels.
bool names_labels(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  constexpr std::string_view kNames[] = {"label",   "labels", "class",    "classes", "class_id", "target",
                                         "targets", "y",      "category", "species", "variety"};
  return std::find(std::begin(kNames), std::end(kNames), lower) != std::end(kNames);
}

std::string quoted(std::string_view field) {
  constexpr size_t kShown = 24;
  return "\"" + std::string(field.substr(0, kShown)) + (field.size() > kShown ? "...\"" : "\"");
}

/// A row that is a sample.
struct Row {
  uint64_t offset = 0;
  uint64_t length = 0;
  uint64_t line = 0;  // from 1
};

std::string_view text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.view.data()), bytes.view.size()};
}

/// The rows of a file, found part by part, so that it need not fit into memory.
class RowFinder {
 public:
  RowFinder(const FileSource& source, size_t file) : source_(source), file_(file), size_(source.files()[file].size) {}

  /// Calls visit(row, text) for every row that is not blank.
  template <class Visit>
  void visit_rows(Visit&& visit) {
    std::string text;
    uint64_t start = 0, line = 1;
    for (uint64_t at = 0; at < size_;) {
      const Bytes part = source_.read(file_, at, std::min(kPartBytes, size_ - at));
      std::string_view rest = text_of(part);
      while (!rest.empty()) {
        const size_t end = rest.find('\n');
        text.append(rest.substr(0, end));
        if (text.size() > kMostRowBytes)
          throw Error(ErrorCode::kInvalidSamples, "Line " + std::to_string(line) + " is longer than " +
                                                      std::to_string(kMostRowBytes >> 20) +
                                                      " MB; a row of numbers for one sample is expected.");
        if (end == std::string_view::npos) break;
        visit_one(visit, text, start, line);
        start += text.size() + 1;
        text.clear();
        rest.remove_prefix(end + 1);
        ++line;
      }
      at += part.view.size();
    }
    visit_one(visit, text, start, line);
  }

 private:
  template <class Visit>
  static void visit_one(Visit& visit, std::string_view text, uint64_t start, uint64_t line) {
    if (line == 1 && text.substr(0, 3) == "\xef\xbb\xbf") {
      text.remove_prefix(3);
      start += 3;
    }
    if (trimmed(text).empty()) return;
    visit(Row{start, text.size(), line}, text);
  }

  const FileSource& source_;
  size_t file_;
  uint64_t size_;
};

class CsvFile : public SampleFile {
 public:
  CsvFile(const FileGroup& group, const ReadContext& context)
      : source_(group.source), file_(group.files[0]), input_(context.inputs[0]) {
    RowFinder(source_, file_).visit_rows([&](const Row& row, std::string_view text) { add(row, text); });
    if (rows_.empty())
      throw Error(ErrorCode::kInvalidSamples, "The file holds no row of numbers.", {},
                  "Write one sample in each row, its values separated by commas.");
    if (!has_labels_) return;
    if (label_column_ < 0) label_column_ = column_of_labels();
    const Bytes bytes = source_.read(file_, rows_[0].offset, rows_[0].length);
    read(rows_[0], text_of(bytes));
  }

  int64_t count() const override { return static_cast<int64_t>(rows_.size()); }

  std::vector<Tensor> load(int64_t index) override {
    const Row& row = rows_[static_cast<size_t>(index)];
    const Bytes bytes = source_.read(file_, row.offset, row.length);
    return {to_input_type(read(row, text_of(bytes)), input_)};
  }

  std::vector<std::string> labels() override {
    std::vector<std::string> found;
    if (has_labels_)
      for (const Row& row : rows_) {
        const Bytes bytes = source_.read(file_, row.offset, row.length);
        found.push_back(field_of(text_of(bytes), label_column_));
        if (found.back().empty()) refuse(row, "The label is empty.", "Enter it, or leave the row out.");
      }
    return found;
  }

 private:
  [[noreturn]] static void refuse(const Row& row, const std::string& message, const std::string& hint = {}) {
    throw Error(ErrorCode::kInvalidSamples, "Line " + std::to_string(row.line) + ": " + message, {}, hint);
  }

  void add(const Row& row, std::string_view text) {
    if (columns_ == 0) {
      separator_ = separator_of(text);
      columns_ = count_fields(text, separator_);
      has_labels_ = has_column_for_labels(text);
      shape_ = shape_of_row(row);
      if (names_columns(text)) return;
    }
    const int64_t found = count_fields(text, separator_);
    if (found != columns_)
      refuse(row,
             "There are " + std::to_string(found) + " values; the first row has " + std::to_string(columns_) + ".");
    if (rows_.empty() && has_labels_ && label_column_ < 0) label_column_ = column_of_names(text);
    // The first row's values tell a table of numbers from one of names.
    if (rows_.empty() && !has_labels_) read(row, text);
    rows_.push_back(row);
  }

  /// A column that is named so, where a value fewer fits the input too; else one column more than the input takes.
  bool has_column_for_labels(std::string_view text) {
    constexpr int64_t kFewest = 3;
    if (columns_ < kFewest || !fit_values(columns_ - 1, input_).shape) return false;
    if (names_columns(text))
      visit_fields(text, separator_, [&](int64_t column, std::string_view field) {
        if (label_column_ < 0 && names_labels(field)) label_column_ = column;
      });
    return label_column_ >= 0 || !fit_values(columns_, input_).shape;
  }

  /// The first or the last column, where that alone holds a name in place of a number; -1 where neither does.
  int64_t column_of_names(std::string_view text) const {
    int64_t found = -1;
    visit_fields(text, separator_, [&](int64_t column, std::string_view field) {
      const bool can_be = column == 0 || column == columns_ - 1;
      if (found < 0 && can_be && !field.empty() && !number_of(field)) found = column;
    });
    return found;
  }

  /// The first column where that holds whole numbers alone, else the last.
  int64_t column_of_labels() const {
    bool first = true, last = true;
    for (const Row& row : rows_) {
      const Bytes bytes = source_.read(file_, row.offset, row.length);
      first = first && is_whole(field_of(text_of(bytes), 0));
      last = last && is_whole(field_of(text_of(bytes), columns_ - 1));
      if (!first && !last) refuse_width(row);
    }
    return first ? 0 : columns_ - 1;
  }

  std::string field_of(std::string_view text, int64_t wanted) const {
    std::string found;
    visit_fields(text, separator_, [&](int64_t column, std::string_view field) {
      if (column == wanted) found = label_text(field);
    });
    return found;
  }

  Shape shape_of_row(const Row& row) const {
    const ValuesFit fit = fit_values(columns_ - (has_labels_ ? 1 : 0), input_);
    if (fit.shape) return *fit.shape;
    if (!input_.shape) return Shape{1, columns_};
    refuse_width(row);
  }

  [[noreturn]] void refuse_width(const Row& row) const {
    const ValuesFit fit = fit_values(columns_, input_);
    std::string hint =
        "Write the values of one sample, row-major, in each row, and its label in one more column at most.";
    if (!fit.determined) hint = "Give .npy arrays: more than one dimension of the input is free.";
    if (columns_ == 1 && separator_ == ',') hint = "Separate the values by commas, semicolons or tabs.";
    refuse(row,
           "There are " + std::to_string(columns_) + " values; the input \"" + input_.name + "\" takes " +
               input_.shape_text() + ".",
           hint);
  }

  /// Whether a field of the first row is no number but could be a name, and most are none, or they count 0, 1, 2, ...
  /// as tables do whose columns have no names, or one names the labels.
  bool names_columns(std::string_view text) const {
    bool names = false, counts = columns_ > 2, labels = false;
    int64_t numbers = 0;
    visit_fields(text, separator_, [&](int64_t column, std::string_view field) {
      counts = counts && field == std::to_string(column);
      labels = labels || (columns_ > 2 && names_labels(field));
      numbers += number_of(field) ? 1 : 0;
      const bool begins_like_one = !field.empty() && std::strchr("0123456789+-.", field[0]) == nullptr;
      names = names || (begins_like_one && field != "nan" && field != "NaN" && field != "inf");
    });
    return (names && 2 * numbers < columns_) || counts || labels;
  }

  RawArray read(const Row& row, std::string_view text) const {
    const bool whole = is_integer(input_.dtype) || input_.dtype == DType::kBool;
    return whole ? values<int64_t>(row, text) : values<double>(row, text);
  }

  template <class T>
  RawArray values(const Row& row, std::string_view text) const {
    auto held = std::make_shared<std::vector<T>>();
    held->reserve(static_cast<size_t>(columns_));
    visit_fields(text, separator_, [&](int64_t column, std::string_view field) {
      if (!has_labels_ || column != label_column_) held->push_back(value<T>(row, column, field));
    });
    constexpr DType kType = std::is_same_v<T, int64_t> ? DType::kInt64 : DType::kFloat64;
    return {kType, false, shape_, {std::as_bytes(std::span(*held)), held}};
  }

  template <class T>
  T value(const Row& row, int64_t column, std::string_view field) const {
    std::optional<T> found;
    if constexpr (std::is_same_v<T, int64_t>)
      found = whole_number_of(field);
    else
      found = number_of(field);
    if (found) return *found;
    const bool decimal_comma = separator_ != ',' && field.find(',') != std::string_view::npos;
    refuse(row,
           field.empty() ? "Column " + std::to_string(column + 1) + " is empty."
                         : "Column " + std::to_string(column + 1) + " is " + quoted(field) + ", which is no " +
                               (std::is_same_v<T, int64_t> ? "whole" : "finite") + " number.",
           decimal_comma ? "Write numbers with a decimal point."
                         : "Repair this row or leave it out; every column is a value of the sample.");
  }

  const FileSource& source_;
  size_t file_;
  const InputSpec& input_;
  char separator_ = ',';
  int64_t columns_ = 0;
  bool has_labels_ = false;
  int64_t label_column_ = -1;  // with has_labels_: known once the rows are
  Shape shape_;
  std::vector<Row> rows_;
};

}  // namespace

bool is_csv(std::string_view path, std::span<const std::byte> head) {
  const std::string extension = extension_of(path);
  if (extension != ".csv" && extension != ".tsv") return false;
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  constexpr std::string_view kControl("\0\1\2\3\4\5\6\7\x0e\x0f\x1b\x7f", 12);
  return !text.empty() && text[0] != '<' && text.find_first_of(kControl) == std::string_view::npos;
}

std::unique_ptr<SampleFile> open_csv(const FileGroup& group, const ReadContext& context) {
  if (context.inputs.size() != 1)
    throw Error(
        ErrorCode::kInvalidSamples,
        "A row of a table is one tensor, and the model has " + std::to_string(context.inputs.size()) + " inputs.", {},
        "Use .npz files with an array for each input, under its name.");
  return std::make_unique<CsvFile>(group, context);
}

}  // namespace tersor::samples
