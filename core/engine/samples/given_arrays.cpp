// SPDX-License-Identifier: Apache-2.0
#include "core/samples/given_arrays.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/samples/fixed_batch.h"

namespace tersor::samples {

namespace {

std::string listed(const std::vector<InputSpec>& inputs) {
  std::string text;
  for (const InputSpec& input : inputs) text += (text.empty() ? "\"" : ", \"") + input.name + "\"";
  return text;
}

/// The shape of `elements` values without one of their own.
Shape only_shape(int64_t elements, const InputSpec& input) {
  const ValuesFit found = fit_values(elements, input);
  if (found.shape) return *found.shape;
  const char* hint = "Give as many values as that shape has.";
  if (!found.determined) hint = "Give { data, shape }: more than one dimension is free.";
  if (found.samples > 1) hint = "Give one sample at a time.";
  throw Error(ErrorCode::kInvalidSamples,
              "An array of " + std::to_string(elements) + " values does not say its shape; the input \"" + input.name +
                  "\" takes " + input.shape_text() + ".",
              {}, hint);
}

Tensor fit(const GivenArray& array, const InputSpec& input) {
  const size_t bits = static_cast<size_t>(bits_of(array.dtype));
  TERSOR_CHECK(bits >= 8);
  const auto elements = static_cast<int64_t>(array.bytes.view.size() / (bits / 8));
  Shape shape;
  if (!array.shape) {
    shape = only_shape(elements, input);
  } else {
    if (array.shape->elements() != elements)
      throw Error(ErrorCode::kInvalidSamples,
                  "The shape " + array.shape->text() + " does not fit " + std::to_string(elements) + " values.");
    const ArrayFit found = fit_array(*array.shape, input);
    if (found.count != 1)
      throw Error(ErrorCode::kInvalidSamples,
                  "The array of shape " + array.shape->text() + " holds " + std::to_string(found.count) + " samples.",
                  {}, "Give one sample at a time.");
    shape = found.sample;
  }
  Tensor tensor = to_input_type({array.dtype, false, shape, array.bytes}, input);
  check_finite(tensor, input);
  return tensor;
}

}  // namespace

namespace {

std::vector<Tensor> fit_all(std::span<const GivenArray> arrays, const std::vector<InputSpec>& inputs,
                            const std::string& place) {
  std::vector<Tensor> tensors;
  for (const InputSpec& input : inputs) {
    const auto found =
        std::find_if(arrays.begin(), arrays.end(), [&](const GivenArray& array) { return array.name == input.name; });
    if (found == arrays.end() && input.is_past()) {
      tensors.push_back(empty_past(input));
      continue;
    }
    if (found == arrays.end())
      throw Error(ErrorCode::kInvalidSamples, "The sample has no values for the input \"" + input.name + "\".", place,
                  "The model's inputs are " + listed(inputs) + ".");
    try {
      tensors.push_back(fit(*found, input));
    } catch (const Error& error) {
      throw error.within(place);
    }
  }
  return tensors;
}

}  // namespace

GivenSample arrange(std::span<const GivenArray> arrays, const std::vector<InputSpec>& inputs,
                    const std::string& place) {
  for (const GivenArray& array : arrays) {
    const auto names = [&](const InputSpec& input) { return input.name == array.name; };
    if (std::none_of(inputs.begin(), inputs.end(), names))
      throw Error(ErrorCode::kInvalidSamples, "The model has no input \"" + array.name + "\".", place,
                  "Its inputs are " + listed(inputs) + ".");
  }
  const int64_t batch = fixed_batch(inputs);
  try {
    return {fit_all(arrays, inputs, place)};
  } catch (const Error&) {
    if (batch == 1) throw;
    try {
      return {fill_batch(fit_all(arrays, of_one_row(inputs), place), batch), batch};
    } catch (const Error&) {
      // What is wrong is told of the shape that the model declares.
    }
    throw;
  }
}

}  // namespace tersor::samples
