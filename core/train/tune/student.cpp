// SPDX-License-Identifier: Apache-2.0
#include "core/tune/student.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/choose/block_weight.h"
#include "core/choose/choose_constants.h"
#include "core/gradient/rule.h"
#include "core/graph/attribute_defaults.h"
#include "core/graph/softmax_input.h"
#include "core/graph/uses.h"
#include "core/passes/edit.h"
#include "core/quant/quantizer.h"
#include "core/run/control.h"

namespace tersor::tune {

namespace {

[[noreturn]] void refuse(std::string message, std::string hint = {}) {
  throw Error(ErrorCode::kUnsupportedModel, std::move(message), "config.gradient_ptq_config",
              hint.empty() ? "Quantize without gradient_ptq_config." : std::move(hint));
}

Tensor floats(const std::vector<double>& values, Shape shape) {
  return passes::from_doubles(values, std::move(shape));
}

Tensor state_of(const HeldActivation& held) {
  const std::vector<float> state = held.start();
  return Tensor::of<float>(Shape{static_cast<int64_t>(state.size())}, state);
}

ValueId add_input(Graph& graph, const std::string& stem, const Shape& shape) {
  const ValueId id = graph.add_unique_value(stem, DType::kFloat32);
  std::vector<Dim> dims;
  for (const int64_t dim : shape.dims()) dims.push_back({dim, {}});
  graph.value(id).shape = std::move(dims);
  graph.inputs.push_back(id);
  return id;
}

/// What the softmax that makes an output is given, or the ArgMax, else the output.
ValueId judged(const Graph& graph, ValueId output) {
  for (const Node& node : graph.nodes()) {
    if (node.outputs.empty() || node.outputs[0] != output) continue;
    if (node.is("ArgMax")) return judged(graph, node.inputs[0]);
    if (node.is("Softmax") || node.is("LogSoftmax")) return node.inputs[0];
  }
  return value_before_softmax(graph, Uses(graph), output);
}

/// judged() of every output of floats, in the order of the outputs.
std::vector<ValueId> judged_values(const Graph& graph) {
  std::vector<ValueId> values;
  for (const ValueId output : graph.outputs) {
    const ValueId value = judged(graph, output);
    const DType type = graph.value(value).dtype;
    if (type == DType::kFloat32 || type == DType::kUndefined) values.push_back(value);
  }
  return values;
}

/// Why the kernel's weight stays as it is; empty where it can be trained.
std::string why_frozen(const ptq::KernelPlan& kernel, bool has_own) {
  if (kernel.table) return "its integers are places in a table";
  if (kernel.blocks) return "its scales are those of blocks";
  if (kernel.shared) return "other kernels have the same weight";
  if (kernel.keeps_deviation) return "its outputs' deviation is put back";
  if (kernel.weight.grid.n_bits > 8) return "its weights have more than 8 bits";
  if (has_own && kernel.weight.method == quant::QuantizationMethod::kUniform)
    return "it is stored by UNIFORM, and trainable quantizers of one's own are for SYMMETRIC and POWER_OF_TWO";
  return {};
}

class Maker {
 public:
  Maker(const Model& model, const ptq::QuantizationPlan& plan, const StudentOptions& options,
        const HeldActivations& held)
      : from_(model.graph), plan_(plan), options_(options), held_(held) {
    student_.model = model;
    student_.inputs = from_.inputs.size();
    student_.model.opset_imports.push_back({std::string(gradient::kGradientDomain), 1});
  }

  Student make(const std::vector<Shape>& shapes) {
    for (const Node& node : from_.nodes())
      if (run::control_op(node) != nullptr)
        refuse("The model has subgraphs (" + node.op_type + "), which training does not go into.");
    add_trained();
    fraction_ = add_input(graph(), "tune_fraction", Shape{1});
    for (const ValueId value : judged_values(from_)) judged_.insert(value);
    for (size_t k = 0; k < from_.nodes().size(); ++k) student_.places.push_back(k);
    for (const ValueId input : from_.inputs) finish(input, input);
    stand_at(0);
    for (size_t k = 0; k < from_.nodes().size(); ++k) {
      copy(from_.nodes()[k]);
      stand_at(k);
    }
    add_outputs();
    add_points();
    stand_at(from_.nodes().empty() ? 0 : from_.nodes().size() - 1);
    graph().outputs.clear();
    differentiate(shapes);
    return std::move(student_);
  }

 private:
  Graph& graph() { return student_.model.graph; }
  /// The nodes that were appended last.
  void stand_at(size_t place) { student_.places.resize(graph().nodes().size(), place); }

  ValueId add(TrainedInput::Kind kind, size_t index, const std::string& name, Tensor start) {
    const ValueId input = add_input(graph(), "tune_" + name, start.shape());
    student_.trained.push_back({kind, index, name, std::move(start), input, {}, {}});
    return input;
  }

  void add_trained() {
    for (size_t k = 0; k < plan_.kernels.size(); ++k) {
      const ptq::KernelPlan& kernel = plan_.kernels[k];
      const Node& node = *from_.find(kernel.node);
      const std::string& name = from_.name_of(kernel.op.weight);
      const bool has_own = options_.own.count(kernel.node) != 0;
      const std::string why = why_frozen(kernel, has_own);
      const bool stays = !why.empty() || (!options_.train_weights && !has_own);
      const Tensor weight = from_.initializer(kernel.op.weight)->aligned();
      if (!stays)
        weights_[kernel.node] = add(TrainedInput::Kind::kWeight, k, name, weight);
      else {
        if (!why.empty()) student_.frozen.push_back("The weight \"" + name + "\" is not trained: " + why + ".");
        weights_[kernel.node] = graph().add_initializer("tune_fixed", ptq::read_back(kernel, weight));
      }
      if (kernel.bias.empty()) continue;
      const auto count = static_cast<int64_t>(kernel.bias.size());
      Tensor bias = floats(kernel.bias, Shape{count});
      if (options_.train_bias && why.empty())
        biases_[kernel.node] = add(TrainedInput::Kind::kBias, k, from_.name_of(node.outputs[0]), std::move(bias));
      else
        biases_[kernel.node] = graph().add_initializer("tune_fixed", std::move(bias));
    }
    std::map<size_t, ValueId> by_group;
    for (size_t k = 0; k < plan_.activations.size(); ++k) {
      const ptq::ActivationPlan& activation = plan_.activations[k];
      const auto& scales = activation.params.scale;
      Tensor scale = Tensor::of<float>(Shape{static_cast<int64_t>(scales.size())}, scales);
      const bool trains = options_.train_ranges && scales.size() == 1 && !activation.is_fixed && !activation.table;
      const size_t group = activation.tensor.group;
      const std::string& name = from_.name_of(activation.tensor.value);
      const auto known = by_group.find(group);
      if (known != by_group.end())
        scales_.push_back(known->second);
      else if (const auto held = held_.index_of(group))
        scales_.push_back(by_group[group] = add(TrainedInput::Kind::kHeld, *held, name, state_of(held_.at(*held))));
      else if (trains)
        scales_.push_back(by_group[group] = add(TrainedInput::Kind::kScale, k, name, std::move(scale)));
      else
        scales_.push_back(graph().add_initializer("tune_scale", std::move(scale)));
    }
    for (const ptq::ConstantPlan& constant : plan_.constants) {
      if (constant.table) continue;
      const ValueId value = from_.find(constant.node)->inputs[constant.input];
      const Tensor* found = passes::float_constant(from_, value);
      if (found != nullptr)
        student_of_[value] = graph().add_initializer("tune_fixed", ptq::read_back(constant, *found));
    }
  }

  /// The value's quantizer after it, where it has one.
  void finish(ValueId value, ValueId made) {
    student_of_[value] = made;
    const ptq::ActivationPlan* found = plan_.find(value);
    if (found == nullptr || found->table) return;
    const quant::QuantizationParams& params = found->params;
    Node node;
    node.domain = gradient::kGradientDomain;
    node.inputs = {made, scales_[static_cast<size_t>(found - plan_.activations.data())]};
    if (const auto held = held_.index_of(found->tensor.group)) {
      node.op_type = "Held";
      node.attributes["index"] = static_cast<int64_t>(*held);
    } else {
      node.op_type = "FakeQuantize";
      node.attributes["low"] = int64_t{params.grid.q_min() - params.zero_point[0]};
      node.attributes["high"] = int64_t{params.grid.q_max() - params.zero_point[0]};
      node.inputs.push_back(fraction_);
    }
    node.outputs = {graph().add_unique_value("student")};
    quantized_[value] = {node.outputs[0], found->tensor.integer_made};
    graph().append(std::move(node));
  }

  ValueId read(ValueId value, NodeId reader) const {
    const auto quantized = quantized_.find(value);
    if (quantized != quantized_.end() && (quantized->second.second || plan_.reads_quantized(reader)))
      return quantized->second.first;
    const auto found = student_of_.find(value);
    return found == student_of_.end() ? value : found->second;
  }

  void copy(const Node& original) {
    const bool is_kernel = weights_.count(original.id) != 0;
    bool depends = is_kernel;
    for (const ValueId input : original.inputs)
      depends = depends || (input.valid() && read(input, original.id) != input);
    if (!depends) return;  // it is the teacher's
    Node node = original;
    node.name.clear();
    for (ValueId& input : node.inputs)
      if (input.valid()) input = read(input, original.id);
    if (is_kernel) {
      const ptq::KernelPlan& kernel = *plan_.find(original.id);
      node.inputs[kernel.op.weight_slot] = weights_.at(original.id);
      const auto bias = biases_.find(original.id);
      if (bias != biases_.end()) {
        node.inputs.resize(std::max(node.inputs.size(), kernel.op.bias_slot + 1));
        node.inputs[kernel.op.bias_slot] = bias->second;
      }
    }
    for (ValueId& output : node.outputs)
      if (output.valid()) output = graph().add_unique_value("student");
    const std::vector<ValueId> made = node.outputs;
    if (is_kernel) made_[original.id] = node;
    graph().append(std::move(node));
    for (size_t k = 0; k < made.size(); ++k)
      if (made[k].valid())
        finish(original.outputs[k], is_kernel && k == 0 && ends_block(original.outputs[k])
                                        ? stopped(original.outputs[k], made[k])
                                        : made[k]);
  }

  /// The kernel that makes this value is the last of its block. What the model ends in is read by no further block.
  bool ends_block(ValueId value) {
    return options_.block_kernels > 0 && ++kernels_ % options_.block_kernels == 0 && judged_.count(value) == 0;
  }
  ValueId stopped(ValueId value, ValueId made) {
    compared_[value] = made;
    Node node;
    node.op_type = "StopGradient";
    node.domain = gradient::kGradientDomain;
    node.inputs = {made};
    node.outputs = {graph().add_unique_value("student")};
    const ValueId after = node.outputs[0];
    graph().append(std::move(node));
    return after;
  }

  void add_points() {
    std::set<ValueId> values = judged_;
    for (const ptq::KernelPlan& kernel : plan_.kernels) values.insert(from_.find(kernel.node)->outputs[0]);
    const ValueId factors = add_input(graph(), "tune_factors", Shape{0});
    for (const ValueId value : values) {
      const auto in_block = compared_.find(value);
      const auto student = in_block == compared_.end() ? student_of_.find(value) : in_block;
      if (student == student_of_.end() || student->second == value) continue;
      Node node;
      node.op_type = "SquaredError";
      node.domain = gradient::kGradientDomain;
      node.attributes["index"] = static_cast<int64_t>(student_.points.size());
      node.inputs = {student->second, value, factors};
      node.outputs = {graph().add_unique_value("error"), graph().add_unique_value("loss")};
      student_.points.push_back({from_.name_of(value), student->second, value, node.outputs[1]});
      seeds_.push_back({student->second, {}, std::move(node)});
    }
    if (options_.has_labels) add_cross_entropy(factors);
    factors_ = static_cast<int64_t>(student_.points.size()) + (options_.has_labels ? 1 : 0);
    graph().value(factors).shape = std::vector<Dim>{{factors_, {}}};
  }

  void add_cross_entropy(ValueId factors) {
    if (!student_.has_first)
      refuse("Labels are held against the first output of the model, and no weight that is trained acts on it.",
             "Set label_weight to 0.");
    const ValueId label = graph().add_unique_value("tune_label", DType::kInt64);
    graph().value(label).shape = std::vector<Dim>{{1, {}}};
    graph().inputs.push_back(label);
    Node node;
    node.op_type = "CrossEntropy";
    node.domain = gradient::kGradientDomain;
    node.attributes["index"] = static_cast<int64_t>(student_.points.size());
    const ValueId scores = student_.outputs[0].first;
    node.inputs = {scores, label, factors};
    node.outputs = {graph().add_unique_value("error"), graph().add_unique_value("loss")};
    student_.cross_entropy = node.outputs[1];
    seeds_.push_back({scores, node.outputs[0]});
    graph().append(std::move(node));
  }

  void add_outputs() {
    for (const ValueId value : judged_values(from_)) {
      const auto quantized = quantized_.find(value);
      if (quantized != quantized_.end() && quantized->second.second)
        student_.outputs.push_back({quantized->second.first, value});
      else if (student_of_.count(value) != 0)
        student_.outputs.push_back({student_of_.at(value), value});
    }
    const ValueId first = judged(from_, from_.outputs.at(0));
    student_.has_first = !student_.outputs.empty() && student_.outputs[0].second == first;
    student_.ends_in_answer = student_.has_first && first != from_.outputs[0];
  }

  void differentiate(const std::vector<Shape>& shapes) {
    std::vector<Shape> all = shapes;
    for (const TrainedInput& one : student_.trained) all.push_back(one.start.shape());
    all.push_back(Shape{1});
    all.push_back(Shape{factors_});
    if (options_.has_labels) all.push_back(Shape{1});
    std::vector<ValueId> wanted;
    for (const TrainedInput& one : student_.trained) wanted.push_back(one.input);
    for (const TrainedInput& one : student_.trained)
      if (one.kind == TrainedInput::Kind::kWeight) wanted.push_back(made_.at(plan_.kernels[one.index].node).outputs[0]);
    const gradient::Gradients found = gradient::add_gradients(
        student_.model, seeds_, wanted, gradient::ranks_of(student_.model, held_.operators(), all));
    for (const gradient::Frozen& node : found.frozen) {
      const size_t place = student_.places[node.index];  // the student's own nodes have neither names nor places
      student_.frozen.push_back("Gradients do not pass " + place_of(from_.nodes()[place], place) + ": " + node.reason);
    }
    size_t next = student_.trained.size();
    for (size_t k = 0; k < student_.trained.size(); ++k) {
      TrainedInput& one = student_.trained[k];
      one.gradient = found.by_value[k];
      if (one.kind == TrainedInput::Kind::kWeight)
        one.by_factor = product_by_channel(plan_.kernels[one.index], found.by_value[next++]);
    }
  }

  /// TrainedInput::by_factor.
  ValueId product_by_channel(const ptq::KernelPlan& kernel, ValueId by_output) {
    const Node& node = made_.at(kernel.node);
    const auto& axis = kernel.weight.channel_axis;
    const bool has_bias = node.inputs.size() > kernel.op.bias_slot && node.inputs[kernel.op.bias_slot].valid();
    if (!by_output.valid() || (axis && *axis != kernel.op.output_axis)) return {};
    if (has_bias && biases_.count(kernel.node) == 0) return {};
    if (node.is("Gemm") && (float_of(node, "alpha") != 1 || (has_bias && float_of(node, "beta") != 1))) return {};
    Node product;
    product.op_type = "ChannelProduct";
    product.domain = gradient::kGradientDomain;
    product.attributes["channel_axis"] = int64_t{kernel.op.is_conv ? 1 : -1};
    product.inputs = {by_output, node.outputs[0]};
    if (has_bias) product.inputs.push_back(node.inputs[kernel.op.bias_slot]);
    product.outputs = {graph().add_unique_value("by_factor")};
    const ValueId made = product.outputs[0];
    graph().append(std::move(product));
    return made;
  }

  const Graph& from_;
  const ptq::QuantizationPlan& plan_;
  StudentOptions options_;
  const HeldActivations& held_;
  Student student_;
  ValueId fraction_;
  std::map<NodeId, ValueId> weights_, biases_;  // by kernel
  std::map<NodeId, Node> made_;                 // of each kernel the student's
  std::vector<ValueId> scales_;                 // by activation
  std::set<ValueId> judged_;                    // what the model ends in
  int kernels_ = 0;                             // copied so far
  int64_t factors_ = 0;
  std::map<ValueId, ValueId> compared_;                    // at the end of a block, what gradients do pass
  std::map<ValueId, ValueId> student_of_;                  // where it differs from the teacher's
  std::map<ValueId, std::pair<ValueId, bool>> quantized_;  // and whether all readers take it
  std::vector<gradient::Seed> seeds_;
};

}  // namespace

Student make_student(const Model& model, const ptq::QuantizationPlan& plan, const StudentOptions& options,
                     const HeldActivations& held, const std::vector<Shape>& shapes) {
  Student student = Maker(model, plan, options, held).make(shapes);
  const auto trains = [](const TrainedInput& one) { return one.gradient.valid(); };
  if (std::none_of(student.trained.begin(), student.trained.end(), trains)) {
    std::string why;
    for (const std::string& one : student.frozen) why += " " + one;
    refuse("Nothing of the model can be trained." + why);
  }
  return student;
}

Teacher make_teacher(const Model& model, const ptq::QuantizationPlan& plan, const std::vector<Shape>& shapes) {
  Teacher teacher;
  teacher.forward = teacher.model = model;
  teacher.forward.graph.outputs.clear();
  Graph& graph = teacher.model.graph;
  std::set<ValueId> values;
  for (const ptq::KernelPlan& kernel : plan.kernels) values.insert(graph.find(kernel.node)->outputs[0]);
  const std::vector<ValueId> outputs = judged_values(graph);
  values.insert(outputs.begin(), outputs.end());
  teacher.values.assign(values.begin(), values.end());
  const std::vector<int> ranks = gradient::ranks_of(model, gradient::operators(), shapes);
  std::vector<gradient::Seed> seeds;
  for (const ValueId output : outputs) {
    const ValueId v = graph.add_unique_value("tune_v", DType::kFloat32);
    graph.inputs.push_back(v);
    teacher.outputs.push_back(output);
    seeds.push_back({output, v});
  }
  teacher.gradients = gradient::add_gradients(teacher.model, seeds, teacher.values, ranks).by_value;
  graph.outputs.clear();
  return teacher;
}

}  // namespace tersor::tune
