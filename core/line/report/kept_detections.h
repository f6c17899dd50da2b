// SPDX-License-Identifier: Apache-2.0
// What a detector finds, in float and quantized: objects with a score of at least 0.25, and which of them both models
// find at the same place. Rows may be in any order, as after a TopK or NonMaxSuppression.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/evaluate/evaluation.h"
#include "core/report/kept_answers.h"
#include "core/tensor/tensor.h"

namespace tersor::report {

struct Detection {
  std::array<double, 4> corners = {};  // two opposite corners of the box, the lower ones first
  double score = 0;
  int64_t label = 0;
};

/// Intersection over union of two boxes of corners; 0 of two without area.
double overlap(const Detection& a, const Detection& b);

/// Leaves, of boxes with one label that overlap by more than 0.5, that with the highest score, at most 300 in all, the
/// highest score first.
std::vector<Detection> without_doubles(std::vector<Detection> detections);

/// What either model detects, and what both do: the reference's detections take, the highest score first, the detection
/// of the same label that overlaps them most, by at least 0.5, and that none took before.
evaluate::Agreement kept_detections(const std::vector<Detection>& reference, const std::vector<Detection>& other);

/// Detections kept of one sample (or batch), for each output that holds boxes: kDetections, which has boxes
/// in columns 0 to 3 and scores behind them, or one of four columns beside which another output has scores for as many
/// rows. Boxes are corners, or centre and size, as all of the reference's are one of them. Boxes that are neither are
/// offsets to be decoded: then scores are compared row by row, and boxes with scores beside them not at all. Scores
/// outside of 0 to 1 go through a Sigmoid first. Outputs of two axes, of which the first is the batch, hold no rows
/// unless they are kBoxes or sorted.
std::vector<std::optional<Kept>> detections_kept(std::span<const OutputTrait> traits, std::span<const Tensor> reference,
                                                 std::span<const Tensor> other);

}  // namespace tersor::report
