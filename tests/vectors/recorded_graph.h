// SPDX-License-Identifier: Apache-2.0
// A recorded graph: its layers as PyTorch prints them, their state, batches of samples, and what the reference made of
// it. The layers do not say how they are joined. They stand one after the other, but for the joins that the names of
// the recorded nodes tell of ("cat", "add", "l_2_add_collapsed"); what these and the layers around them read is found
// by the recorded float output.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/tensor/tensor.h"
#include "tests/vectors/case.h"

namespace tersor::vectors {

/// A layer that no ONNX operator is known for here, or joins that cannot be found out. The text says which.
struct NotReadable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct RecordedGraph {
  /// The input is "x", what layer k makes "l_<k>", what a join makes has its name.
  Model model;
  std::vector<Tensor> samples;      // of all batches, each with a first axis of 1
  std::vector<size_t> batch_sizes;  // how many of them each batch holds
};

/// Throws NotReadable.
RecordedGraph read_recorded_graph(const Case& one);

/// The case with the channels between kernel, BatchNormalization, ReLU and kernel divided as 2.9 says, by the core's
/// equalization_scale, in its state. Layers must stand one after the other.
Case with_equalized_channels(const Case& one);

/// True for the recorded node that stands for the model's input.
bool is_graph_input(const Json& node);

/// The index of the last layer that the name of a recorded node tells of ("l_0_bn", "l_0_l_1_collapsed"), or -1.
int last_layer_of(const std::string& name);

}  // namespace tersor::vectors
