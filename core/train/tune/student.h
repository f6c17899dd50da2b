// SPDX-License-Identifier: Apache-2.0
// The graph that training runs: the float model (the teacher), a copy of it with quantizers (the student), the errors
// of the student at the outputs of its kernels, and the gradients of their sum. What is trained are inputs of the
// graph.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/decide/plan.h"
#include "core/gradient/add_gradients.h"
#include "core/graph/graph.h"
#include "core/tune/held_activations.h"

namespace tersor::tune {

/// An input of the graph that training changes, and dL by it.
struct TrainedInput {
  enum class Kind { kWeight, kBias, kScale, kHeld } kind = Kind::kWeight;
  size_t index = 0;  // of the plan's kernel, of the first of the activations that share the scale, or of the quantizer
  std::string name;  // of the weight, of the kernel's output, or of the activation's tensor
  Tensor start;      // where training starts; of a weight the float one
  ValueId input, gradient;
  /// Of a weight, by output channel: the sum of dL by the kernel's output times that output less its bias, which is dL
  /// by the logarithm of the channel's factor; takes no product as large as the weight's gradient. Invalid where the
  /// output is no plain sum of products and bias.
  ValueId by_factor;
};

/// Where student and teacher are compared.
struct Point {
  std::string name;
  ValueId student, teacher;
  ValueId loss;
};

struct StudentOptions {
  bool train_weights = true;
  bool train_bias = true;
  bool train_ranges = false;
  int block_kernels = 0;  // gradients pass so many kernels; 0: the whole model
  bool has_labels = false;
  std::set<NodeId> own = {};  // kernels whose weights have trainable quantizers of their own
};

struct Student {
  /// Inputs: the model's own, then those trained in their order, then `fraction` (one element, of quantized
  /// activations) and `factors` (one for each point: L is the sum of factor times squared error), and with labels one
  /// more factor, of the cross-entropy, and `label` (one int64; below 0: none).
  Model model;
  size_t inputs = 0;  // the model's own
  std::vector<TrainedInput> trained;
  std::vector<Point> points;
  std::vector<std::pair<ValueId, ValueId>> outputs;  // student and teacher; what a Softmax at the end is given
  bool has_first = false;                            // outputs[0] is of the model's first
  bool ends_in_answer = false;                       // and a Softmax or an ArgMax makes that one
  ValueId cross_entropy;                             // of the first output; invalid without labels
  std::vector<size_t> places;                        // of each node before the gradients: where in the model it stands
  std::vector<std::string> frozen;                   // sentences: what is not trained, and why
};

/// `shapes`: of a sample's inputs; `held` outlives the student's programs. Error kUnsupportedModel for a model with
/// subgraphs, where nothing can be trained, or where the first output is nothing that labels could be held against.
Student make_student(const Model& model, const ptq::QuantizationPlan& plan, const StudentOptions& options,
                     const HeldActivations& held, const std::vector<Shape>& shapes);

/// The teacher alone, with the gradients of (sum of v times output) by each point: inputs are the model's own and then
/// one v for each float output, of that output's shape.
struct Teacher {
  Model forward;  // without gradients; inputs are the model's own
  Model model;
  std::vector<ValueId> values;     // the points
  std::vector<ValueId> gradients;  // invalid where the outputs do not depend on the point
  std::vector<ValueId> outputs;    // that v is for
};
Teacher make_teacher(const Model& model, const ptq::QuantizationPlan& plan, const std::vector<Shape>& shapes);

}  // namespace tersor::tune
