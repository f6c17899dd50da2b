// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/run/program.h"

namespace tersor::run {

/// Error kInvalidSamples naming the input, both shapes and the likely mistake, when `inputs` do not fit `ports`.
void check_inputs(std::span<const Port> ports, std::span<const ops::TensorType> inputs);

/// The same for shapes alone.
void check_input_shapes(std::span<const Port> ports, std::span<const Shape> shapes);

/// The inputs' shapes for one sample; none when one has a free dimension beside the batch.
std::optional<std::vector<Shape>> shapes_of_one_sample(const Graph& graph);
/// The same of one input.
std::optional<Shape> shape_of_one_sample(const Graph& graph, ValueId input);

/// A sentence with the shape of the first input that leaves more open than its batch; empty when none does.
std::string chosen_sizes(std::span<const Port> ports, std::span<const Tensor> inputs);

/// The declared shape with symbols: "Nx3x224x224"; "?" for an unknown dimension.
std::string declared_text(const Port& port);

}  // namespace tersor::run
