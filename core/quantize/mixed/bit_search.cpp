// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/bit_search.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/choose/choose_params.h"
#include "core/config/search_settings.h"
#include "core/decide/placement.h"
#include "core/export/apply_plan.h"
#include "core/graph/clamp_bounds.h"
#include "core/graph/operators.h"
#include "core/graph/softmax_input.h"
#include "core/graph/value_types.h"
#include "core/mixed/distance.h"
#include "core/mixed/sensitivity.h"
#include "core/ops/registry.h"

namespace tersor::mixed {

using config::MixedPrecisionQuantizationConfig;
using config::MpDistance;

namespace {

bool is_point_operator(const Node& node) {
  return has_trait(node, Trait::kWeighted) || node.is("Sigmoid") || node.is("Softmax") || node.is("Add") ||
         node.is("Concat");
}

/// Half to even.
size_t nearest(double x) {
  return static_cast<size_t>(std::nearbyint(x));
}

bool holds_floats(const Tensor& tensor) {
  return tensor.dtype() == DType::kFloat32;
}

double distance_of(MpDistance kind, const Tensor& x, const Tensor& y) {
  if (!holds_floats(x) || !holds_floats(y)) return 0;
  const Shape& shape = x.shape();
  const int64_t row = shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
  return distance(kind, x.data<float>(), y.data<float>(), static_cast<size_t>(row));
}

template <class T>
bool holds(const std::vector<T>& list, T one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

}  // namespace

BitSearch::BitSearch(const SearchProblem& problem, std::vector<Configurable> operators)
    : problem_(problem),
      uses_(std::make_shared<const Uses>(problem.model.graph)),
      operators_(std::move(operators)),
      sensitivities_(operators_.size()) {
  size_t most = 0;
  for (const Configurable& one : operators_) most = std::max(most, one.candidates.size());
  config::QuantizationConfig config = problem.config;
  // The sweep that measures biases comes when the bits are known.
  if (config.measures_bias()) config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;
  for (size_t k = 0; k < most; ++k) {
    framework::Attachment attachment = problem.attachment;
    for (const Configurable& one : operators_)
      for (const size_t node : one.nodes)
        framework::take_candidate(attachment.nodes[node], one.candidates[std::min(k, one.candidates.size() - 1)]);
    const Graph& graph = problem.model.graph;
    const ptq::Placement placement = ptq::place(graph, attachment, problem.in_float);
    plans_.push_back(ptq::choose_params(graph, attachment, placement, problem.statistics, config));
  }
  find_points();
  const auto weighting = config::mixed_precision_of(problem.config).distance_weighting_method;
  by_hessian_ = weighting == config::MpDistanceWeighting::kHessian && !points_.empty();
}

void BitSearch::find_points() {
  const Graph& graph = problem_.model.graph;
  const auto& nodes = graph.nodes();
  const MixedPrecisionQuantizationConfig config = config::mixed_precision_of(problem_.config);
  const std::vector<DType> types = value_types(graph);
  for (const ValueId output : graph.outputs) {
    const ValueId judged = value_before_softmax(graph, *uses_, output);
    const auto maker = uses_->producer_index(judged);
    if (maker && types[static_cast<size_t>(output.index)] == DType::kFloat32)
      outputs_.push_back({judged, config.distance_fn.value_or(MpDistance::kNormalizedMse), *maker, output});
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const bool is_point = is_point_operator(nodes[i]) && nodes[i].outputs.size() == 1 &&
                          !uses_->is_output(nodes[i].outputs[0]) &&
                          std::none_of(outputs_.begin(), outputs_.end(),
                                       [&](const Point& one) { return one.value == nodes[i].outputs[0]; });
    if (is_point)
      points_.push_back({nodes[i].outputs[0], config.distance_fn.value_or(distance_for(nodes[i].op_type)), i});
  }
  const double part = config.num_interest_points_factor;
  if (part < 1) {
    const std::vector<Point> all = std::exchange(points_, {});
    const auto count = static_cast<size_t>(part * static_cast<double>(all.size()));
    const double last = static_cast<double>(all.size()) - 1;
    for (size_t k = 0; k < count; ++k)
      points_.push_back(all[count == 1 ? 0 : nearest(last * static_cast<double>(k) / static_cast<double>(count - 1))]);
  }
  needed_.assign(nodes.size(), false);
  std::vector<size_t> open;
  for (const auto* list : {&points_, &outputs_})
    for (const Point& one : *list) open.push_back(one.maker);
  while (!open.empty()) {
    const size_t node = open.back();
    open.pop_back();
    if (needed_[node]) continue;
    needed_[node] = true;
    for (const ValueId value : uses_->reads(node))
      if (value.valid())
        if (const auto maker = uses_->producer_index(value)) open.push_back(*maker);
  }
}

std::vector<BitSearch::Point> BitSearch::points_after(size_t node) const {
  std::vector<Point> found;
  for (const auto* list : {&points_, &outputs_})
    for (const Point& one : *list)
      if (one.maker >= node) found.push_back(one);
  return found;
}

/// What the nodes from this one on read of what those before it make.
std::vector<ValueId> BitSearch::cut_at(size_t node) const {
  std::set<ValueId> cut;
  for (size_t i = node; i < problem_.model.graph.nodes().size(); ++i) {
    if (!needed_[i]) continue;
    for (const ValueId value : uses_->reads(i)) {
      if (!value.valid() || problem_.model.graph.initializer(value) != nullptr) continue;
      const auto maker = uses_->producer_index(value);
      if (!maker || *maker < node) cut.insert(value);
    }
  }
  return {cut.begin(), cut.end()};
}

/// What that candidate makes of these nodes, and nothing else.
ptq::QuantizationPlan BitSearch::plan_of(const Configurable& one, size_t candidate) const {
  const Graph& graph = problem_.model.graph;
  const auto& nodes = graph.nodes();
  const auto is_own = [&](NodeId id) {
    return std::any_of(one.nodes.begin(), one.nodes.end(), [&](size_t node) { return nodes[node].id == id; });
  };
  const bool of_operands = problem_.attachment.export_rules.placement == tpc::Placement::kOperands;
  // After a clamp that has no quantizer of its own stands that of the operator before it.
  const auto is_made = [&](ValueId value) {
    for (auto index = uses_->producer_index(value); index; index = uses_->producer_index(value)) {
      if (holds(one.nodes, *index)) return true;
      if (problem_.attachment.nodes[*index].config().enable_activation_quantization ||
          !clamp_bounds(graph, nodes[*index]))
        return false;
      value = nodes[*index].inputs[0];
    }
    return false;
  };
  const auto is_read = [&](ValueId value) {
    return std::any_of(one.nodes.begin(), one.nodes.end(),
                       [&](size_t node) { return holds(nodes[node].inputs, value); });
  };
  const ptq::QuantizationPlan& whole = plans_[candidate];
  ptq::QuantizationPlan plan;
  for (const ptq::KernelPlan& kernel : whole.kernels) {
    if (!is_own(kernel.node)) continue;
    plan.kernels.push_back(kernel);
    plan.kernels.back().integer_bias = false;
    plan.kernels.back().input_scale.reset();
  }
  for (const ptq::ConstantPlan& constant : whole.constants)
    if (is_own(constant.node) && (!constant.tied || is_own(*constant.tied))) plan.constants.push_back(constant);
  for (const ptq::ActivationPlan& activation : whole.activations) {
    const bool made = is_made(activation.tensor.value);
    if (!made && !(of_operands && is_read(activation.tensor.value))) continue;
    plan.activations.push_back(activation);
    plan.activations.back().tensor.integer_made = made && activation.tensor.integer_made;
  }
  if (of_operands)
    for (const size_t node : one.nodes)
      if (whole.reads_quantized(nodes[node].id) || whole.find(nodes[node].id) != nullptr)
        plan.operand_readers.push_back(nodes[node].id);
  return plan;
}

std::unique_ptr<HessianScores> BitSearch::scores_for(const std::vector<Tensor>& inputs) const {
  std::vector<ValueId> points, outputs;
  for (const Point& one : points_) points.push_back(one.value);
  for (const Point& one : outputs_) outputs.push_back(one.value);
  std::vector<Shape> shapes;
  for (const Tensor& input : inputs) shapes.push_back(input.shape());
  return std::make_unique<HessianScores>(problem_.model, points, outputs, shapes);
}

SearchProgram BitSearch::program(size_t step) const {
  const Model& model = problem_.model;
  const Configurable& one = operators_[step];
  SearchProgram program;
  program.scores = by_hessian_ && step == 0;
  program.inputs = step == 0 ? model.graph.inputs : cut_at(operators_[step - 1].nodes[0]);
  program.cut = cut_at(one.nodes[0]);
  for (const ValueId value : program.cut)
    if (!holds(program.inputs, value)) program.kept.push_back(value);
  for (const ValueId value : program.inputs)
    if (!holds(program.cut, value)) program.dropped.push_back(value);
  const auto compile = [](const Model& of, run::GraphPart part) {
    run::ProgramOptions options;
    options.part = std::move(part);
    return run::Program::compile(of, ops::standard(), options);
  };
  if (!program.kept.empty()) program.before = compile(model, {program.inputs, program.kept, uses_});
  const std::vector<Point> points = points_after(one.nodes[0]);
  std::vector<ValueId> values;
  for (const Point& point : points) values.push_back(point.value);
  program.in_float = compile(model, {program.cut, values, uses_});
  for (size_t k = 0; k < one.candidates.size(); ++k) {
    const ptq::QuantizationPlan plan = plan_of(one, k);
    if (plan.kernels.empty() && plan.constants.empty() && plan.activations.empty()) {
      program.by_candidate.push_back(nullptr);
      continue;
    }
    const Model quantized = ptq::apply_restored(model, plan);
    const Uses uses(quantized.graph);
    std::vector<ValueId> at = values;
    for (size_t p = 0; p < points.size(); ++p)
      if (points[p].output.valid()) at[p] = value_before_softmax(quantized.graph, uses, points[p].output);
    program.by_candidate.push_back(compile(quantized, {program.cut, at}));
  }
  return program;
}

size_t BitSearch::distances(size_t step) const {
  return operators_[step].candidates.size() * points_after(operators_[step].nodes[0]).size() +
         (by_hessian_ && step == 0 ? points_.size() : 0);
}

void BitSearch::take(size_t step, const std::vector<double>& means) {
  TERSOR_CHECK(means.size() == distances(step));
  const Configurable& one = operators_[step];
  const MixedPrecisionQuantizationConfig config = config::mixed_precision_of(problem_.config);
  if (by_hessian_ && step == 0) scores_.assign(means.end() - static_cast<std::ptrdiff_t>(points_.size()), means.end());
  auto next = means.begin();
  std::vector<double>& sensitivities = sensitivities_[step];
  sensitivities.clear();
  for (size_t k = 0; k < one.candidates.size(); ++k) {
    const auto read = [&](const std::vector<Point>& points) {
      std::vector<double> distances;
      for (const Point& point : points) distances.push_back(point.maker >= one.nodes[0] ? *next++ : 0);
      return distances;
    };
    const std::vector<double> at_points = read(points_), at_outputs = read(outputs_);
    double sum = at_points.empty() ? 0 : weighted_distance(at_points, scores_, config);
    double of_outputs = 0;
    for (const double distance : at_outputs) of_outputs += distance;
    if (!at_outputs.empty()) sum += of_outputs / static_cast<double>(at_outputs.size());
    sensitivities.push_back(sum);
  }
}

SearchRunner::SearchRunner(const BitSearch& search, size_t step, const SearchProgram& program)
    : search_(search), program_(program), in_float_(program.in_float) {
  for (const auto& point : search.points_after(search.operators_[step].nodes[0])) kinds_.push_back(point.distance);
  if (program.before) before_.emplace(program.before);
  for (const auto& one : program.by_candidate) {
    by_candidate_.emplace_back();
    if (one) by_candidate_.back().emplace(one);
  }
}

std::vector<double> SearchRunner::distances(const std::vector<Tensor>& x, const std::vector<Tensor>& y) const {
  std::vector<double> found;
  for (size_t p = 0; p < x.size(); ++p) found.push_back(distance_of(kinds_[p], x[p], y[p]));
  return found;
}

std::vector<double> SearchRunner::advance(SearchState& state) {
  const auto values = [&](const std::vector<ValueId>& ids) {
    std::vector<Tensor> tensors;
    for (const ValueId id : ids) tensors.push_back(state.values.at(id));
    return tensors;
  };
  std::vector<double> scores;
  if (program_.scores) {
    const std::vector<Tensor> inputs = values(search_.problem_.model.graph.inputs);
    if (!scores_) scores_ = search_.scores_for(inputs);
    scores = scores_->of(inputs);
  }
  if (before_) {
    std::vector<Tensor> made = before_->run(values(program_.inputs));
    for (size_t k = 0; k < made.size(); ++k) state.values[program_.kept[k]] = std::move(made[k]);
  }
  for (const ValueId value : program_.dropped) state.values.erase(value);
  const std::vector<Tensor> inputs = values(program_.cut), x = in_float_.run(inputs);
  std::vector<double> all;
  for (auto& runner : by_candidate_) {
    const std::vector<double> found = runner ? distances(x, runner->run(inputs)) : std::vector<double>(x.size(), 0.0);
    all.insert(all.end(), found.begin(), found.end());
  }
  all.insert(all.end(), scores.begin(), scores.end());
  return all;
}

}  // namespace tersor::mixed
