// SPDX-License-Identifier: Apache-2.0
#include "core/report/kept_answers.h"

#include <algorithm>
#include <map>
#include <vector>

namespace tersor::report {

namespace {

constexpr float kDetection = 0.25F, kMask = 0.5F;

/// The class of each place: of the largest score along the axis, or the number itself.
std::vector<int64_t> classes_of(const Tensor& tensor, int axis) {
  if (tensor.dtype() != DType::kFloat32) return tensor.to_int64s();
  const Shape& shape = tensor.shape();
  const auto length = static_cast<size_t>(shape[axis]);
  const auto inner = static_cast<size_t>(shape.elements(axis + 1, shape.rank()));
  const auto scores = tensor.data<float>();
  std::vector<int64_t> classes;
  for (size_t begin = 0; begin < scores.size(); begin += length * inner)
    for (size_t place = 0; place < inner; ++place) {
      size_t best = 0;
      for (size_t k = 1; k < length; ++k)
        if (scores[begin + k * inner + place] > scores[begin + best * inner + place]) best = k;
      classes.push_back(static_cast<int64_t>(best));
    }
  return classes;
}

int64_t commonest(const std::vector<int64_t>& classes) {
  std::map<int64_t, int64_t> counts;
  for (const int64_t one : classes) ++counts[one];
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

evaluate::Agreement kept_classes(const std::vector<int64_t>& reference, const std::vector<int64_t>& values) {
  const int64_t background = commonest(reference);
  evaluate::Agreement kept;
  for (size_t k = 0; k < reference.size(); ++k) {
    if (reference[k] == background && values[k] == background) continue;
    kept.count += 1;
    kept.same += reference[k] == values[k] ? 1 : 0;
  }
  return kept;
}

bool is_mask(const Shape& shape) {
  return shape.rank() == 4 && (shape[1] == 1 || shape[3] == 1);
}

evaluate::Agreement kept_above(float least, const Tensor& reference, const Tensor& values) {
  const auto a = reference.data<float>(), b = values.data<float>();
  evaluate::Agreement kept;
  for (size_t k = 0; k < a.size(); ++k) {
    kept.count += a[k] >= least || b[k] >= least ? 1 : 0;
    kept.same += a[k] >= least && b[k] >= least ? 1 : 0;
  }
  return kept;
}

/// Of a map without a Softmax or ArgMax at its end; nothing of one class.
std::optional<int> axis_of_map(const Shape& shape) {
  if (shape.rank() != 4 || is_mask(shape)) return std::nullopt;
  return shape[1] <= shape[3] ? 1 : 3;
}

}  // namespace

std::optional<Kept> kept_answers(OutputKind kind, std::optional<int> class_axis, int64_t rows, const Tensor& reference,
                                 const Tensor& values) {
  if (reference.dtype() != values.dtype() || reference.elements() == 0) return std::nullopt;
  const Shape& shape = reference.shape();
  const bool is_float = reference.dtype() == DType::kFloat32;
  if (!is_float && !is_integer(reference.dtype())) return std::nullopt;
  if (kind == OutputKind::kScores && is_float)
    return Kept{kind, kept_above(is_mask(shape) ? kMask : kDetection, reference, values)};
  if (kind == OutputKind::kMap && !class_axis) {
    class_axis = is_float ? axis_of_map(shape) : 0;
    if (!class_axis) {
      const auto all = reference.data<float>();
      const bool is_share = std::all_of(all.begin(), all.end(), [](float x) { return x >= 0 && x <= 1; });
      return Kept{kind, kept_above(is_share ? kMask : 0, reference, values)};
    }
  }
  if ((kind != OutputKind::kClasses && kind != OutputKind::kMap) || !class_axis) return std::nullopt;
  const int axis = *class_axis < 0 ? *class_axis + shape.rank() : *class_axis;
  if (axis < 0 || axis >= shape.rank()) return std::nullopt;
  const int64_t places = is_float ? reference.elements() / std::max<int64_t>(1, shape[axis]) : reference.elements();
  if (places <= rows) return std::nullopt;
  return Kept{OutputKind::kMap, kept_classes(classes_of(reference, axis), classes_of(values, axis))};
}

}  // namespace tersor::report
