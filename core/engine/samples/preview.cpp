// SPDX-License-Identifier: Apache-2.0
#include "core/samples/preview.h"

#include <algorithm>

#include "core/samples/fixed_batch.h"

namespace tersor::samples {

namespace {

/// Of the elements begin, begin + step, ... (count of them).
ValueSummary summarize(const std::vector<double>& values, size_t begin, size_t step, size_t count) {
  ValueSummary result;
  if (count == 0) return result;
  result.min = result.max = values[begin];
  double sum = 0;
  for (size_t i = 0; i < count; ++i) {
    const double value = values[begin + i * step];
    result.min = std::min(result.min, value);
    result.max = std::max(result.max, value);
    sum += value;
  }
  result.mean = sum / static_cast<double>(count);
  return result;
}

TensorPreview preview_tensor(const Tensor& tensor, const InputSpec& input, const Preprocessing& preprocessing) {
  TensorPreview result{input.name, tensor, {}, {}, std::nullopt};
  const std::vector<double> values = tensor.to_doubles();
  result.whole = summarize(values, 0, 1, values.size());
  if (!picture_input(input)) return result;
  result.picture = tensor_to_picture(tensor, preprocessing);
  if (!result.picture) return result;
  const auto channels = static_cast<size_t>(result.picture->channels);
  const size_t area = values.size() / channels;
  const bool first = preprocessing.layout == PictureLayout::kNchw;
  for (size_t c = 0; c < channels; ++c)
    result.channels.push_back(first ? summarize(values, c * area, 1, area) : summarize(values, c, channels, area));
  return result;
}

}  // namespace

SamplePreview preview(const std::shared_ptr<const DataSet>& data, int64_t sample) {
  SamplePreview result{sample, data->name(sample), data->path(sample), std::nullopt, {}};
  SampleReader reader(data);
  const std::vector<Tensor> tensors = first_rows(reader.load(sample), data->batch());
  for (size_t i = 0; i < tensors.size(); ++i)
    result.tensors.push_back(preview_tensor(tensors[i], data->inputs()[i], data->preprocessing()));
  const auto& files = data->source().files();
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].path != result.path) continue;
    const Bytes head = data->source().read_head(i, kHeadBytes);
    const Format* const format = find_format(result.path, head.view);
    if (format != nullptr && format->decode != nullptr)
      result.picture = format->decode(data->source().read_all(i).view);
  }
  return result;
}

SamplePreview preview(const std::vector<Tensor>& tensors, const std::vector<InputSpec>& inputs, int64_t index) {
  SamplePreview result{index, "sample " + std::to_string(index), {}, std::nullopt, {}};
  for (size_t i = 0; i < tensors.size(); ++i)
    result.tensors.push_back(preview_tensor(tensors[i], inputs[i], preset(guess_preset(inputs[i]), inputs[i])));
  return result;
}

}  // namespace tersor::samples
