// SPDX-License-Identifier: Apache-2.0
#include "core/report/kept_detections.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/sort_stably.h"

namespace tersor::report {

namespace {

constexpr double kScore = 0.25, kOverlap = 0.5;
constexpr size_t kMostDetections = 300;
constexpr int64_t kOfBox = 4;

/// Numbers in rows and columns.
struct Table {
  int64_t rows = 0, columns = 0;
  std::vector<double> values;
  double at(int64_t row, int64_t column) const { return values[static_cast<size_t>(row * columns + column)]; }
};

Table columns_of(const Table& from, int64_t first, int64_t count) {
  Table part{from.rows, count, {}};
  for (int64_t r = 0; r < from.rows; ++r)
    for (int64_t c = first; c < first + count; ++c) part.values.push_back(from.at(r, c));
  return part;
}

Table transposed(const Table& from) {
  Table turned{from.columns, from.rows, {}};
  for (int64_t c = 0; c < from.columns; ++c)
    for (int64_t r = 0; r < from.rows; ++r) turned.values.push_back(from.at(r, c));
  return turned;
}

template <class Is>
bool all(const Table& table, Is&& is) {
  return std::all_of(table.values.begin(), table.values.end(), is);
}

bool is_probability(double x) {
  return x >= 0 && x <= 1;
}

bool is_whole(double x) {
  return x == std::floor(x) && std::fabs(x) < 1e9;
}

int64_t label_of(double x) {
  return is_whole(x) ? static_cast<int64_t>(x) : -1;
}

/// The part of a tensor that belongs to one sample of a batch (0: the first axis is none), as a table; nothing where it
/// has more than two axes.
std::optional<Table> table_of(const Tensor& tensor, int64_t batch, int64_t sample) {
  std::vector<int64_t> lengths;
  const Shape& shape = tensor.shape();
  const bool has_batch = batch > 0;
  if (has_batch && (shape.rank() < 2 || shape[0] != batch)) return std::nullopt;
  for (int axis = has_batch ? 1 : 0; axis < shape.rank(); ++axis) lengths.push_back(shape[axis]);
  while (lengths.size() > 2 && lengths[0] == 1) lengths.erase(lengths.begin());
  if (lengths.empty() || lengths.size() > 2 || tensor.dtype() == DType::kString) return std::nullopt;
  Table table{lengths[0], lengths.size() == 2 ? lengths[1] : 1, {}};
  const std::vector<double> all = tensor.to_doubles();
  const auto size = static_cast<std::ptrdiff_t>(table.rows * table.columns);
  table.values.assign(all.begin() + sample * size, all.begin() + (sample + 1) * size);
  return table;
}

enum class Form { kCorners, kSizes, kOffsets };

Form form_of(const Table& boxes) {
  bool corners = true, sizes = true;
  for (int64_t r = 0; r < boxes.rows; ++r) {
    corners = corners && boxes.at(r, 2) >= boxes.at(r, 0) && boxes.at(r, 3) >= boxes.at(r, 1);
    sizes = sizes && boxes.at(r, 2) >= 0 && boxes.at(r, 3) >= 0;
  }
  return corners ? Form::kCorners : sizes ? Form::kSizes : Form::kOffsets;
}

/// Boxes, scores by class and, where they are known, labels of one sample.
struct Found {
  Table boxes, scores;
  std::optional<Table> labels = {};
};

void to_probabilities(Table& scores, const Table& reference) {
  if (all(reference, is_probability)) return;
  for (double& x : scores.values) x = 1 / (1 + std::exp(-x));
}

/// The class that most rows have: in a Softmax that of no object.
int64_t background(const Table& scores) {
  std::vector<int64_t> rows(static_cast<size_t>(scores.columns), 0);
  for (int64_t r = 0; r < scores.rows; ++r) {
    int64_t best = 0;
    for (int64_t c = 1; c < scores.columns; ++c)
      if (scores.at(r, c) > scores.at(r, best)) best = c;
    ++rows[static_cast<size_t>(best)];
  }
  return std::max_element(rows.begin(), rows.end()) - rows.begin();
}

std::vector<Detection> detections_of(const Found& found, Form form, std::optional<int64_t> no_object, bool objectness) {
  std::vector<Detection> detections;
  for (int64_t r = 0; r < found.scores.rows; ++r)
    for (int64_t c = objectness ? 1 : 0; c < found.scores.columns; ++c) {
      const double score = found.scores.at(r, c) * (objectness ? found.scores.at(r, 0) : 1);
      if (c == no_object || !(score >= kScore)) continue;
      Detection one{{}, score, found.labels ? label_of(found.labels->at(r, 0)) : c};
      if (form == Form::kOffsets)  // what lies in the same row, and nothing else, is at the same place
        one.corners = {static_cast<double>(2 * r), 0, static_cast<double>(2 * r + 1), 1};
      for (int64_t k = 0; k < kOfBox && form != Form::kOffsets; ++k) {
        const double x = found.boxes.at(r, k);
        const double half = form == Form::kSizes ? found.boxes.at(r, k % 2 + 2) / 2 : 0;
        one.corners[static_cast<size_t>(k)] =
            form == Form::kCorners ? x : found.boxes.at(r, k % 2) + (k < 2 ? -half : half);
      }
      detections.push_back(one);
    }
  return without_doubles(std::move(detections));
}

evaluate::Agreement kept_of(const Found& reference, Found other, Form form, bool has_background, bool objectness) {
  Found exact = reference;
  to_probabilities(exact.scores, reference.scores);
  to_probabilities(other.scores, reference.scores);
  std::optional<int64_t> no_object;
  if (has_background && exact.scores.columns > 1 && exact.scores.rows > 0) no_object = background(exact.scores);
  return kept_detections(detections_of(exact, form, no_object, objectness),
                         detections_of(other, form, no_object, objectness));
}

/// Rows of boxes and scores, whether they are along the last axis or the one before; the same for both models.
std::optional<std::pair<Table, Table>> in_rows(const Table& reference, const Table& other) {
  const auto fits = [](const Table& table) {
    return table.columns > kOfBox && table.rows > 0 &&
           all(columns_of(table, kOfBox, table.columns - kOfBox), is_probability);
  };
  const Table turned = transposed(reference);
  const bool as_is = fits(reference), as_turned = fits(turned);
  if (!as_is && !as_turned) {  // scores before their Sigmoid
    if (std::min(reference.columns, turned.columns) <= kOfBox) return std::nullopt;
    return reference.columns <= turned.columns ? std::pair(reference, other) : std::pair(turned, transposed(other));
  }
  if (as_is && (!as_turned || reference.columns <= turned.columns)) return std::pair(reference, other);
  return std::pair(turned, transposed(other));
}

/// Of an output that holds boxes and scores: rows of box, score and label after a sort, else of box and scores.
std::optional<evaluate::Agreement> kept_in_one(const OutputTrait& trait, const Table& a, const Table& b) {
  if (trait.sorted && a.columns == kOfBox + 2 && b.columns == a.columns) {
    for (const int64_t label : {kOfBox + 1, kOfBox}) {
      const int64_t score = label == kOfBox ? kOfBox + 1 : kOfBox;
      if (!all(columns_of(a, label, 1), is_whole) || !all(columns_of(a, score, 1), is_probability)) continue;
      const auto cut = [&](const Table& table) {
        return Found{columns_of(table, 0, kOfBox), columns_of(table, score, 1), columns_of(table, label, 1)};
      };
      const Form form = form_of(cut(a.rows > 0 ? a : b).boxes);
      if (form == Form::kOffsets) return std::nullopt;
      return kept_of(cut(a), cut(b), form, false, false);
    }
  }
  if (!trait.sorted && (a.rows != b.rows || a.columns != b.columns)) return std::nullopt;
  const auto rows = in_rows(a, b);
  if (!rows || rows->first.columns != rows->second.columns) return std::nullopt;
  const auto cut = [](const Table& table) {
    return Found{columns_of(table, 0, kOfBox), columns_of(table, kOfBox, table.columns - kOfBox)};
  };
  const Found exact = cut(rows->first);
  const Form form = form_of(exact.boxes);
  if (form == Form::kOffsets && trait.sorted) return std::nullopt;
  return kept_of(exact, cut(rows->second), form, trait.background, trait.objectness && exact.scores.columns > 1);
}

void add(const std::optional<evaluate::Agreement>& more, OutputKind kind, std::optional<Kept>& to) {
  if (!more) return;
  if (!to) to.emplace(Kept{kind, {}});
  to->answers.same += more->same, to->answers.count += more->count;
}

bool holds_scores(const OutputTrait& trait, const Tensor& tensor, const Table& table) {
  if (tensor.dtype() != DType::kFloat32) return false;
  if (trait.kind == OutputKind::kScores || trait.kind == OutputKind::kClasses) return true;
  return trait.kind == OutputKind::kValues && trait.sorted && table.columns == 1 && all(table, is_probability) &&
         !all(table, is_whole);
}

bool holds_labels(const OutputTrait& trait, const Tensor& tensor, const Table& table) {
  return table.columns == 1 && (is_integer(tensor.dtype()) || (trait.sorted && all(table, is_whole)));
}

}  // namespace

double overlap(const Detection& a, const Detection& b) {
  const auto area = [](const std::array<double, 4>& box) { return (box[2] - box[0]) * (box[3] - box[1]); };
  const double width = std::min(a.corners[2], b.corners[2]) - std::max(a.corners[0], b.corners[0]),
               height = std::min(a.corners[3], b.corners[3]) - std::max(a.corners[1], b.corners[1]);
  if (!(width > 0) || !(height > 0)) return 0;
  const double both = width * height;
  return both / (area(a.corners) + area(b.corners) - both);
}

std::vector<Detection> without_doubles(std::vector<Detection> detections) {
  sort_stably(detections, [](const Detection& a, const Detection& b) { return a.score > b.score; });
  std::vector<Detection> kept;
  for (const Detection& one : detections) {
    if (kept.size() == kMostDetections) break;
    if (std::none_of(kept.begin(), kept.end(), [&](const Detection& better) {
          return better.label == one.label && overlap(better, one) > kOverlap;
        }))
      kept.push_back(one);
  }
  return kept;
}

evaluate::Agreement kept_detections(const std::vector<Detection>& reference, const std::vector<Detection>& other) {
  std::vector<bool> taken(other.size(), false);
  evaluate::Agreement kept{0, static_cast<int64_t>(reference.size() + other.size())};
  for (const Detection& one : reference) {
    std::optional<size_t> best;
    double most = kOverlap;
    for (size_t k = 0; k < other.size(); ++k) {
      if (taken[k] || other[k].label != one.label) continue;
      const double shared = overlap(one, other[k]);
      if (best ? shared > most : shared >= most) best = k, most = shared;
    }
    if (!best) continue;
    taken[*best] = true;
    kept.same += 1, kept.count -= 1;
  }
  return kept;
}

std::vector<std::optional<Kept>> detections_kept(std::span<const OutputTrait> traits, std::span<const Tensor> reference,
                                                 std::span<const Tensor> other) {
  std::vector<std::optional<Kept>> kept(traits.size());
  for (size_t i = 0; i < traits.size(); ++i) {
    const OutputKind kind = traits[i].kind;
    const bool may_be_boxes = kind == OutputKind::kBoxes || kind == OutputKind::kValues;
    if ((!may_be_boxes && kind != OutputKind::kDetections) || reference[i].dtype() != DType::kFloat32) continue;
    const Shape& shape = reference[i].shape();
    // A few numbers for each sample are rows only where somebody says so.
    if (shape.rank() < 3 && !traits[i].sorted && traits[i].has_batch && kind != OutputKind::kBoxes) continue;
    const int64_t batch = shape.rank() > 2 ? shape[0] : 0;
    for (int64_t n = 0; n < std::max<int64_t>(1, batch); ++n) {
      const auto a = table_of(reference[i], batch, n), b = table_of(other[i], batch, n);
      if (!a || !b) break;
      if (kind == OutputKind::kDetections) {
        add(kept_in_one(traits[i], *a, *b), kind, kept[i]);
        continue;
      }
      if (a->columns != kOfBox || b->columns != kOfBox || (a->rows != b->rows && !traits[i].sorted)) break;
      Found exact{*a, {}}, found{*b, {}};
      bool has_background = false;
      for (size_t s = 0; s < traits.size(); ++s) {
        if (s == i) continue;
        auto x = table_of(reference[s], batch, n), y = table_of(other[s], batch, n);
        if (!x || !y || x->columns != y->columns) continue;
        if (x->columns == a->rows && x->rows == 1) x = transposed(*x), y = transposed(*y);
        if (x->rows != a->rows || y->rows != b->rows) continue;
        if (exact.scores.values.empty() && holds_scores(traits[s], reference[s], *x)) {
          exact.scores = *std::move(x), found.scores = *std::move(y);
          has_background = traits[s].kind == OutputKind::kClasses;
        } else if (!exact.labels && holds_labels(traits[s], reference[s], *x)) {
          exact.labels = std::move(x), found.labels = std::move(y);
        }
      }
      const Form form = form_of(a->rows > 0 ? *a : *b);
      if (exact.scores.values.empty() || form == Form::kOffsets) continue;
      add(kept_of(exact, std::move(found), form, has_background, false), OutputKind::kBoxes, kept[i]);
    }
  }
  return kept;
}

}  // namespace tersor::report
