// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression: of each sample's boxes and each class the best by score, leaving out those that overlap a better
// one. How many are left depends on the data, so the values of all inputs decide the output's shape.
#include <algorithm>

#include "core/base/sort_stably.h"
#include "core/graph/attribute_defaults.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"

namespace tersor::ops {

namespace {

struct Box {
  float low_x, low_y, high_x, high_y;

  float area() const { return (high_x - low_x) * (high_y - low_y); }
};

/// Corners in either order (y1, x1, y2, x2), or centre and size (x, y, width, height).
Box box_of(const float* numbers, bool center_point) {
  if (center_point) {
    const float half_width = numbers[2] / 2, half_height = numbers[3] / 2;
    return {numbers[0] - half_width, numbers[1] - half_height, numbers[0] + half_width, numbers[1] + half_height};
  }
  return {std::min(numbers[1], numbers[3]), std::min(numbers[0], numbers[2]), std::max(numbers[1], numbers[3]),
          std::max(numbers[0], numbers[2])};
}

/// Intersection over union is above the threshold. Boxes without area overlap nothing.
bool overlap(const Box& a, const Box& b, float threshold) {
  const float width = std::min(a.high_x, b.high_x) - std::max(a.low_x, b.low_x);
  const float height = std::min(a.high_y, b.high_y) - std::max(a.low_y, b.low_y);
  if (!(width > 0) || !(height > 0)) return false;
  const float both = width * height, area_a = a.area(), area_b = b.area();
  if (!(area_a > 0) || !(area_b > 0)) return false;
  return both / (area_a + area_b - both) > threshold;
}

class NonMaxSuppression : public Kernel {
 public:
  explicit NonMaxSuppression(const Setup& setup) : center_point_(int_of(setup.node, "center_point_box") != 0) {
    require_inputs(setup, 2, 5);
    for (size_t k = 0; k < 5; ++k)
      if (setup.has_input(k)) given_.push_back(k);
  }

  std::vector<size_t> value_inputs() const override { return given_; }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    check(inputs);
    return {{DType::kInt64, Shape{static_cast<int64_t>(select(inputs).size() / 3), 3}, Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const std::vector<int64_t> selected = select(call.inputs);
    std::copy(selected.begin(), selected.end(), call.outputs[0].values<int64_t>().begin());
  }

 private:
  static void check(std::span<const Input> inputs) {
    require_type(inputs[0], {DType::kFloat32}, "boxes");
    require_type(inputs[1], {DType::kFloat32}, "scores");
    require_rank(inputs[0], 3, "boxes");
    require_rank(inputs[1], 3, "scores");
    const Shape &boxes = inputs[0].shape(), &scores = inputs[1].shape();
    if (boxes[2] != 4 || boxes[0] != scores[0] || boxes[1] != scores[2])
      invalid("Boxes of shape " + boxes.text() + " and scores of shape " + scores.text() + " do not fit together.");
    if (is_present(inputs, 2)) integer_of(inputs[2], "max_output_boxes_per_class");
    for (size_t k = 3; k < inputs.size(); ++k) {
      if (!inputs[k].present()) continue;
      require_type(inputs[k], {DType::kFloat32}, k == 3 ? "iou_threshold" : "score_threshold");
      if (inputs[k].elements() != 1)
        invalid("A threshold has the shape " + inputs[k].shape().text() + "; it must be a scalar.");
    }
    if (is_present(inputs, 3) && !(inputs[3].values<float>()[0] >= 0 && inputs[3].values<float>()[0] <= 1))
      invalid("The input iou_threshold is " + std::to_string(inputs[3].values<float>()[0]) +
              "; it must be from 0 to 1.");
  }

  /// Sample, class and box, one after the other.
  std::vector<int64_t> select(std::span<const Input> inputs) const {
    const Shape& scores = inputs[1].shape();
    const int64_t most = is_present(inputs, 2) ? integer_of(inputs[2], "max_output_boxes_per_class") : 0;
    const float threshold = is_present(inputs, 3) ? inputs[3].values<float>()[0] : 0;
    std::vector<int64_t> selected;
    std::vector<int64_t> order;
    std::vector<Box> kept;
    for (int64_t n = 0; n < scores[0]; ++n)
      for (int64_t c = 0; c < scores[1]; ++c) {
        const float* score = inputs[1].values<float>().data() + (n * scores[1] + c) * scores[2];
        order.clear();
        for (int64_t k = 0; k < scores[2]; ++k)
          if (is_present(inputs, 4) ? score[k] > inputs[4].values<float>()[0] : score[k] == score[k])
            order.push_back(k);
        sort_stably(order, [&](int64_t a, int64_t b) { return score[a] > score[b]; });
        kept.clear();
        for (const int64_t k : order) {
          if (static_cast<int64_t>(kept.size()) >= most) break;
          const Box box = box_of(inputs[0].values<float>().data() + (n * scores[2] + k) * 4, center_point_);
          if (std::any_of(kept.begin(), kept.end(), [&](const Box& other) { return overlap(box, other, threshold); }))
            continue;
          kept.push_back(box);
          selected.insert(selected.end(), {n, c, k});
        }
      }
    return selected;
  }

  bool center_point_;
  std::vector<size_t> given_;
};

}  // namespace

std::vector<Op> non_max_suppression_ops() {
  return {{.domain = "", .type = "NonMaxSuppression", .since = 10, .prepare = make_kernel<NonMaxSuppression>}};
}

}  // namespace tersor::ops
