// SPDX-License-Identifier: Apache-2.0
#include "tests/vectors/graph_judge.h"

#include <algorithm>
#include <cmath>

#include "core/base/names.h"
#include "core/graph/uses.h"
#include "core/ops/registry.h"
#include "core/quant/error_functions.h"
#include "core/run/program.h"
#include "tests/support/rewrites.h"

namespace tersor::vectors {

using namespace quant;

double loss(const std::vector<double>& values, const Criterion& criterion, const PlainQuantizer& quantizer) {
  if (criterion.method == ThresholdSelectionMethod::kKl)
    return plain_divergence(even_histogram(values, 2048), quantizer.range,
                            {QuantizationMethod::kUniform, quantizer.grid, quantizer.range});
  return plain_error(values, {}, quantizer, error_exponent(criterion).value_or(2));
}

bool is_no_more(double got, double allowed, const Criterion& criterion) {
  return criterion.method == ThresholdSelectionMethod::kKl ? got <= allowed * (1 + 1e-4) + 1e-6
                                                           : got <= allowed * (1 + 1e-5) + 1e-14;
}

void GraphJudge::fail(const std::string& where, const std::vector<double>& expected, const std::vector<double>& got) {
  if (!fault_) fault_ = verdict(false, text_of(expected), text_of(got), where);
}

void GraphJudge::compare(const std::string& where, const std::vector<double>& expected,
                         const std::vector<double>& got) {
  compared_ += expected.size();
  const Verdict found = compared(expected, got, std::max(one_.tolerance, 1e-5));
  if (found.kind == Verdict::kFailed && !fault_)
    fault_ = verdict(false, found.expected, found.got, where + ": " + found.remark);
}

void GraphJudge::compare_within(const std::string& where, const std::vector<double>& expected,
                                const std::vector<double>& got, const std::vector<double>& slack) {
  compared_ += expected.size();
  bool same = expected.size() == got.size();
  for (size_t k = 0; same && k < got.size(); ++k)
    same = near(expected[k], got[k], std::max(one_.tolerance, 1e-5) + slack[k]);
  if (!same) fail(where, expected, got);
}

void GraphJudge::leave_out(const std::string& what) {
  if (std::find(left_out_.begin(), left_out_.end(), what) == left_out_.end()) left_out_.push_back(what);
}

/// By how much the reference raised activations, which its recorded extremes tell, and by how much we did.
void GraphJudge::find_shifts() {
  const std::string suffix = "_post_add";
  std::map<std::string, const Json*> nodes;
  for (const Json& node : one_.output["nodes"]) nodes[node["name"].get<std::string>()] = &node;
  for (const auto& [name, node] : nodes) {
    if (name.size() <= suffix.size() || name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0) continue;
    const std::string activation = name.substr(0, name.size() - suffix.size());
    const Json &raised = (*node)["activation"], &before = nodes.at(activation)->at("activation");
    const double step = number(raised["threshold"]) / std::ldexp(1, raised["n_bits"].get<int>());
    const double shift = number(raised["observed_min"]) - number(before["observed_min"]);
    shifts_[activation].theirs = std::nearbyint(shift / step) * step;
    shifts_[activation].threshold = number(before["threshold"]);
  }
  for (const Node* add : our_shifts()) {
    const std::string name = graph().name_of(add->inputs[0]);
    if (shifts_.count(name) != 0) shifts_[name].ours = graph().initializer(add->inputs[1])->data<float>()[0];
  }
}

ValueId GraphJudge::value_of(const std::string& name) const {
  for (const std::string& candidate : {name, "l_" + std::to_string(last_layer_of(name))})
    if (const auto found = graph().find(candidate)) return *found;
  return {};
}

void GraphJudge::judge_node(const Json& node) {
  const std::string name = node["name"].get<std::string>();
  if (node.contains("weight_shape")) {
    if (kernels_ >= plan().kernels.size()) return fail(name + ": the kernels", {0}, {1});
    const ptq::KernelPlan& kernel = plan().kernels[kernels_++];
    judge_kernel(node, kernel);
    into_kernel_ = {}, into_mean_ = 0;
    return;
  }
  if (name.find("_post_add") != std::string::npos) return judge_shifted(name, node["activation"]);
  if (name.find("_pre_pad") != std::string::npos) {
    if (into_mean_ != 0) leave_out("after a raise the reference pads and corrects by the mean from before it");
    into_mean_ = 0;
    return;
  }
  const ValueId value = is_graph_input(node) ? graph().inputs[0] : value_of(name);
  if (!value.valid()) return judge_missing(node);
  if (!node.contains("activation")) {
    if (plan().find(value) != nullptr) fail(name + ": quantizers", {0}, {1});
    return;
  }
  if (shifts_.count(name) != 0) return judge_extremes(name, node["activation"], value, 0);
  judge_activation(name, node["activation"], value, 0);
}

/// What does nothing is taken out.
void GraphJudge::judge_missing(const Json& node) {
  const std::string op = node.value("op", ""), name = node["name"].get<std::string>();
  if (op.find("Dropout") == std::string::npos && op.find("Identity") == std::string::npos)
    return fail(name + ": the value is not there", {1}, {0});
  leave_out(name + ", which does nothing and is taken out");
}

/// In every sample, one after the other.
std::vector<double> GraphJudge::values(ValueId value) const {
  run::ProgramOptions options;
  options.fetched = {value};
  run::Runner runner(run::Program::compile(line_.result.draft.model, ops::standard(), options));
  std::vector<double> all;
  for (const Tensor& sample : recorded_.samples) {
    const std::vector<double> some = runner.run(std::span(&sample, 1)).back().to_doubles();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

/// `moved`: what the reference has added to the value and we have not.
void GraphJudge::judge_activation(const std::string& name, const Json& expected, ValueId value, double moved) {
  const ptq::ActivationPlan* found = plan().find(value);
  if (found == nullptr) return fail(name + ": quantizers", {1}, {0});
  const QuantizationParams& params = found->params;
  const bool theirs_signed = expected["is_signed"].get<bool>();
  const IntegerGrid theirs{expected["n_bits"].get<int>(), theirs_signed, false},
      ours{params.grid.n_bits, params.range[0].low < 0, false};
  const double threshold = number(expected["threshold"]);
  const Range range{theirs_signed ? -threshold : 0, threshold};
  their_thresholds_.push_back(threshold), our_thresholds_.push_back(params.range[0].high);
  compare(name + " n_bits and is_signed", {double(theirs.n_bits), double(theirs.is_signed)},
          {double(ours.n_bits), double(ours.is_signed)});
  judge_extremes(name, expected, value, moved);
  if (params.range[0].high == threshold) return;
  if (!searches(value)) return fail(name + " threshold", {threshold}, {our_thresholds_.back()});
  const Criterion criterion = config_.activation_criterion();
  const PlainQuantizer by_theirs{params.method, theirs, range}, by_ours{params.method, ours, params.range[0]};
  std::vector<double> all = values(value);
  const double got = loss(all, criterion, by_ours);
  for (double& x : all) x += moved;
  const double allowed = loss(all, criterion, by_theirs);
  // The reference's is the better one by its own rule, or something else is wrong.
  const bool explained = left_edge_loss(value, moved, by_theirs) <= left_edge_loss(value, moved, by_ours) * (1 + 1e-6);
  if (!explained || !is_no_more(got, allowed, criterion))
    return fail(name + " threshold and error", {threshold, allowed}, {our_thresholds_.back(), got});
  leave_out(name + " has another threshold of no more error: the reference weighs bins at their left edges (1.5 Q2)");
}

/// Of what no operator bounds on both sides (1.5).
bool GraphJudge::searches(ValueId value) const {
  const auto maker = Uses(graph()).producer_index(value);
  const auto method = config_.activation_threshold_method;
  if (method == ThresholdSelectionMethod::kNoClipping) return false;
  if (!maker) return true;
  const framework::ValueBounds& known = line_.result.draft.attachment.of(graph().nodes()[*maker].id).bounds;
  return graph().nodes()[*maker].is("Clip") || !known.low || !known.high;
}

/// The error as the reference sees it; 0 for divergences, which are judged by the values alone.
double GraphJudge::left_edge_loss(ValueId value, double moved, const PlainQuantizer& quantizer) const {
  const Criterion criterion = config_.activation_criterion();
  if (criterion.method == ThresholdSelectionMethod::kKl) return 0;
  const EvenBins bins = their_histogram(value);
  std::vector<double> edges;
  for (size_t i = 0; i < bins.counts.size(); ++i) edges.push_back(bins.edge(i) + moved);
  return plain_error(edges, bins.counts, quantizer, error_exponent(criterion).value_or(2));
}

/// The Adds that raise activations.
std::vector<const Node*> GraphJudge::our_shifts() const {
  std::vector<const Node*> adds;
  if (const ptq::Rewrite* shifts = test::rewrite_of(line_.result.draft, test::kShiftNegative))
    for (const NodeId id : shifts->inserted) adds.push_back(graph().find(id));
  return adds;
}

/// The Add that raises an activation, or the activation where we found the raise to gain nothing.
void GraphJudge::judge_shifted(const std::string& name, const Json& expected) {
  const std::string activation = name.substr(0, name.rfind("_post_add"));
  const Raise shift = into_kernel_ = shifts_.at(activation);
  into_mean_ = shift.theirs;
  const ValueId value = *graph().find(activation);
  judge_extremes(name, expected, value, shift.theirs);
  const std::vector<const Node*> shifted = our_shifts();
  const auto done =
      std::find_if(shifted.begin(), shifted.end(), [&](const Node* add) { return add->inputs[0] == value; });
  const ValueId quantized = done == shifted.end() ? value : (*done)->outputs[0];
  const ptq::ActivationPlan* found = plan().find(quantized);
  if (found == nullptr) return fail(name + ": quantizers", {1}, {0});
  const IntegerGrid ours{found->params.grid.n_bits, found->params.range[0].low < 0, false};
  const IntegerGrid theirs{expected["n_bits"].get<int>(), expected["is_signed"].get<bool>(), false};
  const double threshold = number(expected["threshold"]);
  their_thresholds_.push_back(threshold), our_thresholds_.push_back(found->params.range[0].high);
  const bool was_raised = done != shifted.end();
  compare(name + " n_bits and is_signed", {double(theirs.n_bits), double(theirs.is_signed)},
          {double(ours.n_bits), double(was_raised && ours.is_signed)});
  // A search doubles it or leaves it.
  if (threshold != shift.threshold && threshold != 2 * shift.threshold)
    return fail(name + " threshold after and before it", {threshold}, {shift.threshold});
  if (shift.ours == shift.theirs && ours == theirs && threshold == our_thresholds_.back()) return;
  const auto error = [&](double raise, const IntegerGrid& grid, const Range& range) {
    std::vector<double> raised = values(value);
    for (double& x : raised) x += raise;
    return plain_error(raised, {}, {found->params.method, grid, range}, 2);
  };
  const double got = error(shift.ours, ours, found->params.range[0]),
               allowed = error(shift.theirs, theirs, {theirs.is_signed ? -threshold : 0, threshold});
  if (!(got <= allowed * (1 + 1e-6)))
    fail(name + " shift, threshold and square error", {shift.theirs, threshold, allowed},
         {shift.ours, our_thresholds_.back(), got});
  leave_out(activation + " is raised by " + text_of(std::vector{shift.ours}) + " for " +
            text_of(std::vector{shift.theirs}) + ", with no more error; biases compared without the raise");
}

/// Observed extremes, or what an operator is known to give, which stands in their place in the reference (1.3).
void GraphJudge::judge_extremes(const std::string& name, const Json& expected, ValueId value, double moved) {
  const auto* seen = line_.result.draft.statistics.find(graph().name_of(value));
  if (seen == nullptr) return fail(name + ": statistics", {1}, {0});
  const Uses uses(graph());
  framework::ValueBounds known;
  if (const auto maker = uses.producer_index(value))
    known = line_.result.draft.attachment.of(graph().nodes()[*maker].id).bounds;
  const auto judged = [&](const char* which, double theirs, double ours, std::optional<double> bound) {
    const bool is_bound = bound && near(theirs - moved, *bound, 1e-5);
    compare(name + " " + which, {theirs - moved}, {is_bound ? *bound : ours});
  };
  judged("observed_min", number(expected["observed_min"]), seen->histogram.min(), known.low);
  judged("observed_max", number(expected["observed_max"]), seen->histogram.max(), known.high);
}

void GraphJudge::judge_outputs() {
  const auto first = std::span(&recorded_.samples[0], 1);
  const auto run = [&](const Model& model) {
    return run::Runner(run::Program::compile(model, ops::standard())).run(first)[0].to_doubles();
  };
  const std::vector<double> wanted = numbers(one_.output["float_output_batch0"]),
                            quantized = numbers(one_.output["quantized_output_batch0"]);
  const std::vector<double> exact = run(line_.job->opened->model), got = run(line_.result.model);
  compare("float output", wanted, exact);
  if (got.size() != quantized.size()) return fail("quantized output", quantized, got);
  double step = 0;
  for (const Json& node : one_.output["nodes"])
    if (node.contains("activation")) {
      const Json& last = node["activation"];
      step = number(last["threshold"]) /
             std::ldexp(1, last["n_bits"].get<int>() - (last["is_signed"].get<bool>() ? 1 : 0));
    }
  double most = 0;
  for (size_t k = 0; k < got.size(); ++k) most = std::max(most, std::fabs(got[k] - quantized[k]) / step);
  compared_ += got.size();
  if (most > 1 + 1e-4) fail("quantized output, steps apart: " + text_of(std::vector{most}), quantized, got);
}

Verdict GraphJudge::judge() {
  find_shifts();
  for (const Json& node : one_.output["nodes"]) judge_node(node);
  if (kernels_ != plan().kernels.size()) fail("kernels", {double(kernels_)}, {double(plan().kernels.size())});
  judge_outputs();
  const std::string remark = left_out_.empty() ? "" : "left out: " + joined(left_out_, "; ");
  if (fault_) return *fault_;
  return verdict(true, "thresholds " + text_of(their_thresholds_),
                 "thresholds " + text_of(our_thresholds_) + " and " + std::to_string(compared_) + " more numbers alike",
                 remark);
}

}  // namespace tersor::vectors
