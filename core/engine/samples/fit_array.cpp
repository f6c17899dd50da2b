// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/base/error.h"
#include "core/samples/input_spec.h"

namespace tersor::samples {

namespace {

bool fits(int64_t found, const Dim& wanted) {
  return !wanted.fixed() || wanted.value == found;
}

/// Whether the array's axes from `from` on fit the dimensions from `axis` on.
bool fits_tail(const Shape& array, int from, const std::vector<Dim>& wanted, int axis) {
  if (array.rank() - from != static_cast<int>(wanted.size()) - axis) return false;
  for (int i = 0; from + i < array.rank(); ++i)
    if (!fits(array[from + i], wanted[static_cast<size_t>(axis + i)])) return false;
  return true;
}

Shape with_batch(const Shape& array, int from) {
  std::vector<int64_t> dims{1};
  for (int axis = from; axis < array.rank(); ++axis) dims.push_back(array[axis]);
  return Shape(std::move(dims));
}

Shape tail(const Shape& array, int from) {
  return Shape(std::vector<int64_t>(array.begin() + from, array.end()));
}

/// Height, width and channels of a picture-like shape of three axes.
struct PictureAxes {
  int64_t height, width, channels;
  bool channels_first;
};

std::optional<PictureAxes> picture_axes(const std::vector<int64_t>& dims) {
  if (dims.size() != 3) return std::nullopt;
  const auto channels = [](int64_t dim) { return dim == 1 || dim == 3 || dim == 4; };
  if (channels(dims[0]) && !channels(dims[2])) return PictureAxes{dims[1], dims[2], dims[0], true};
  if (channels(dims[2])) return PictureAxes{dims[0], dims[1], dims[2], false};
  return std::nullopt;
}

/// The array without what is its batch, to compare with the input without its own.
std::vector<int64_t> without_batch(const Shape& array, size_t rank) {
  std::vector<int64_t> dims = array.dims();
  while (dims.size() > rank) dims.erase(dims.begin());
  return dims;
}

std::string picture_fix(const PictureAxes& found, const PictureAxes& wanted) {
  std::string fix;
  const auto then = [&](const std::string& step) {
    fix += fix.empty() ? static_cast<char>(step[0] - 'a' + 'A') + step.substr(1) : " and " + step;
  };
  if (wanted.height >= 0 && wanted.width >= 0 && (found.height != wanted.height || found.width != wanted.width))
    then("resize to " + std::to_string(wanted.height) + "x" + std::to_string(wanted.width));
  if (found.channels_first != wanted.channels_first)
    then(wanted.channels_first ? "transpose to channels first" : "transpose to channels last");
  if (found.channels == 4 && wanted.channels == 3) then("drop the alpha channel");
  if (found.channels == 1 && wanted.channels == 3) then("repeat the grey channel three times");
  if (found.channels == 3 && wanted.channels == 1) then("convert to grey");
  return fix.empty() ? "" : fix + ".";
}

std::string likely_fix(const Shape& array, const InputSpec& input) {
  const std::vector<Dim>& wanted = *input.shape;
  if (std::any_of(wanted.begin(), wanted.end(), [](const Dim& dim) { return dim.value == 0; }))
    return "The model declares an axis of no elements, which no sample fills. Export it with the true size, or with a "
           "free one.";
  const size_t skipped = input.has_batch_axis() ? 1 : 0;
  std::vector<int64_t> rest;
  int64_t elements = 1;
  bool known = true;
  for (size_t i = skipped; i < wanted.size(); ++i) {
    rest.push_back(wanted[i].value);
    known = known && wanted[i].fixed();
    if (wanted[i].fixed()) elements *= std::max<int64_t>(wanted[i].value, 1);
  }
  const auto found = picture_axes(without_batch(array, rest.size())), sought = picture_axes(rest);
  if (found && sought) {
    const std::string fix = picture_fix(*found, *sought);
    if (!fix.empty()) return fix;
  }
  if (known && !rest.empty() && array.elements() > 0 && array.elements() % elements == 0) {
    std::string shape = skipped != 0 ? std::to_string(array.elements() / elements) : std::string();
    for (int64_t dim : rest) shape += (shape.empty() ? "" : "x") + std::to_string(dim);
    if (skipped != 0 || array.elements() == elements)
      return "The values would fit as " + shape + ": reshape the array.";
  }
  return "Give each sample the shape of the input, or stack N samples along a first axis.";
}

}  // namespace

std::string InputSpec::shape_text() const {
  if (!shape) return "any shape";
  if (shape->empty()) return "scalar";
  std::string text;
  for (const Dim& dim : *shape) {
    if (!text.empty()) text += "x";
    text += dim.fixed() ? std::to_string(dim.value) : dim.symbol.empty() ? "?" : dim.symbol;
  }
  return text;
}

bool InputSpec::has_batch_axis() const {
  return shape && !shape->empty() && (!shape->front().fixed() || shape->front().value == 1);
}

bool InputSpec::is_past() const {
  const auto is_free = [](const Dim& dim) { return !dim.fixed(); };
  const bool grows = shape && !shape->empty() && std::any_of(shape->begin() + 1, shape->end(), is_free);
  return is_state() && grows && name.find("past") != std::string::npos;
}

Tensor empty_past(const InputSpec& input) {
  std::vector<int64_t> dims;
  for (const Dim& dim : *input.shape) dims.push_back(dim.fixed() ? dim.value : dims.empty() ? 1 : 0);
  return Tensor::make(input.dtype, Shape(std::move(dims)));
}

void refuse_shape(const Shape& array, const InputSpec& input) {
  throw Error(ErrorCode::kInvalidSamples,
              "The shape is " + array.text() + ", the input \"" + input.name + "\" takes " + input.shape_text() + ".",
              {}, likely_fix(array, input));
}

bool fits_whole(const Shape& array, const InputSpec& input) {
  return !input.shape || fits_tail(array, 0, *input.shape, 0);
}

namespace {

ArrayFit divide(const Shape& array, const InputSpec& input) {
  if (!input.shape) return {array.elements() == 0 ? 0 : 1, array};
  const std::vector<Dim>& wanted = *input.shape;
  const int rank = static_cast<int>(wanted.size());
  if (input.has_batch_axis()) {
    if (array.rank() == rank && fits_tail(array, 1, wanted, 1)) return {array[0], with_batch(array, 1)};
    if (fits_tail(array, 0, wanted, 1)) return {1, with_batch(array, 0)};
    if (array.rank() == rank + 1 && array[1] == 1 && fits_tail(array, 2, wanted, 1)) return {array[0], tail(array, 1)};
  } else {
    if (fits_tail(array, 0, wanted, 0)) return {1, array};
    if (array.rank() == rank + 1 && fits_tail(array, 1, wanted, 0)) return {array[0], tail(array, 1)};
  }
  refuse_shape(array, input);
}

}  // namespace

ArrayFit fit_array(const Shape& array, const InputSpec& input) {
  const ArrayFit fit = divide(array, input);
  if (fit.count == 0)
    throw Error(ErrorCode::kInvalidSamples, "The array of shape " + array.text() + " holds no values.", {},
                "Leave it out, or save it again.");
  return fit;
}

ValuesFit fit_values(int64_t elements, const InputSpec& input) {
  ValuesFit result;
  result.determined = input.shape.has_value();
  if (!input.shape) return result;
  std::vector<int64_t> dims;
  int64_t known = 1;
  std::optional<size_t> free;
  for (size_t axis = 0; axis < input.shape->size(); ++axis) {
    const Dim& dim = (*input.shape)[axis];
    const bool is_batch = axis == 0 && input.has_batch_axis();
    dims.push_back(is_batch ? 1 : dim.value);
    if (is_batch) continue;
    if (dim.fixed()) {
      known *= dim.value;
    } else {
      if (free) result.determined = false;
      free = axis;
    }
  }
  if (!result.determined || known <= 0 || elements <= 0 || elements % known != 0) return result;
  if (!free && elements != known) {
    result.samples = elements / known;
    return result;
  }
  if (free) dims[*free] = elements / known;
  result.samples = 1;
  result.shape = Shape(std::move(dims));
  return result;
}

}  // namespace tersor::samples
