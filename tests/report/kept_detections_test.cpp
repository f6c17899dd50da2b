// SPDX-License-Identifier: Apache-2.0
#include "core/report/kept_detections.h"

#include <utility>
#include <vector>

#include "tests/catch.h"

namespace kept_detections_test {
using namespace tersor;
using report::Detection;
using report::Kept;
using report::OutputKind;
using report::OutputTrait;

namespace {

Detection detection(double left, double right, double score = 0.9, int64_t label = 0) {
  return {{left, 0, right, 1}, score, label};
}

void require_kept(const evaluate::Agreement& kept, int64_t same, int64_t count) {
  CHECK(kept.same == same);
  CHECK(kept.count == count);
}

void require_kept(const std::optional<Kept>& kept, int64_t same, int64_t count) {
  REQUIRE(kept);
  require_kept(kept->answers, same, count);
}

/// Kept of one output that holds boxes and scores.
std::optional<Kept> kept_in(const Tensor& reference, const Tensor& other, OutputTrait trait = {}) {
  trait.kind = OutputKind::kDetections;
  return report::detections_kept(std::vector{trait}, std::vector{reference}, std::vector{other})[0];
}

Tensor floats(Shape shape, const std::vector<float>& values) {
  return Tensor::of<float>(std::move(shape), values);
}

}  // namespace

TEST_CASE("a detection is kept at an overlap of exactly a half, of the same label, and once") {
  // [0, 2] and [0, 1]: one of two is shared.
  require_kept(report::kept_detections({detection(0, 2)}, {detection(0, 1)}), 1, 1);
  require_kept(report::kept_detections({detection(0, 2)}, {detection(0, 0.999)}), 0, 2);
  require_kept(report::kept_detections({detection(0, 2)}, {detection(0, 2, 0.9, 1)}), 0, 2);
  // Two that overlap the same one: it goes to the first, and the other is lost.
  require_kept(report::kept_detections({detection(0, 1.2), detection(0, 1)}, {detection(0, 1)}), 1, 2);
  // The first takes what overlaps it most, and leaves the other to the second.
  require_kept(report::kept_detections({detection(0, 1), detection(0.3, 1.3)}, {detection(0.3, 1.3), detection(0, 1)}),
               2, 2);
  // Of equal overlaps (three fifths) the first is taken, which leaves the other one to the second.
  require_kept(report::kept_detections({detection(0, 1), detection(0.25, 1.25)},
                                       {detection(-0.25, 0.75), detection(0.25, 1.25)}),
               2, 2);
  require_kept(report::kept_detections({}, {detection(0, 1)}), 0, 1);
  CHECK(report::overlap(detection(0, 1), detection(1, 2)) == 0);
  CHECK(report::overlap(detection(0, 0), detection(0, 0)) == 0);
  CHECK(report::overlap(detection(0, 3), detection(1, 4)) == 0.5);
}

TEST_CASE("of detections of one object the best is left, and 300 in all") {
  const auto left = report::without_doubles(
      {detection(0, 1, 0.5), detection(0, 1.2, 0.7), detection(0, 1.2, 0.6, 1), detection(0.6, 2.6, 0.4)});
  REQUIRE(left.size() == 3);
  CHECK(left[0].score == 0.7);
  CHECK(left[1].score == 0.6);  // another label
  CHECK(left[2].score == 0.4);  // another place
  // At exactly a half both are left.
  CHECK(report::without_doubles({detection(0, 2), detection(0, 1)}).size() == 2);
  std::vector<Detection> many;
  for (int k = 0; k < 400; ++k) many.push_back(detection(2 * k, 2 * k + 1));
  CHECK(report::without_doubles(many).size() == 300);
}

TEST_CASE("boxes and scores in one output are found in columns and in rows, as corners and as centre and size") {
  // A score of 0.25 counts, 0.24 does not; the second model loses one and finds another one.
  const std::vector<float> corners = {0,  0, 10, 10, 0.9F, 0,    20, 0, 30, 10, 0.25F, 0,
                                      40, 0, 50, 10, 0,    0.8F, 60, 0, 70, 10, 0.24F, 0};
  std::vector<float> changed = corners;
  changed[10] = 0.2F, changed[22] = 0.3F;
  for (const bool as_sizes : {false, true}) {
    std::vector<float> a = corners, b = changed;
    for (auto* side : {&a, &b})
      for (size_t r = 0; r < 4 && as_sizes; ++r) {
        float* box = &(*side)[6 * r];
        const float width = box[2] - box[0], height = box[3] - box[1];
        box[0] += width / 2, box[1] += height / 2, box[2] = width, box[3] = height;
      }
    require_kept(kept_in(floats({1, 4, 6}, a), floats({1, 4, 6}, a)), 3, 3);
    require_kept(kept_in(floats({1, 4, 6}, a), floats({1, 4, 6}, b)), 2, 4);
    std::vector<float> rows_a(24), rows_b(24);
    for (size_t r = 0; r < 4; ++r)
      for (size_t c = 0; c < 6; ++c) rows_a[4 * c + r] = a[6 * r + c], rows_b[4 * c + r] = b[6 * r + c];
    require_kept(kept_in(floats({1, 6, 4}, rows_a), floats({1, 6, 4}, rows_b)), 2, 4);
  }
  // Two samples at once.
  std::vector<float> twice = corners, once_changed = corners;
  twice.insert(twice.end(), corners.begin(), corners.end());
  once_changed.insert(once_changed.end(), changed.begin(), changed.end());
  require_kept(kept_in(floats({2, 4, 6}, twice), floats({2, 4, 6}, once_changed)), 5, 7);
}

TEST_CASE("boxes that moved by more than half are lost, and scores that are gone are") {
  const Tensor exact = floats({1, 2, 5}, {0, 0, 10, 10, 0.9F, 100, 0, 110, 10, 0.8F});
  require_kept(kept_in(exact, floats({1, 2, 5}, {0, 0, 5, 10, 0.9F, 104, 0, 114, 10, 0.8F})), 1, 3);
  require_kept(kept_in(exact, floats({1, 2, 5}, {0, 0, 10, 10, 0, 100, 0, 110, 10, 0})), 0, 2);
}

TEST_CASE("offsets to be decoded are compared row by row, and objectness is a factor") {
  const Tensor exact = floats({1, 3, 6}, {-1, 2, -3, 1, 0.9F, 0.9F, 1, 0, 1, -1, 0.1F, 1, 0, 0, -1, -1, 0.5F, 0.5F});
  OutputTrait trait;
  require_kept(kept_in(exact, exact, trait), 5, 5);  // of two classes
  trait.objectness = true;
  require_kept(kept_in(exact, exact, trait), 2, 2);  // 0.81 and 0.25
  const Tensor other = floats({1, 3, 6}, {-1, 2, -3, 1, 0.9F, 0.9F, 1, 0, 1, -1, 0.5F, 1, 0, 0, -1, -1, 0.4F, 0.5F});
  require_kept(kept_in(exact, other, trait), 1, 3);
}

TEST_CASE("boxes and scores in two outputs, sorted anew, are compared as sets") {
  OutputTrait boxes, scores, labels;
  scores.kind = OutputKind::kScores;
  labels.kind = OutputKind::kClasses;
  const std::vector<OutputTrait> one_order = {boxes, scores};
  const Tensor places = floats({1, 3, 4}, {0, 0, 1, 1, 2, 0, 3, 1, 4, 0, 5, 1}),
               found = floats({1, 3}, {0.9F, 0.6F, 0.3F});
  const auto kept = report::detections_kept(one_order, std::vector{places, found},
                                            std::vector{places, floats({1, 3}, {0.9F, 0.2F, 0.3F})});
  require_kept(kept[0], 2, 3);
  CHECK(kept[0]->kind == OutputKind::kBoxes);
  CHECK_FALSE(kept[1]);

  boxes.sorted = scores.sorted = labels.sorted = true;
  scores.kind = OutputKind::kValues;  // a NonMaxSuppression stands between it and its Sigmoid
  const std::vector<OutputTrait> sorted = {boxes, scores, labels};
  const std::vector<Tensor> reference = {floats({3, 4}, {0, 0, 1, 1, 2, 0, 3, 1, 4, 0, 5, 1}),
                                         floats({3}, {0.9F, 0.6F, 0.5F}), Tensor::of<int64_t>({3}, {7, 8, 9})};
  const std::vector<Tensor> turned = {floats({2, 4}, {4, 0, 5, 1, 0, 0, 1, 1}), floats({2}, {0.7F, 0.6F}),
                                      Tensor::of<int64_t>({2}, {9, 7})};
  require_kept(report::detections_kept(sorted, reference, turned)[0], 2, 3);
  const std::vector<Tensor> named_otherwise = {turned[0], turned[1], Tensor::of<int64_t>({2}, {7, 9})};
  require_kept(report::detections_kept(sorted, reference, named_otherwise)[0], 0, 5);
  const std::vector<Tensor> nothing = {floats({0, 4}, {}), floats({0}, {}),
                                       Tensor::of<int64_t>({0}, std::vector<int64_t>())};
  require_kept(report::detections_kept(sorted, reference, nothing)[0], 0, 3);
  // Box, score and label in one row.
  OutputTrait joined;
  joined.sorted = true;
  require_kept(kept_in(floats({1, 2, 6}, {0, 0, 1, 1, 0.9F, 3, 2, 0, 3, 1, 0.5F, 4}),
                       floats({1, 2, 6}, {2, 0, 3, 1, 0.9F, 4, 0, 0, 1, 1, 0.2F, 3}), joined),
               1, 2);
}

TEST_CASE("four columns without scores beside them, and offsets, are no detections") {
  const Tensor places = floats({1, 3, 4}, {0, 0, 1, 1, 2, 0, 3, 1, 4, 0, 5, 1}),
               offsets = floats({1, 3, 4}, {0, 0, -1, 1, 2, 0, 3, 1, 4, 0, 5, -1}),
               scores = floats({1, 3, 1}, {0.9F, 0.6F, 0.3F});
  OutputTrait of_scores;
  of_scores.kind = OutputKind::kScores;
  const std::vector<OutputTrait> traits = {OutputTrait(), of_scores}, values(2);
  CHECK_FALSE(report::detections_kept(values, std::vector{places, scores}, std::vector{places, scores})[0]);
  CHECK_FALSE(report::detections_kept(traits, std::vector{offsets, scores}, std::vector{offsets, scores})[0]);
  CHECK(report::detections_kept(traits, std::vector{places, scores}, std::vector{places, scores})[0]);
}

TEST_CASE("of a Softmax the class of most rows is that of no object") {
  OutputTrait boxes, scores;
  scores.kind = OutputKind::kClasses;
  const Tensor places = floats({1, 3, 4}, {0, 0, 1, 1, 2, 0, 3, 1, 4, 0, 5, 1}),
               exact = floats({1, 3, 2}, {0.9F, 0.1F, 0.4F, 0.6F, 0.8F, 0.2F}),
               lost = floats({1, 3, 2}, {0.9F, 0.1F, 0.8F, 0.2F, 0.8F, 0.2F});
  const std::vector<OutputTrait> traits = {boxes, scores};
  require_kept(report::detections_kept(traits, std::vector{places, exact}, std::vector{places, exact})[0], 1, 1);
  require_kept(report::detections_kept(traits, std::vector{places, exact}, std::vector{places, lost})[0], 0, 1);
}

}  // namespace kept_detections_test
