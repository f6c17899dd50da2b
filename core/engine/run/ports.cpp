// SPDX-License-Identifier: Apache-2.0
#include "core/run/ports.h"

#include <algorithm>

#include "core/base/error.h"

namespace tersor::run {

namespace {

bool fits(const Port& port, const Shape& shape) {
  if (!port.shape) return true;
  if (static_cast<int>(port.shape->size()) != shape.rank()) return false;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const Dim& dim = (*port.shape)[static_cast<size_t>(axis)];
    if (dim.fixed() && dim.value != shape[axis]) return false;
  }
  return true;
}

/// What probably went wrong with a sample of that shape.
std::string likely_fix(const Port& port, const Shape& shape) {
  const std::vector<int64_t>& dims = shape.dims();
  if (shape.rank() + 1 == static_cast<int>(port.shape->size())) {
    std::vector<int64_t> batched(dims);
    batched.insert(batched.begin(), 1);
    if (fits(port, Shape(batched))) return "The samples lack the batch axis: add a first axis of 1.";
  }
  if (shape.rank() == 4) {
    if (fits(port, Shape{dims[0], dims[3], dims[1], dims[2]}))
      return "The samples have their channels last; this model wants them after the batch axis (NCHW).";
    if (fits(port, Shape{dims[0], dims[2], dims[3], dims[1]}))
      return "The samples have their channels first; this model wants them last (NHWC).";
  }
  std::vector<int64_t> single(dims);
  if (!single.empty()) single[0] = 1;
  if (fits(port, Shape(single))) return "The model takes one sample at a time.";
  return "Resize or reshape the samples to the shape that the model declares.";
}

}  // namespace

std::string declared_text(const Port& port) {
  if (!port.shape) return "any shape";
  std::string text;
  for (const Dim& dim : *port.shape) {
    const std::string one = dim.fixed() ? std::to_string(dim.value) : dim.symbol.empty() ? "?" : dim.symbol;
    text += (text.empty() ? "" : "x") + one;
  }
  return port.shape->empty() ? "scalar" : text;
}

std::string chosen_sizes(std::span<const Port> ports, std::span<const Tensor> inputs) {
  for (size_t k = 0; k < ports.size(); ++k) {
    const auto& shape = ports[k].shape;
    const bool is_open = !shape || std::any_of(shape->begin() + (shape->empty() ? 0 : 1), shape->end(),
                                               [](const Dim& dim) { return !dim.fixed(); });
    if (is_open) return "The input \"" + ports[k].name + "\" is " + inputs[k].shape().text() + " here.";
  }
  return {};
}

std::optional<std::vector<Shape>> shapes_of_one_sample(const Graph& graph) {
  std::vector<Shape> shapes;
  for (const ValueId id : graph.inputs) {
    auto shape = shape_of_one_sample(graph, id);
    if (!shape) return std::nullopt;
    shapes.push_back(std::move(*shape));
  }
  return shapes;
}

std::optional<Shape> shape_of_one_sample(const Graph& graph, ValueId input) {
  const Value& value = graph.value(input);
  if (!value.shape) return std::nullopt;
  std::vector<int64_t> dims;
  for (size_t axis = 0; axis < value.shape->size(); ++axis) {
    const Dim& dim = (*value.shape)[axis];
    if (!dim.fixed() && axis != 0) return std::nullopt;
    dims.push_back(dim.fixed() ? dim.value : 1);
  }
  return Shape(std::move(dims));
}

void check_input_shapes(std::span<const Port> ports, std::span<const Shape> shapes) {
  if (shapes.size() != ports.size())
    throw Error(ErrorCode::kInvalidSamples, "The model has " + std::to_string(ports.size()) + " inputs; " +
                                                std::to_string(shapes.size()) + " were given.");
  for (size_t k = 0; k < ports.size(); ++k)
    if (!fits(ports[k], shapes[k]))
      throw Error(ErrorCode::kInvalidSamples,
                  "The input \"" + ports[k].name + "\" has the shape " + declared_text(ports[k]) + "; the sample is " +
                      shapes[k].text() + ".",
                  {}, likely_fix(ports[k], shapes[k]));
}

void check_inputs(std::span<const Port> ports, std::span<const ops::TensorType> inputs) {
  std::vector<Shape> shapes;
  for (const ops::TensorType& input : inputs) shapes.push_back(input.shape);
  check_input_shapes(ports, shapes);
  for (size_t k = 0; k < ports.size(); ++k)
    if (ports[k].dtype != DType::kUndefined && inputs[k].dtype != ports[k].dtype)
      throw Error(ErrorCode::kInvalidSamples, "The input \"" + ports[k].name + "\" has the type " +
                                                  std::string(name_of(ports[k].dtype)) + "; the sample is " +
                                                  std::string(name_of(inputs[k].dtype)) + ".");
}

}  // namespace tersor::run
