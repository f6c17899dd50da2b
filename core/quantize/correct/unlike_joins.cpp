// SPDX-License-Identifier: Apache-2.0
#include "core/correct/unlike_joins.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string>

#include "core/decide/corrected_model.h"
#include "core/graph/operators.h"
#include "core/graph/uses.h"
#include "core/passes/edit.h"
#include "core/quant/quantizer.h"

namespace tersor::ptq {

using framework::ActivationMode;

namespace {

constexpr double kLeastSqnr = 100;  // signal over noise of a part in the step of all: 20 dB
constexpr double kLeastGain = 2;    // the step of all in steps of the part alone: 6 dB

constexpr Trait kElementwise = Trait::kActivation | Trait::kFunction | Trait::kArithmetic;
constexpr Trait kWhole = Trait::kView | Trait::kReorders | Trait::kRepeats;

/// Inputs that the node puts beside each other; none of another.
std::vector<ValueId> joined_by(const Node& node) {
  if (!node.domain.empty()) return {};
  if (node.is("Concat")) return node.inputs;
  if ((node.is("ScatterND") || node.is("ScatterElements")) && node.inputs.size() >= 3)
    return {node.inputs[0], node.inputs[2]};
  return {};
}

/// By value index: some kernel reads what follows from the value.
std::vector<bool> before_kernels(const Graph& graph, const Placement& placement) {
  std::vector<bool> before(graph.value_count(), false);
  for (size_t i = graph.nodes().size(); i-- > 0;) {
    const Node& node = graph.nodes()[i];
    const bool leads = placement.roles[i].has_kernel() ||
                       std::any_of(node.outputs.begin(), node.outputs.end(),
                                   [&](ValueId id) { return id.valid() && before[static_cast<size_t>(id.index)]; });
    if (!leads) continue;
    for (const ValueId id : node.inputs)
      if (id.valid()) before[static_cast<size_t>(id.index)] = true;
  }
  return before;
}

/// By node: its output is quantized, no kernel follows, and nobody asked for the quantizer.
std::vector<bool> free_nodes(const Graph& graph, const framework::Attachment& attachment, const Placement& placement) {
  std::vector<bool> free(graph.nodes().size(), false);
  if (attachment.export_rules.placement != tpc::Placement::kOutputs) return free;
  const Uses uses(graph);
  const std::vector<bool> before = before_kernels(graph, placement);
  for (size_t i = 0; i < free.size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.outputs.empty() || !node.outputs[0].valid() || before[static_cast<size_t>(node.outputs[0].index)])
      continue;
    const framework::NodeAttachment& attached = attachment.of(node.id);
    free[i] = attached.output_quantizers.empty() && !attached.config().activation_by_table() &&
              placement.find(value_after_clamps(graph, uses, placement.roles, node.outputs[0])) != nullptr;
  }
  return free;
}

/// What is known of the values of one operand of a join.
struct Part {
  std::string name;
  double low = 0, high = 0;
  double mean_square = 0;

  double reach() const { return std::max(-low, high); }
};

std::optional<Part> part_of(std::string name, const quant::Histogram& seen) {
  if (seen.empty() || (seen.min() == 0 && seen.max() == 0)) return std::nullopt;
  Part part{std::move(name), std::min(0.0F, seen.min()), std::max(0.0F, seen.max())};
  for (size_t i = 0; i < seen.counts().size(); ++i)
    part.mean_square += static_cast<double>(seen.counts()[i]) * seen.center(i) * seen.center(i);
  part.mean_square /= static_cast<double>(seen.total());
  return part;
}

double step_of(double low, double high, const tpc::OpQuantizationConfig& op) {
  const quant::QuantizationMethod method = quant::even_form(op.activation_quantization_method);
  const bool is_signed = method != quant::QuantizationMethod::kUniform && low < 0;
  const quant::IntegerGrid grid{op.activation_n_bits, is_signed, false};
  const quant::Range range = quant::quantizer_of(method).cover(low, high, grid, 0);
  return static_cast<double>(quant::params_of_ranges(method, grid, std::span(&range, 1)).scale[0]);
}

/// A part that the step of all would leave too little.
struct Lost {
  const Part* part = nullptr;
  const Part* largest = nullptr;
  double sqnr = 0;  // signal over noise
};

std::optional<Lost> lost_of(const std::vector<Part>& parts, const tpc::OpQuantizationConfig& op) {
  if (parts.size() < 2) return std::nullopt;
  double low = 0, high = 0;
  for (const Part& part : parts) low = std::min(low, part.low), high = std::max(high, part.high);
  const double step = step_of(low, high, op);
  const auto largest =
      std::max_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.reach() < b.reach(); });
  std::optional<Lost> worst;
  for (const Part& part : parts) {
    const double sqnr = 12 * part.mean_square / (step * step);
    if (sqnr >= kLeastSqnr || step < kLeastGain * step_of(part.low, part.high, op)) continue;
    if (!worst || sqnr < worst->sqnr) worst = {&part, &*largest, sqnr};
  }
  return worst;
}

class UnlikeJoins {
 public:
  explicit UnlikeJoins(const CorrectedModel& model)
      : graph_(model.model.graph),
        attachment_(model.attachment),
        statistics_(model.statistics),
        free_(free_nodes(graph_, attachment_, model.placement)) {}

  /// Nodes whose outputs are to stay float; `joins`: how many of them put parts of unlike size together.
  std::vector<FloatChoice> find(int64_t& joins) {
    std::vector<FloatChoice> choices;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      if (!free_[i]) continue;
      const Node& node = graph_.nodes()[i];
      auto reason = why_unlike(node);
      if (!reason) reason = why_spreads(node);
      joins += reason ? 1 : 0;
      if (!reason) reason = why_passes_on(node);
      if (reason) choices.push_back({node.id, std::move(*reason)});
    }
    return choices;
  }

 private:
  const std::vector<Part>* unlike_in(ValueId value) const {
    const auto found = unlike_.find(value);
    return found == unlike_.end() ? nullptr : &found->second;
  }

  std::optional<Part> seen(ValueId value) const {
    const std::string& name = graph_.name_of(value);
    if (const Tensor* constant = passes::float_constant(graph_, value)) {
      const auto values = constant->data<float>();
      if (!std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); })) return std::nullopt;
      quant::Histogram histogram;
      histogram.add(values);
      return part_of(name, histogram);
    }
    const calibrate::TensorStatistics* found = statistics_.find(name);
    return found == nullptr ? std::nullopt : part_of(name, found->histogram);
  }

  std::optional<std::string> why_unlike(const Node& join) {
    std::vector<Part> parts;
    for (const ValueId input : joined_by(join)) {
      if (const auto* of_join = unlike_in(input))
        parts.insert(parts.end(), of_join->begin(), of_join->end());
      else if (auto part = seen(input))
        parts.push_back(std::move(*part));
    }
    const auto lost = lost_of(parts, attachment_.of(join.id).config());
    if (!lost) return std::nullopt;
    std::string reason = "It joins parts of unlike size: \"" + lost->largest->name + "\" reaches to " +
                         number_text(lost->largest->reach()) + " and \"" + lost->part->name + "\" to " +
                         number_text(lost->part->reach()) + ", of which one scale for both would leave " +
                         std::to_string(std::lround(10 * std::log10(std::max(lost->sqnr, 1e-9)))) + " dB.";
    unlike_[join.outputs[0]] = std::move(parts);
    return reason;
  }

  /// Of a node after such a join that would be quantized although the parts may still be in what it gives. Movers that
  /// follow their input need no leave.
  std::optional<std::string> why_passes_on(const Node& node) {
    const bool is_elementwise = has_trait(node, kElementwise);
    if (node.inputs.empty() || (!is_elementwise && !has_trait(node, kMoves))) return std::nullopt;
    const auto from = std::find_if(node.inputs.begin(), is_elementwise ? node.inputs.end() : node.inputs.begin() + 1,
                                   [&](ValueId id) { return id.valid() && unlike_in(id) != nullptr; });
    if (from == node.inputs.end() || unlike_in(*from) == nullptr) return std::nullopt;
    const framework::NodeAttachment& attached = attachment_.of(node.id);
    if (attached.bounds.low && attached.bounds.high) return std::nullopt;  // as a Sigmoid: all within one size
    bool keeps = false;
    for (const ValueId output : node.outputs) {
      std::vector<Part> parts = *unlike_in(*from);
      if (!is_elementwise && !has_trait(node, kWhole)) {
        // What it selects may be any of the parts that reach no farther than that.
        const auto part = output.valid() ? seen(output) : std::nullopt;
        if (!part) continue;
        std::erase_if(parts, [&](const Part& one) { return one.reach() > part->reach(); });
        if (!lost_of(parts, attached.config())) continue;
      }
      unlike_[output] = std::move(parts);
      keeps = true;
    }
    const bool follows = attached.activation == ActivationMode::kPreserveQuant && !is_elementwise;
    if (!keeps || follows || attached.activation == ActivationMode::kNoQuant) return std::nullopt;
    return "Parts of unlike size come from \"" + graph_.name_of(*from) + "\", which stays float for them.";
  }

  /// Of a node that multiplies parts by factors of unlike size, such as strides of a grid beside ones.
  std::optional<std::string> why_spreads(const Node& node) {
    const bool divides = node.is("Div");
    if ((!node.is("Mul") && !divides) || node.inputs.size() != 2) return std::nullopt;
    const size_t slot = passes::float_constant(graph_, node.inputs[1]) != nullptr || divides ? 1 : 0;
    const Tensor* factors = passes::float_constant(graph_, node.inputs[slot]);
    const auto from =
        factors == nullptr || unlike_in(node.inputs[1 - slot]) ? std::nullopt : seen(node.inputs[1 - slot]);
    if (!from) return std::nullopt;
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const double factor : passes::to_doubles(*factors)) {
      const double size = divides ? 1 / std::fabs(factor) : std::fabs(factor);
      if (!(size > 0) || !std::isfinite(size)) continue;
      least = std::min(least, size), most = std::max(most, size);
    }
    std::vector<Part> parts;
    for (const double size : {most, least})
      parts.push_back({from->name, size * from->low, size * from->high, size * size * from->mean_square});
    const auto lost = least <= most ? lost_of(parts, attachment_.of(node.id).config()) : std::nullopt;
    if (!lost) return std::nullopt;
    unlike_[node.outputs[0]] = std::move(parts);
    return "Its factors are from " + number_text(least) + " to " + number_text(most) +
           ", and one scale would leave what the smallest multiply too little.";
  }

  const Graph& graph_;
  const framework::Attachment& attachment_;
  const calibrate::Statistics& statistics_;
  const std::vector<bool> free_;
  std::map<ValueId, std::vector<Part>> unlike_;  // values that stay float, and what is in them
};

void leave_float(framework::Attachment& attachment, const std::vector<FloatChoice>& choices) {
  for (framework::NodeAttachment& attached : attachment.nodes)
    for (const FloatChoice& choice : choices)
      if (attached.node == choice.node) {
        attached.activation = ActivationMode::kNoQuant;
        attached.kernel = tpc::RuntimeKernel::kFloat;
      }
}

}  // namespace

std::vector<ValueId> joined_operands(const Graph& graph, const framework::Attachment& attachment,
                                     const Placement& placement) {
  std::vector<ValueId> operands;
  const std::vector<bool> free = free_nodes(graph, attachment, placement);
  for (size_t i = 0; i < free.size(); ++i)
    for (const ValueId input : free[i] ? joined_by(graph.nodes()[i]) : std::vector<ValueId>())
      if (input.valid()) operands.push_back(input);
  return operands;
}

std::optional<Rewrite> keep_unlike_joins_in_float(CorrectedModel& model, const config::QuantizationConfig&) {
  int64_t joins = 0;
  std::vector<FloatChoice> choices = UnlikeJoins(model).find(joins);
  if (choices.empty()) return std::nullopt;
  model.in_float.insert(model.in_float.end(), choices.begin(), choices.end());
  return Rewrite{.field = "keep_float_automatically",
                 .places = joins,
                 .what =
                     "Parts of unlike size are joined in float at the end of the model, each quantized with a "
                     "scale of its own before; the reason of each join says what one scale would leave.",
                 .attach = [choices = std::move(choices)](framework::Attachment& attachment) {
                   leave_float(attachment, choices);
                 }};
}

}  // namespace tersor::ptq
