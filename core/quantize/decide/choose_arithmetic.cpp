// SPDX-License-Identifier: Apache-2.0
#include "core/decide/choose_arithmetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "core/cost/operator_price.h"
#include "core/decide/minimum_cut.h"
#include "core/decide/role.h"
#include "core/graph/operators.h"
#include "core/graph/recurrent_weights.h"
#include "core/graph/runtime_operators.h"
#include "core/graph/uses.h"

namespace tersor::ptq {

using config::Preference;
using framework::Attachment;

namespace {

/// Below this a run is mostly the runtime's own work for each node, and nothing is gained by leaving nodes in float.
constexpr double kLeastNanoseconds = 1e5;
/// Time, as part of the float model's, that a file of a quarter of the size is worth.
constexpr double kWorthOfSize = 0.15;
/// Where size at that worth leaves nothing in integers, it is raised by these factors ...
constexpr std::array kRaises{1.0, 2.0, 4.0, 8.0, 16.0};
/// ... as long as the file is not expected to take longer than this, as part of the float model's time.
constexpr double kLongest = 1.12;
/// Bytes that the operators which restore a weight take in the file, with their names.
constexpr double kBytesOfRestoring = 512;

int64_t picoseconds(double nanoseconds) {
  return static_cast<int64_t>(std::llround(std::max(0.0, nanoseconds) * 1000));
}

class Chooser {
 public:
  Chooser(const Model& model, const Attachment& attachment, const cost::ValueTypes& types, const tpc::PriceList& prices,
          Preference prefer)
      : graph_(model.graph),
        attachment_(attachment),
        prefer_(prefer),
        uses_(model.graph),
        roles_(find_roles(model.graph, attachment)),
        prices_(prices, model.graph, types) {
    for (const Node& node : graph_.nodes()) float_time_ += in_float(node);
    for (const auto& [id, tensor] : graph_.initializers())
      if (tensor.dtype() == DType::kFloat32) parameters_ += static_cast<double>(tensor.elements());
  }

  double float_time() const { return float_time_; }

  /// Recurrent layers whose weights take longer to restore in each run than a smaller file is worth.
  std::vector<NodeId> dear_constants() const {
    std::vector<NodeId> dear;
    if (prefer_ == Preference::kSize || prefer_ == Preference::kIntegers) return dear;
    if (folds_weights()) return dear;  // restored once, when the file is opened
    for (const Node& node : graph_.nodes()) {
      double elements = 0;
      for (const size_t input : recurrent_weights(node))
        if (const Tensor* weight = input < node.inputs.size() ? graph_.initializer(node.inputs[input]) : nullptr)
          elements += static_cast<double>(weight->elements());
      if (elements == 0 || parameters_ == 0) continue;
      const double worth = prefer_ == Preference::kSpeed ? 0 : kWorthOfSize * float_time_ * elements / parameters_;
      if (prices_.restoring(elements) > worth) dear.push_back(node.id);
    }
    return dear;
  }

  /// For each choice of the cut, of which nodes come first, whether it is integer in the best division.
  std::vector<bool> best() const {
    std::vector<bool> chosen;
    // Where the file is as small with the weights of float operators restored once, time alone counts.
    const bool raises = worth() && *worth() > 0;
    for (const double raise : std::span<const double>(kRaises).first(raises ? kRaises.size() : 1)) {
      const std::vector<bool> answers = cut_at(raises ? std::optional(raise * kWorthOfSize) : worth()).solve();
      if (raise > 1 && time_of(answers) > kLongest * float_time_) break;
      chosen = answers;
      if (runs_kernels(answers) || stores_weights(read(answers))) break;
    }
    return chosen;
  }

  std::vector<bool> all_in_integers() const { return cut_at(std::nullopt).solve(); }

  ArithmeticChoice choice_of(const std::vector<bool>& answers) const {
    ArithmeticChoice chosen = read(answers);
    // Where nothing would be quantized all is, as if there were no prices.
    if (!runs_kernels(answers) && !stores_weights(chosen)) chosen.in_float.clear();
    chosen.constants_float = dear_constants();
    return chosen;
  }

  /// What each of these divisions costs here more than the best of them, as part of the float model's time.
  std::vector<double> regrets(const std::vector<std::vector<bool>>& divisions) const {
    const MinimumCut cut = cut_at(worth());
    std::vector<double> costs;
    for (const std::vector<bool>& answers : divisions) costs.push_back(static_cast<double>(cut.cost_of(answers)));
    const double least = *std::min_element(costs.begin(), costs.end());
    for (double& cost : costs) cost = (cost - least) / (1000 * std::max(float_time_, 1.0));
    return costs;
  }

 private:
  bool folds_weights() const { return tpc::folds(attachment_.export_rules.float_weights); }

  bool constant(ValueId id) const { return !id.valid() || graph_.initializer(id) != nullptr; }

  const Node* maker(ValueId id) const {
    const auto index = id.valid() ? uses_.producer_index(id) : std::nullopt;
    return index ? &graph_.nodes()[*index] : nullptr;
  }

  /// A Mul of a value and its own Sigmoid, which the runtime computes as one where the value is float-made.
  std::optional<size_t> gated(const Node& node) const {
    if (!node.is("Mul") || node.inputs.size() != 2) return std::nullopt;
    for (size_t k = 0; k < 2; ++k) {
      const Node* gate = maker(node.inputs[k]);
      if (gate != nullptr && gate->is("Sigmoid") && gate->inputs[0] == node.inputs[1 - k]) return 1 - k;
    }
    return std::nullopt;
  }

  double in_float(const Node& node) const {
    const bool fuses = has_runtime_trait(node, RuntimeTrait::kIsFreeAfterConv);
    const Node* before = fuses ? maker(node.inputs[0]) : nullptr;
    return before != nullptr && before->is("Conv") ? 0 : gated(node) ? 0 : prices_.of(node);
  }

  bool is_either(size_t index) const {
    return roles_[index].role == Role::kJoin &&
           attachment_.of(graph_.nodes()[index].id).kernel == tpc::RuntimeKernel::kEither;
  }

  /// A person says what range its output has, which no price takes away.
  bool has_asked_range(const Node& node) const {
    const auto& quantizers = attachment_.of(node.id).output_quantizers;
    return std::any_of(quantizers.begin(), quantizers.end(), [](const framework::LayerQuantizer& one) {
      return one.source == framework::RangeSource::kFixed;
    });
  }

  bool has_choice(size_t index) const {
    const NodeRole& role = roles_[index];
    if (prefer_ == Preference::kAccuracy && is_either(index)) return false;
    if (role.role == Role::kKernel || role.role == Role::kKernelFloatOutput)
      return !role.float_weight && attachment_.quantizes_output(graph_.nodes()[index].id);
    if (role.role == Role::kClamp) return makes_integers(graph_.nodes()[index].inputs[0]);
    return role.role == Role::kJoin || role.role == Role::kMover;
  }

  /// The value comes out of an operator whose integer form gives integers.
  bool makes_integers(ValueId id) const {
    const auto index = uses_.producer_index(id);
    return index && roles_[*index].role != Role::kKernelFloatOutput && has_choice(*index);
  }

  bool is_conv(size_t index) const { return graph_.nodes()[index].is("Conv"); }

  /// A product that alone feeds one reader is quantized on its way out.
  bool is_free(ValueId id) const {
    const Node* node = maker(id);
    while (node != nullptr && has_trait(*node, Trait::kClamp)) id = node->inputs[0], node = maker(id);
    return node != nullptr && (node->is("Gemm") || node->is("MatMul")) && uses_.reader_count(id) == 1;
  }

  double weight_elements(size_t index) const {
    const auto& op = roles_[index].op;
    const Tensor* weight = op ? graph_.initializer(op->weight) : nullptr;
    return weight != nullptr ? static_cast<double>(weight->elements()) : 0;
  }

  /// The file is smaller with the weight in 8 bits after operators that the runtime folds.
  bool saves_bytes(size_t index) const {
    if (!folds_weights() || !roles_[index].op) return false;
    const auto scales = static_cast<double>(roles_[index].op->outputs);
    return 3 * weight_elements(index) > 4 * scales + kBytesOfRestoring;
  }

  /// Of a file of a quarter of the size, as part of the float model's time; none: all kernels are integer.
  std::optional<double> worth() const {
    if (prefer_ == Preference::kIntegers) return std::nullopt;
    return prefer_ == Preference::kSpeed || folds_weights() ? 0 : kWorthOfSize;
  }

  MinimumCut cut_at(std::optional<double> worth) const {
    const size_t count = graph_.nodes().size();
    MinimumCut cut;
    for (size_t i = 0; i < count; ++i) {
      cut.add_choice();
      const Node& node = graph_.nodes()[i];
      if (!has_choice(i)) {
        cut.add_cost(i, MinimumCut::kNever, 0);
        continue;
      }
      const bool clamps = roles_[i].role == Role::kClamp;
      double of_no = in_float(node);
      if (worth && roles_[i].has_kernel() && parameters_ > 0)
        of_no += *worth * float_time_ * weight_elements(i) / parameters_;
      cut.add_cost(
          i, picoseconds(clamps ? 0 : prices_.in_integers(node)),
          roles_[i].has_kernel() && (!worth || has_asked_range(node)) ? MinimumCut::kNever : picoseconds(of_no));
    }
    for (size_t v = 0; v < graph_.value_count(); ++v) add_conversions(cut, ValueId{static_cast<int32_t>(v)});
    return cut;
  }

  void add_conversions(MinimumCut& cut, ValueId value) const {
    if (constant(value) || prices_.elements(value) == 0) return;
    const auto made = uses_.producer_index(value);
    const bool by_choice = made && makes_integers(value);
    const double back = prices_.dequantizing(value);
    if (by_choice && uses_.is_output(value)) cut.add_cost(*made, picoseconds(back), 0);
    std::optional<size_t> quantized;  // yes: a QuantizeLinear stands after the float value
    for (const size_t reader : uses_.reader_indices(value)) {
      const Node& node = graph_.nodes()[reader];
      const double turned = is_conv(reader) ? prices_.turning(value, false) : 0;
      const std::vector<ValueId> read = value_inputs(node, roles_[reader].role);
      const bool as_value = std::find(read.begin(), read.end(), value) != read.end();
      if (by_choice) {
        double dear = back + turned;
        if (const auto source = gated(node); source && node.inputs[*source] == value) dear += prices_.of(node);
        cut.add_pair_cost(*made, reader, picoseconds(dear));
      }
      if (!has_choice(reader) || !as_value) continue;
      if (!roles_[reader].has_kernel()) {
        if (by_choice)
          cut.add_pair_cost(reader, *made, MinimumCut::kNever);
        else
          cut.add_cost(reader, MinimumCut::kNever, 0);
        continue;
      }
      if (!quantized) {
        quantized = cut.add_choice();
        double forth = is_free(value) ? 0 : prices_.quantizing(value);
        if (made && is_conv(*made)) forth += prices_.turning(value, false);
        if (made) forth += prices_.quantizing_before(graph_.nodes()[*made]);
        if (by_choice)
          cut.add_pair_cost(*quantized, *made, picoseconds(forth));
        else
          cut.add_cost(*quantized, picoseconds(forth), 0);
      }
      cut.add_pair_cost(reader, *quantized, MinimumCut::kNever);
    }
  }

  bool runs_kernels(const std::vector<bool>& answers) const {
    for (size_t i = 0; i < roles_.size(); ++i)
      if (answers[i] && roles_[i].has_kernel()) return true;
    return false;
  }

  static bool stores_weights(const ArithmeticChoice& chosen) {
    return std::any_of(chosen.in_float.begin(), chosen.in_float.end(),
                       [](const FloatChoice& one) { return one.stores_weight; });
  }

  /// Nanoseconds of the operators and conversions, without what size is worth.
  double time_of(const std::vector<bool>& answers) const {
    double sum = 0;
    for (size_t i = 0; i < roles_.size(); ++i) {
      const Node& node = graph_.nodes()[i];
      if (answers[i])
        sum += roles_[i].role == Role::kClamp ? 0 : prices_.in_integers(node);
      else
        sum += in_float(node);
      for (const ValueId output : node.outputs) {
        if (!output.valid()) continue;
        bool quantizes = false;
        for (const size_t reader : uses_.reader_indices(output)) {
          const bool converts = makes_integers(output) && answers[i];
          if (converts && !answers[reader]) sum += prices_.dequantizing(output);
          quantizes = quantizes || (!converts && answers[reader]);
        }
        if (quantizes && !is_free(output)) sum += prices_.quantizing(output);
      }
    }
    return sum;
  }

  ArithmeticChoice read(const std::vector<bool>& answers) const {
    ArithmeticChoice chosen;
    for (size_t i = 0; i < roles_.size(); ++i) {
      if (answers[i] || !has_choice(i) || roles_[i].role == Role::kClamp) continue;
      const Node& node = graph_.nodes()[i];
      const std::vector<ValueId> inputs = value_inputs(node, roles_[i].role);
      const bool fed = std::all_of(inputs.begin(), inputs.end(), [&](ValueId id) {
        const auto made = id.valid() ? uses_.producer_index(id) : std::nullopt;
        return !id.valid() || (made && makes_integers(id) && answers[*made]);
      });
      if (roles_[i].has_kernel() || fed || is_either(i))
        chosen.in_float.push_back({node.id,
                                   fed || roles_[i].has_kernel()
                                       ? "ONNX Runtime is expected to be quicker with it in float: quantizers and "
                                         "integer kernel would take longer."
                                       : "At least one of its inputs is in float.",
                                   saves_bytes(i)});
    }
    return chosen;
  }

  const Graph& graph_;
  const Attachment& attachment_;
  const Preference prefer_;
  const Uses uses_;
  const std::vector<NodeRole> roles_;
  const cost::OperatorPrices prices_;
  double float_time_ = 0, parameters_ = 0;
};

/// Every operator that may be either, in float.
ArithmeticChoice either_in_float(const Graph& graph, const Attachment& attachment) {
  ArithmeticChoice chosen;
  for (const Node& node : graph.nodes())
    if (attachment.of(node.id).kernel == tpc::RuntimeKernel::kEither)
      chosen.in_float.push_back(
          {node.id, "Its integer kernel rounds once more, and nobody asked for the time that it may save."});
  return chosen;
}

/// The division that loses least where it loses most: of the best for each processor, all in integers and all in float.
/// Of equal ones the first.
std::vector<bool> least_regret(const std::vector<Chooser>& processors) {
  std::vector<std::vector<bool>> divisions;
  for (const Chooser& one : processors) divisions.push_back(one.best());
  if (processors.size() == 1) return divisions[0];
  divisions.push_back(processors[0].all_in_integers());
  divisions.emplace_back(divisions[0].size(), false);
  std::vector<double> most(divisions.size(), 0);
  for (const Chooser& one : processors) {
    const std::vector<double> regrets = one.regrets(divisions);
    for (size_t k = 0; k < most.size(); ++k) most[k] = std::max(most[k], regrets[k]);
  }
  return divisions[static_cast<size_t>(std::min_element(most.begin(), most.end()) - most.begin())];
}

}  // namespace

ArithmeticChoice choose_arithmetic(const Model& model, const Attachment& attachment,
                                   const std::vector<const tpc::PriceList*>& prices, Preference prefer) {
  const ArithmeticChoice exact = either_in_float(model.graph, attachment);
  if (prices.empty()) return exact;
  const cost::ValueTypes types = cost::value_types(model);
  if (types.empty()) return exact;
  std::vector<Chooser> processors;
  processors.reserve(prices.size());
  for (const tpc::PriceList* one : prices) processors.emplace_back(model, attachment, types, *one, prefer);
  ArithmeticChoice chosen = exact;
  if (processors[0].float_time() >= kLeastNanoseconds || prefer == Preference::kSpeed) {
    chosen = processors[0].choice_of(least_regret(processors));
    if (prefer == Preference::kAccuracy)
      chosen.in_float.insert(chosen.in_float.end(), exact.in_float.begin(), exact.in_float.end());
  } else {
    chosen.constants_float = processors[0].dear_constants();
  }
  return chosen;
}

void keep_constants_float(Attachment& attachment, const std::vector<NodeId>& nodes) {
  for (framework::NodeAttachment& attached : attachment.nodes) {
    if (std::find(nodes.begin(), nodes.end(), attached.node) == nodes.end()) continue;
    for (framework::WeightAttribute& weight : attached.weights)
      if (weight.name == tpc::kPosAttr) weight.config.enable_weights_quantization = false;
    attached.reason = "Restoring its weights from integers in each run would take longer than a smaller file is worth.";
  }
}

}  // namespace tersor::ptq
