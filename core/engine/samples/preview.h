// SPDX-License-Identifier: Apache-2.0
// What a page shows of a sample: the file as a picture, the tensor that the model receives, and its extremes, so that a
// wrong preprocessing is seen at a glance.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/samples/data_set.h"

namespace tersor::samples {

struct ValueSummary {
  double min = 0;
  double mean = 0;
  double max = 0;
};

struct TensorPreview {
  std::string input;
  Tensor tensor;  // as the model receives it, batch 1
  ValueSummary whole;
  std::vector<ValueSummary> channels;  // where the input is a picture
  std::optional<Picture> picture;      // the tensor turned back into pixels; where the input is a picture
};

struct SamplePreview {
  int64_t index = 0;
  std::string name;
  std::string path;
  std::optional<Picture> picture;  // the decoded file before preprocessing, where it is one
  std::vector<TensorPreview> tensors;
};

SamplePreview preview(const std::shared_ptr<const DataSet>& data, int64_t sample);
/// Of a sample that came as tensors.
SamplePreview preview(const std::vector<Tensor>& tensors, const std::vector<InputSpec>& inputs, int64_t index);

}  // namespace tersor::samples
