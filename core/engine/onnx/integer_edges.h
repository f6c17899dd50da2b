// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of a quantized file that are integers: what their first or last quantizer makes of them. Inside
// the program such a model has floats at its edges, as its float model has; Model::narrow names the types of the file.
#pragma once

#include <string_view>

#include "core/base/json_fwd.h"
#include "core/graph/graph.h"
#include "core/graph/uses.h"

namespace tersor::onnx {

/// The key of the metadata by which a file of ours tells its integer inputs and outputs: a JSON object of "type",
/// "scale" and "zero_point" by name, real = scale * (integer - zero_point). An input with the type "pixels" takes uint8
/// pixels; the first nodes of the file are Cast, Sub and Div, which preprocess them.
inline constexpr std::string_view kIoTypes = "tersor.io_types";

/// The input has a quantizer of 8 bits and one scale behind it, or the output one before it.
bool has_integer_form(const Graph& graph, const Uses& uses, ValueId edge);

/// What reads the integers of that type in place of the input's floats; the input keeps its name. The entry of the
/// metadata.
Json make_integer_input(Graph& graph, ValueId input, DType type);
/// What preprocesses pixels in place of the input's floats. Where the quantizer behind it has the pixels as its codes,
/// that is nothing.
Json make_pixel_input(Graph& graph, ValueId input, const PixelScale& pixels);
Json make_integer_output(Graph& graph, ValueId& output, DType type);

/// What the file takes or gives at an input or output of the model for that float32 tensor: the tensor itself where the
/// file has floats too, else float16, integers of the quantizer or pixels. `model` is the one that restore_edges()
/// makes the file of. Error kUnsupportedModel for bfloat16.
Tensor file_form(const Model& model, ValueId edge, const Tensor& floats);

/// The reverse, for a file of ours that is opened: floats at the edges, and Model::narrow says what they are in the
/// file.
void open_integer_edges(Model& model);

}  // namespace tersor::onnx
