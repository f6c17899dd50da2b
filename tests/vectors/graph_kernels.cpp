// SPDX-License-Identifier: Apache-2.0
// Kernels of recorded graphs: weights, thresholds, biases and what is taken from them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/graph/uses.h"
#include "core/ops/registry.h"
#include "core/passes/edit.h"
#include "core/quant/corrections.h"
#include "core/run/program.h"
#include "tests/vectors/graph_judge.h"

namespace tersor::vectors {

using namespace quant;

namespace {

/// The weights of each output, inputs before taps.
std::vector<std::vector<double>> rows_of(const passes::KernelOp& op, std::span<const double> weight) {
  std::vector<std::vector<double>> rows(static_cast<size_t>(op.outputs));
  for (int64_t o = 0; o < op.outputs; ++o)
    for (int64_t i = 0; i < op.inputs_per_group(); ++i)
      for (int64_t tap = 0; tap < op.taps; ++tap) rows[static_cast<size_t>(o)].push_back(weight[op.at(o, i, tap)]);
  return rows;
}

std::vector<double> joined_rows(const std::vector<std::vector<double>>& rows) {
  std::vector<double> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

std::vector<int64_t> dims_of(const Json& shape) {
  std::vector<int64_t> dims;
  for (const Json& dim : shape) dims.push_back(dim.get<int64_t>());
  return dims;
}

/// Of an output; a grouped ConvTranspose shares thresholds among its groups.
double threshold_of(const ptq::KernelPlan& kernel, size_t output) {
  return kernel.weight.range[output % kernel.weight.range.size()].high;
}

/// What rounding a kernel by thresholds adds to the mean of each output, and by how much a weight half-way between two
/// codes, which may land on either, may change that.
struct MeanErrors {
  std::vector<double> values, slack;
  std::vector<double> rounding;  // of each weight, in its order
};

MeanErrors mean_errors(const Tensor& weight, const ptq::KernelPlan& kernel, const std::vector<double>& thresholds,
                       const std::vector<double>& means) {
  const passes::KernelOp& op = kernel.op;
  const std::vector<double> exact = passes::to_doubles(weight);
  std::vector<double> quantized = exact;
  MeanErrors found{{}, std::vector<double>(static_cast<size_t>(op.outputs), 0.0), {}};
  for (int64_t o = 0; o < op.outputs; ++o) {
    const double t = thresholds[static_cast<size_t>(o)];
    const PlainQuantizer quantizer{kernel.weight.method, {kernel.weight.grid.n_bits, true, false}, {-t, t}};
    const int64_t first = o / (op.outputs / op.groups) * op.inputs_per_group();
    for (int64_t i = 0; i < op.inputs_per_group(); ++i)
      for (int64_t tap = 0; tap < op.taps; ++tap) {
        const size_t at = op.at(o, i, tap);
        quantized[at] = quantizer(exact[at]);
        const double places = exact[at] / quantizer.step();
        if (std::fabs(places - std::floor(places) - 0.5) < 1e-4)
          found.slack[static_cast<size_t>(o)] += quantizer.step() * std::fabs(means[static_cast<size_t>(first + i)]);
      }
  }
  found.values =
      weights_bias_correction({exact, weight.shape().dims(), op.output_axis, op.input_axis}, quantized, means);
  for (size_t k = 0; k < exact.size(); ++k) found.rounding.push_back(quantized[k] - exact[k]);
  return found;
}

/// The mean of what a Conv with these weights makes of channels that are everywhere at their mean, its border included.
std::vector<double> mean_outputs(const Node& conv, const std::vector<double>& weight, const Shape& weight_shape,
                                 const std::vector<double>& means, const Shape& input_shape) {
  Model model;
  model.opset_imports = {{"", 20}};
  Node node = conv;
  node.inputs = {model.graph.add_value("x", DType::kFloat32),
                 model.graph.add_initializer("w", tensor_of(weight, weight_shape.dims()))};
  node.outputs = {model.graph.add_value("y", DType::kFloat32)};
  model.graph.inputs = {node.inputs[0]};
  model.graph.outputs = node.outputs;
  model.graph.append(std::move(node));
  const auto places = static_cast<size_t>(input_shape.elements()) / means.size();
  std::vector<double> input;
  for (const double mean : means) input.insert(input.end(), places, mean);
  const Tensor x = tensor_of(input, input_shape.dims());
  const Tensor y = run::Runner(run::Program::compile(model, ops::standard())).run(std::span(&x, 1))[0];
  std::vector<double> found;
  for (const std::vector<double>& row : vectors::rows_of(y.to_doubles(), y.shape().dims(), 1))
    found.push_back(std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size()));
  return found;
}

bool pads(const Node& node) {
  const std::vector<int64_t> sides = node.ints_or("pads", {});
  return std::any_of(sides.begin(), sides.end(), [](int64_t side) { return side != 0; }) ||
         node.string_or("auto_pad", "NOTSET").rfind("SAME", 0) == 0;
}

}  // namespace

/// softmax_shift adds a constant to the bias before a Softmax, ours only where the step becomes finer.
double GraphJudge::bias_shift(const std::string& name, const Node& node, const std::vector<double>& theirs,
                              const std::vector<double>& ours) {
  const Uses uses(graph());
  const auto reader = passes::sole_reader(graph(), uses, node.outputs[0]);
  if (!config_.softmax_shift || !reader || theirs.size() != ours.size()) return 0;
  if (!graph().nodes()[*reader].is("Softmax") && !graph().nodes()[*reader].is("LogSoftmax")) return 0;
  double sum = 0;
  for (size_t o = 0; o < ours.size(); ++o) sum += theirs[o] - ours[o];
  const double shift = sum / static_cast<double>(ours.size());
  if (std::fabs(shift) < 1e-5) return 0;
  leave_out(name + ": the constant before the Softmax, which we leave where it would bring no finer step");
  return shift;
}

void GraphJudge::judge_kernel(const Json& node, const ptq::KernelPlan& kernel) {
  const std::string name = node["name"].get<std::string>();
  const bool transposed = node["op"].get<std::string>().find("Transpose") != std::string::npos;
  const auto their_rows = vectors::rows_of(numbers(node["weight"]), dims_of(node["weight_shape"]), transposed ? 1 : 0);
  const auto our_rows = rows_of(kernel.op, passes::to_doubles(*graph().initializer(kernel.op.weight)));
  compare(name + " weight", joined_rows(their_rows), joined_rows(our_rows));
  const std::vector<double> thresholds = numbers(node["weight_threshold"]);
  if (thresholds.size() != our_rows.size() || their_rows.size() != our_rows.size())
    return fail(name + " outputs", {double(thresholds.size())}, {double(our_rows.size())});

  judge_thresholds(name, kernel, their_rows, thresholds);
  const double shift = judge_bias(node, kernel, our_rows);
  const std::vector<double> bias = *passes::bias_values(graph(), kernel.op);
  if (node.contains("bias_correction") && !node["bias_correction"].is_null())
    judge_corrections(node, kernel, bias, thresholds);
  else if (!config_.weights_bias_correction && !kernel.bias.empty())
    compare(name + " bias of the plan", bias, kernel.bias);
  if (node.contains("activation"))
    judge_activation(name, node["activation"], graph().find(kernel.node)->outputs[0], shift);
}

void GraphJudge::judge_thresholds(const std::string& name, const ptq::KernelPlan& kernel,
                                  const std::vector<std::vector<double>>& rows, const std::vector<double>& expected) {
  const Criterion criterion = config_.weights_criterion();
  const IntegerGrid grid{kernel.weight.grid.n_bits, true, false};
  for (size_t o = 0; o < rows.size(); ++o) {
    const double ours = threshold_of(kernel, o), theirs = expected[o];
    ++compared_;
    if (near(ours, theirs, 1e-5)) continue;
    const double got = loss(rows[o], criterion, {kernel.weight.method, grid, {-ours, ours}}),
                 allowed = loss(rows[o], criterion, {kernel.weight.method, grid, {-theirs, theirs}});
    if (criterion.method == ThresholdSelectionMethod::kNoClipping || !is_no_more(got, allowed, criterion))
      fail(name + " weight_threshold " + std::to_string(o) + " and error", {theirs, allowed}, {ours, got});
  }
}

/// Before corrections, and as if nothing had been raised before it. Returns what the reference added for a Softmax.
double GraphJudge::judge_bias(const Json& node, const ptq::KernelPlan& kernel,
                              const std::vector<std::vector<double>>& rows) {
  const std::string name = node["name"].get<std::string>();
  std::vector<double> theirs(rows.size(), 0.0), ours = *passes::bias_values(graph(), kernel.op);
  if (!node["bias"].is_null()) theirs = numbers(node["bias"]);
  if (theirs.size() != rows.size()) return fail(name + " bias", theirs, ours), 0;
  for (size_t o = 0; o < rows.size(); ++o) {
    double sum = 0;
    for (const double w : rows[o]) sum += w;
    theirs[o] += into_kernel_.theirs * sum, ours[o] += into_kernel_.ours * sum;
  }
  const double shift = bias_shift(name, *graph().find(kernel.node), theirs, ours);
  for (double& b : theirs) b -= shift;
  compare(name + " bias", theirs, ours);
  return shift;
}

/// The reference's correction of the bias by its own thresholds and our weights and means, then that of the plan by the
/// plan's. `bias` is that before corrections.
void GraphJudge::judge_corrections(const Json& node, const ptq::KernelPlan& kernel, const std::vector<double>& bias,
                                   const std::vector<double>& thresholds) {
  const std::string name = node["name"].get<std::string>();
  const Node& ours = *graph().find(kernel.node);
  const auto* seen = line_.result.draft.statistics.find(graph().name_of(ours.inputs[0]));
  if (seen == nullptr) return fail(name + ": statistics of the input", {1}, {0});
  std::vector<double> means(seen->channels.size()), their_means(means.size());
  for (size_t c = 0; c < means.size(); ++c) {
    means[c] = seen->channel_mean(c);
    their_means[c] = means[c] - into_kernel_.ours + into_mean_;
  }
  const Tensor& weight = *graph().initializer(kernel.op.weight);
  const MeanErrors theirs = mean_errors(weight, kernel, thresholds, their_means);
  const std::vector<double> recorded = numbers(node["bias_correction"]);
  const std::vector<size_t>& sizes = recorded_.batch_sizes;
  if (std::count(sizes.begin(), sizes.end(), sizes[0]) == static_cast<std::ptrdiff_t>(sizes.size()))
    compare_within(name + " bias_correction", recorded, theirs.values, theirs.slack);
  else
    leave_out("bias corrections, as the reference's means are over batches of unlike sizes (1.3 Q5)");

  std::vector<double> input_correction(bias.size(), 0.0), their_input_correction = input_correction;
  if (node.contains("activation_bias_correction")) {
    their_input_correction = numbers(node["activation_bias_correction"]);
    input_correction = judge_input_correction(node, kernel);
  }
  if (fault_) return;
  std::vector<double> their_final = node["bias"].is_null() ? std::vector<double>(bias.size()) : numbers(node["bias"]);
  for (size_t o = 0; o < bias.size(); ++o) their_final[o] -= recorded[o] + their_input_correction[o];
  if (one_.output["final_bias"].contains(name))
    compare(name + " final_bias", numbers(one_.output["final_bias"][name]), their_final);

  std::vector<double> our_thresholds;
  for (size_t o = 0; o < bias.size(); ++o) our_thresholds.push_back(threshold_of(kernel, o));
  MeanErrors own = mean_errors(weight, kernel, our_thresholds, means);
  if (ours.is("Conv") && pads(ours)) {
    own.values = mean_outputs(ours, own.rounding, weight.shape(), means, seen->shape);
    leave_out(name +
              ": final_bias, as ours counts how often a tap meets the input; the reference ignores borders (2.5)");
  }
  std::vector<double> expected = bias;
  for (size_t o = 0; o < bias.size(); ++o) expected[o] -= own.values[o] + input_correction[o];
  compare_within(name + " bias of the plan", expected, kernel.bias, own.slack);
}

/// The histogram as the reference keeps it (1.3).
EvenBins GraphJudge::their_histogram(ValueId value) const {
  constexpr size_t kBins = 2048;
  const std::vector<double> all = values(value);
  const size_t each = all.size() / recorded_.samples.size();
  std::vector<EvenBins> batches;
  auto begin = all.begin();
  for (const size_t samples : recorded_.batch_sizes) {
    const auto end = begin + static_cast<std::ptrdiff_t>(samples * each);
    batches.push_back(even_histogram(std::vector<double>(begin, end), kBins));
    begin = end;
  }
  return joined_bins(batches);
}

/// The reference's correction by its histogram; ours, whose bins are others, by the shift of the mean that was seen.
std::vector<double> GraphJudge::judge_input_correction(const Json& node, const ptq::KernelPlan& kernel) {
  const std::string name = node["name"].get<std::string>();
  const passes::KernelOp& op = kernel.op;
  const Node& ours = *graph().find(kernel.node);
  const Tensor& weight = *graph().initializer(op.weight);
  const std::vector<double> exact = passes::to_doubles(weight);
  const KernelView view{exact, weight.shape().dims(), op.output_axis, op.input_axis};
  const ptq::ActivationPlan* input = plan().find(ours.inputs[0]);
  if (input == nullptr) return fail(name + ": quantizers before it", {1}, {0}), std::vector<double>();
  const IntegerGrid grid{input->params.grid.n_bits, input->params.range[0].low < 0, false};
  const Step step{input->params.scale[0], 0};
  const double percent = config_.activation_bias_correction_threshold;
  const auto again = activation_bias_correction(their_histogram(ours.inputs[0]), step, grid, view, percent);
  const std::vector<double> none(static_cast<size_t>(op.outputs), 0.0);
  compare(name + " activation_bias_correction", numbers(node["activation_bias_correction"]), again.value_or(none));
  const auto* seen = line_.result.draft.statistics.find(graph().name_of(ours.inputs[0]));
  return activation_bias_correction(bins_of(seen->histogram), step, grid, view, percent).value_or(none);
}

}  // namespace tersor::vectors
