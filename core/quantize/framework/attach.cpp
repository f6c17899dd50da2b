// SPDX-License-Identifier: Apache-2.0
#include "core/framework/attach.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/faults.h"
#include "core/framework/attach_notes.h"
#include "core/framework/divisors.h"
#include "core/framework/fuse.h"
#include "core/framework/kernel_operand.h"
#include "core/framework/masks.h"
#include "core/framework/platform_layers.h"
#include "core/graph/clamp_bounds.h"
#include "core/graph/recurrent_weights.h"
#include "core/graph/uses.h"
#include "core/graph/value_types.h"

namespace tersor::framework {

namespace {

using config::QuantizationConfig;
using tpc::AttributeQuantizationConfig;
using tpc::OpQuantizationConfig;
using tpc::TargetPlatformCapabilities;

const std::string kSwish = "Swish";  // the set's name in tables

constexpr const char* kMethod = "activation_quantization_method";
constexpr const char* kBits = "activation_n_bits";
constexpr const char* kEnabled = "enable_activation_quantization";
constexpr const char* kThresholds = "activation_threshold_method";

const FrameworkInfo& own_info() {
  static const FrameworkInfo kOwn = onnx_framework_info();
  return kOwn;
}

bool contains(const std::vector<std::string>& list, const std::string& type) {
  return std::find(list.begin(), list.end(), type) != list.end();
}

/// Lays one platform onto one graph.
class Attacher {
 public:
  Attacher(const Graph& graph, const TargetPlatformCapabilities& platform, const FrameworkInfo& info,
           const QuantizationConfig& settings, const Overrides& overrides, OperationsToLayers layers,
           const std::set<NodeId>& with_usual_bits)
      : graph_(graph),
        platform_(platform),
        info_(info),
        settings_(settings),
        overrides_(overrides),
        with_usual_bits_(with_usual_bits),
        layers_(layers_of(platform, settings, std::move(layers))),
        uses_(graph),
        types_(value_types(graph)),
        masked_(masked_values(graph)),
        divides_(divisor_values(graph)),
        requests_(overrides.requests(graph)),
        annotated_(overrides.annotated(graph)) {
    check_sets_known(platform_, layers_);
  }

  /// The operator set of a node among those that the platform has: of entries with filters that match, else of plain
  /// ones. Several are an error where their options differ.
  std::string operator_set_of(const Node& node, size_t index) const {
    std::vector<const tpc::OperatorsSet*> found;
    for (const bool plain : {false, true}) {
      for (const tpc::OperatorsSet& set : platform_.tp_model.operator_set) {
        const OperationsSetToLayers* entry = layers_.find(set.name);
        const bool matches = std::any_of(entry->layers.begin(), entry->layers.end(), [&](const auto& layer) {
          return layer.plain() == plain && layer.matches(graph_, node);
        });
        if (matches) found.push_back(&set);
      }
      if (!found.empty()) break;
    }
    for (const tpc::OperatorsSet* other : found)
      if (!(other->qc_options == found[0]->qc_options) ||
          platform_.kernel_of(other->name) != platform_.kernel_of(found[0]->name))
        throw Error(ErrorCode::kInvalidPlatform,
                    "The node belongs to the operator sets \"" + found[0]->name + "\" and \"" + other->name +
                        "\", whose options differ.",
                    place_of(node, index), "Give the two sets the same options, or filters that tell them apart.");
    return found.empty() ? std::string() : found[0]->name;
  }

  NodeAttachment attach_node(const Node& node, const std::string& set, Faults& faults) {
    NodeAttachment attached;
    attached.node = node.id;
    attached.operator_set = set;
    attached.kernel = platform_.kernel_of(set);
    attached.bounds = info_.bounds_of(graph_, node);
    const NodeSettings settings = settings_of(node);
    const auto& [candidates, base, idle] = narrowed(set, settings, faults, node.op_type);
    attached.candidates = candidates;
    attached.base = base;
    attached.kernel_quantizer = settings.kernel_quantizer;
    attached.output_quantizers = settings.output_quantizers;
    attached.trainable_quantizers = settings.trainable_quantizers;
    const auto says = [&](const char* field) { return settings.set_at.count(field) != 0; };
    const bool of_both = says("min_threshold") || says("l_p_value");
    if (of_both || says(kThresholds) || says("z_threshold") || says("percentile"))
      attached.activation_criterion = settings.config.activation_criterion();
    if (of_both || says("weights_threshold_method")) attached.weights_criterion = settings.config.weights_criterion();
    if (settings.config.enable_activation_quantization == false)
      say(attached, is_annotated(node) ? "The settings leave its output in float." : "It is not annotated.");
    restrict_to_info(node, attached);
    map_methods(attached, faults);
    settle_open(attached);
    faults.attempt([&] { add_weights(node, attached); });
    set_mode(node, attached);
    return attached;
  }

  /// One for all operator sets with which the same was taken.
  std::vector<Diagnostic> nearest_notes() const {
    std::vector<Diagnostic> notes;
    for (const auto& [others, sets] : nearest_)
      notes.push_back({"nearest_configuration",
                       "The settings exclude what the platform has by itself for " + joined(sets) +
                           "; what it offers nearest to that has " + others + " as well.",
                       "config", ""});
    return notes;
  }

  OpQuantizationConfig input_config(Faults& faults) {
    NodeSettings settings;
    settings.config = settings_;
    if (!with_usual_bits_.empty() && !offers_bits(platform_.tp_model.default_qco)) take_usual_bits(settings);
    if (annotated_ && attachment_outputs() && !feeds_annotated_input()) {
      settings.config.enable_activation_quantization = false;
      settings.key = "not annotated";
    }
    const auto& [candidates, base, idle] = narrowed("", settings, faults);
    NodeAttachment inputs;
    inputs.candidates = candidates;
    inputs.base = base;
    map_methods(inputs, faults);
    return inputs.config();
  }

  /// Fields of overrides that none of the nodes they match takes.
  void find_idle_overrides(Faults& faults) const {
    for (const auto& [place, idle] : idle_)
      if (acting_.count(place) == 0)
        faults.add(Error(ErrorCode::kInvalidConfig,
                         "It changes nothing: the platform leaves no choice of " + idle.first + " for " +
                             set_text(idle.second) + ".",
                         place, "Leave it out, or name other operators."));
  }

  /// An output inside a fused chain: not quantized, or by the pattern's own configuration.
  static void fuse_inside(const tpc::Fusing& pattern, NodeAttachment& attached) {
    const auto& fused = pattern.fuse_op_quantization_config;
    if (!fused || !fused->enable_activation_quantization) {
      attached.activation = ActivationMode::kFlnNoQuant;
      return;
    }
    attached.activation = ActivationMode::kFlnQuant;
    for (OpQuantizationConfig& op : attached.candidates) {
      const OpQuantizationConfig own = op;
      op = *fused;
      op.default_weight_attr_config = own.default_weight_attr_config;
      op.attr_weights_configs_mapping = own.attr_weights_configs_mapping;
    }
  }

 private:
  /// Once per set and overrides, so that a fault is told once; after one, the platform's own options stand in.
  const Narrowed& narrowed(const std::string& set, const NodeSettings& settings, Faults& faults,
                           const std::string& type = {}) {
    const bool is_mapped = maps_attributes(set, type);
    const auto key = std::make_pair(is_mapped ? set + "\n" + type : set, settings.key);
    const auto known = narrowed_.find(key);
    if (known != narrowed_.end()) return known->second;
    const tpc::QuantizationConfigOptions& given = platform_.tp_model.options_of(set);
    const tpc::QuantizationConfigOptions options =
        is_mapped ? given.clone_and_edit([&](OpQuantizationConfig& op) { map_attributes(set, type, op); }) : given;
    const Narrowed& found = narrowed_.emplace(key, narrow(options, settings, set, faults)).first->second;
    for (const auto& [field, place] : settings.said_at)
      if (std::find(found.idle_fields.begin(), found.idle_fields.end(), field) == found.idle_fields.end())
        acting_.insert(place);
      else
        idle_.try_emplace(place, field, set);
    note_nearest(set, settings, found);
    return found;
  }

  /// The set says which weights of operators of this type its configurations are for.
  bool maps_attributes(const std::string& set, const std::string& type) const {
    const OperationsSetToLayers* entry = set.empty() || type.empty() ? nullptr : layers_.find(set);
    return entry != nullptr && std::any_of(entry->attr_mapping.begin(), entry->attr_mapping.end(),
                                           [&](const auto& one) { return one.second.contains(type); });
  }

  /// Puts each weight's configuration under the general name that ONNX has the weight under.
  void map_attributes(const std::string& set, const std::string& type, OpQuantizationConfig& op) const {
    const AttrMapping& given = layers_.find(set)->attr_mapping;
    std::map<std::string, AttributeQuantizationConfig> mapped;
    for (const auto& [general, inputs] : onnx_attributes()) {
      const auto input = inputs.find(type);
      if (input == inputs.end()) continue;
      AttributeQuantizationConfig& config = mapped.emplace(general, op.default_weight_attr_config).first->second;
      for (const auto& [name, by_type] : given)
        if (const auto found = by_type.find(type); found != by_type.end() && found->second == input->second)
          config = op.attribute_config(name);
    }
    for (auto& one : mapped) {
      const std::string& general = one.first;
      std::erase_if(op.attr_weights_configs_mapping,
                    [&](const auto& had) { return general.find(had.first) != std::string::npos; });
      op.attr_weights_configs_mapping[general] = std::move(one.second);
    }
  }

  /// Says what nobody asked for, where the settings exclude the platform's own configuration and the nearest is taken.
  void note_nearest(const std::string& set, const NodeSettings& settings, const Narrowed& found) {
    const tpc::QuantizationConfigOptions& options = platform_.tp_model.options_of(set);
    if (options.takes_any()) return;
    const OpQuantizationConfig &own = options.base_config(), &taken = found.candidates[found.base];
    const QuantizationConfig& asked = settings.config;
    std::vector<std::string> others;
    if (own.enable_activation_quantization && taken.enable_activation_quantization) {
      if (!asked.activation_n_bits && own.activation_n_bits != taken.activation_n_bits)
        others.push_back("activations of " + std::to_string(taken.activation_n_bits) + " bits");
      if (!asked.activation_quantization_method && !taken.activation_by_table() &&
          own.activation_quantization_method != taken.activation_quantization_method)
        others.push_back("activations by " + std::string(enum_word(taken.activation_quantization_method)));
    }
    const tpc::AttributeQuantizationConfig &weights = taken.attribute_config(tpc::kKernelAttr),
                                           &own_weights = own.attribute_config(tpc::kKernelAttr);
    if (own_weights.enable_weights_quantization && weights.enable_weights_quantization) {
      if (!asked.weights_n_bits && own_weights.weights_n_bits != weights.weights_n_bits)
        others.push_back("weights of " + std::to_string(weights.weights_n_bits) + " bits");
      if (!asked.weights_quantization_method &&
          own_weights.weights_quantization_method != weights.weights_quantization_method)
        others.push_back("weights by " + std::string(enum_word(weights.weights_quantization_method)));
    }
    if (!others.empty()) nearest_[joined(others)].push_back(set.empty() ? "operators of no set" : set);
  }

  bool is_annotated(const Node& node) const {
    return !annotated_ || std::find(annotated_->begin(), annotated_->end(), node.id) != annotated_->end();
  }

  bool attachment_outputs() const { return platform_.export_rules.placement == tpc::Placement::kOutputs; }

  bool feeds_annotated_input() const {
    return std::any_of(graph_.nodes().begin(), graph_.nodes().end(), [&](const Node& node) {
      return is_annotated(node) && std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
               return std::find(graph_.inputs.begin(), graph_.inputs.end(), id) != graph_.inputs.end();
             });
    });
  }

  /// The one reader of a node that is not annotated is: its output is quantized for it.
  bool feeds_annotated(const Node& node) const {
    if (node.outputs.size() != 1 || !node.outputs[0].valid()) return false;
    size_t readers = 0;
    bool annotated = false;
    for (const Node& reader : graph_.nodes())
      if (std::find(reader.inputs.begin(), reader.inputs.end(), node.outputs[0]) != reader.inputs.end()) {
        ++readers;
        annotated = is_annotated(reader);
      }
    return readers == 1 && annotated;
  }

  /// Where one quantizer does for a node and the clamp after it: the node.
  const Node* bounded_by(const Node& clamp) const {
    if (!platform_.export_rules.fold_clamps || !clamp_bounds(graph_, clamp)) return nullptr;
    const auto maker = uses_.producer_index(clamp.inputs[0]);
    return maker && uses_.reader_count(clamp.inputs[0]) == 1 ? &graph_.nodes()[*maker] : nullptr;
  }

  /// A clamp of whose output no override speaks takes what they say of the node that it bounds, so that naming the
  /// kernel is enough.
  void take_over_output(const NodeSettings& bounded, NodeSettings& clamp) const {
    const auto says = [](const NodeSettings& settings, const char* field) { return settings.set_at.count(field) != 0; };
    if (!clamp.output_quantizers.empty() || says(clamp, kMethod) || says(clamp, kBits) || says(clamp, kEnabled)) return;
    const auto take = [&](const char* field, auto member) {
      if (!says(bounded, field)) return;
      clamp.config.*member = bounded.config.*member;
      clamp.set_at[field] = bounded.set_at.at(field);
      clamp.key += " after " + bounded.key;
    };
    take(kMethod, &QuantizationConfig::activation_quantization_method);
    take(kBits, &QuantizationConfig::activation_n_bits);
    take(kEnabled, &QuantizationConfig::enable_activation_quantization);
    take(kThresholds, &QuantizationConfig::activation_threshold_method);
    take("z_threshold", &QuantizationConfig::z_threshold);
    take("min_threshold", &QuantizationConfig::min_threshold);
    take("l_p_value", &QuantizationConfig::l_p_value);
    take("percentile", &QuantizationConfig::percentile);
  }

  bool offers_bits(const tpc::QuantizationConfigOptions& options) const {
    const auto& list = options.quantization_config_list();
    return options.takes_any() || std::any_of(list.begin(), list.end(), [&](const OpQuantizationConfig& op) {
             return op.activation_n_bits == settings_.activation_n_bits;
           });
  }

  static void take_usual_bits(NodeSettings& settings) {
    settings.config.activation_n_bits.reset();
    settings.key += " usual bits";
  }

  NodeSettings settings_of(const Node& node) const {
    NodeSettings settings = overrides_.settings_of(graph_, node, settings_, requests_);
    if (const Node* bounded = overrides_.empty() ? nullptr : bounded_by(node))
      take_over_output(settings_of(*bounded), settings);
    if (with_usual_bits_.contains(node.id) && settings.set_at.count(kBits) == 0) take_usual_bits(settings);
    if (is_annotated(node)) return settings;
    settings.config.enable_weights_quantization = false;
    const bool output_only = attachment_outputs() && feeds_annotated(node);
    if (!output_only) settings.config.enable_activation_quantization = false;
    settings.key += output_only ? " output only" : " not annotated";
    return settings;
  }

  static void say(NodeAttachment& attached, const std::string& sentence) {
    attached.reason += (attached.reason.empty() ? "" : " ") + sentence;
  }

  bool listed(const std::string& type) const {
    return contains(info_.kernel_ops, type) || contains(info_.activation_ops, type) ||
           contains(info_.no_quantization_ops, type);
  }

  /// Of an operator that no list names the platform decides; but one that our own list of activation_ops names has been
  /// left out of the list that replaces it.
  bool left_out(const std::string& type) const { return !listed(type) && contains(own_info().activation_ops, type); }

  bool is_masked(const Node& node) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [&](ValueId id) { return id.valid() && masked_[static_cast<size_t>(id.index)]; });
  }

  bool is_divisor(const Node& node) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [&](ValueId id) { return id.valid() && divides_[static_cast<size_t>(id.index)]; });
  }

  /// Takes out of the candidates what FrameworkInfo does not let be quantized, and what no range can hold.
  void restrict_to_info(const Node& node, NodeAttachment& attached) const {
    const std::string& type = node.op_type;
    const bool not_float = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
      const DType dtype = id.valid() ? types_[static_cast<size_t>(id.index)] : DType::kUndefined;
      return dtype != DType::kUndefined && dtype != DType::kFloat32;
    });
    const bool masked = is_masked(node);
    const bool alone = contains(info_.no_quantization_ops, type) || not_float || masked;
    const bool kernel = !alone && contains(info_.kernel_ops, type);
    const bool output = !alone && (contains(info_.activation_ops, type) || !listed(type));
    const bool unnamed = left_out(type), divides = is_divisor(node);
    for (OpQuantizationConfig& op : attached.candidates) {
      if (!output || divides) op.enable_activation_quantization = op.quantization_preserving = false;
      if (unnamed) op.enable_activation_quantization = false;
      for (auto& [name, attribute] : op.attr_weights_configs_mapping)
        if (!kernel && name.find(tpc::kKernelAttr) != std::string::npos) attribute.enable_weights_quantization = false;
    }
    if (not_float)
      say(attached, "It gives no float32 numbers.");
    else if (masked)
      say(attached, "A mask is laid on its output; a range that held the mask would leave nothing of the values.");
    else if (divides)
      say(attached,
          "Something is divided by what it gives, or by what becomes of it; even steps would make 0 of small values.");
    else if (alone)
      say(attached, type + " is among the operators that are left alone.");
    else if (!output || (unnamed && !attached.config().quantization_preserving))
      say(attached, "Outputs of " + type + " are not among those to quantize.");
  }

  static quant::QuantizationMethod acting(const std::map<quant::QuantizationMethod, const quant::Quantizer*>& mapping,
                                          quant::QuantizationMethod method, const NodeAttachment& attached,
                                          const std::string& field) {
    const auto found = mapping.find(method);
    if (found != mapping.end()) return found->second->method;
    std::string known;
    for (const auto& one : mapping) known += (known.empty() ? "" : ", ") + std::string(enum_word(one.first));
    throw Error(ErrorCode::kInvalidConfig,
                "The " + field + " of " + set_text(attached.operator_set) + " is " + std::string(enum_word(method)) +
                    ", for which there is no quantizer; " +
                    (known.empty() ? "there is none at all." : "there are some for " + known + "."),
                "config." + field);
  }

  /// Puts the quantizers of FrameworkInfo in place of the methods. Candidates beside the base may ask for methods that
  /// do not act.
  void map_methods(NodeAttachment& attached, Faults& faults) {
    for (size_t k = 0; k < attached.candidates.size(); ++k) {
      OpQuantizationConfig& op = attached.candidates[k];
      const auto map_one = [&](const auto& mapping, quant::QuantizationMethod& method, const char* field) {
        const bool acts = mapping.count(method) != 0;
        // A table is no quantizer of even steps, and no mapping need name it.
        if (!acts && quant::is_table_method(method)) return;
        if (!acts && (k != attached.base || !refused_.insert(attached.operator_set + field).second)) return;
        faults.attempt([&] { method = acting(mapping, method, attached, field); });
      };
      if (op.enable_activation_quantization)
        map_one(info_.activation_quantizer_mapping, op.activation_quantization_method,
                "activation_quantization_method");
      for (auto& [name, attribute] : op.attr_weights_configs_mapping)
        if (attribute.enable_weights_quantization)
          map_one(info_.weights_quantizer_mapping, attribute.weights_quantization_method,
                  "weights_quantization_method");
    }
  }

  void add_weight(const Node& node, NodeAttachment& attached, std::string_view name, size_t input) const {
    const AttributeQuantizationConfig& config = attached.config().attribute_config(name);
    const bool left_float = settings_.enable_weights_quantization == false &&
                            settings_.enable_activation_quantization != false &&
                            (name != tpc::kKernelAttr || contains(info_.kernel_ops, node.op_type)) &&
                            platform_.tp_model.options_of(attached.operator_set)
                                .base_config()
                                .attribute_config(name)
                                .enable_weights_quantization;
    attached.weights.push_back(
        {std::string(name), input, node.inputs[input], std::nullopt, std::nullopt, config, 0, left_float});
  }

  void add_weights(const Node& node, NodeAttachment& attached) const {
    const auto operand = kernel_operand(graph_, node);
    if (operand) {
      add_weight(node, attached, tpc::kKernelAttr, operand->kernel);
      const auto channels = info_.kernel_channels_mapping.find(node.op_type);
      if (operand->has_axes && channels != info_.kernel_channels_mapping.end()) {
        WeightAttribute& kernel = attached.weights.back();
        kernel.channel_axis = channels->second.output_axis;
        kernel.input_channel_axis = channels->second.input_axis;
        if (operand->swap_axes)
          for (auto* axis : {&kernel.channel_axis, &kernel.input_channel_axis})
            if (*axis == 0 || *axis == 1) *axis = 1 - **axis;
        check_axis(node, kernel);
        check_own_axes(node, channels->second);
        if (!kernel.channel_axis) kernel.config.weights_per_channel_threshold = false;
        if (kernel.channel_axis && (node.is("Conv") || node.is("Gemm") || node.is("MatMul"))) {
          const Shape& shape = graph_.initializer(kernel.value)->shape();
          kernel.block_columns = shape.elements() / std::max<int64_t>(1, shape[*kernel.channel_axis]);
        }
      }
      attached.weights.back().drop_idle_blocks();
      if (operand->bias) add_weight(node, attached, tpc::kBiasAttr, *operand->bias);
      return;
    }
    if (contains(info_.kernel_ops, node.op_type) && !node.is("MatMul"))
      say(attached, "Its weight is not a float32 constant.");
    if (is_masked(node)) return;
    const auto add_constant = [&](size_t i) {
      const Tensor* constant =
          i < node.inputs.size() && node.inputs[i].valid() ? graph_.initializer(node.inputs[i]) : nullptr;
      if (constant == nullptr || constant->dtype() != DType::kFloat32) return;
      add_weight(node, attached, tpc::kPosAttr, i);
      WeightAttribute& added = attached.weights.back();
      if (node.is("Gather") && constant->shape().rank() == 2) added.block_columns = constant->shape()[1];
      added.drop_idle_blocks();
    };
    for (const char* type : {"Add", "Sub", "Mul", "Div", "Min", "Max", "Concat", "Gather", "Slice"})
      if (node.is(type))
        for (size_t i = 0; i < node.inputs.size(); ++i) add_constant(i);
    for (const size_t i : recurrent_weights(node)) add_constant(i);
  }

  void check_axis(const Node& node, const WeightAttribute& kernel) const {
    const int rank = graph_.initializer(kernel.value)->shape().rank();
    for (const auto& axis : {kernel.channel_axis, kernel.input_channel_axis})
      if (axis && (*axis < 0 || *axis >= rank))
        throw Error(ErrorCode::kInvalidArgument,
                    "kernel_channels_mapping gives axis " + std::to_string(*axis) + " to the kernel of " +
                        node.op_type + ", which has " + std::to_string(rank) + " axes.",
                    "\"" + node.name + "\" (" + node.op_type + ")");
  }

  /// An operator's arithmetic says where its channels are: scales along another axis would belong to nothing.
  void check_own_axes(const Node& node, const KernelChannels& asked) const {
    const auto own = own_info().kernel_channels_mapping.find(node.op_type);
    if (own == own_info().kernel_channels_mapping.end()) return;
    const auto check = [&](const std::optional<int>& given, const std::optional<int>& right, const char* which) {
      if (!given || !right || *given == *right) return;
      throw Error(ErrorCode::kInvalidConfig,
                  "kernel_channels_mapping gives axis " + std::to_string(*given) + " to the " + which +
                      " channels of " + node.op_type + ", whose kernel has them along axis " + std::to_string(*right) +
                      ".",
                  "\"" + node.name + "\" (" + node.op_type + ")",
                  "Give axis " + std::to_string(*right) + ", or null for one range for the whole kernel.");
    };
    check(asked.output_axis, own->second.output_axis, "output");
    check(asked.input_axis, own->second.input_axis, "input");
  }

  void set_mode(const Node& node, NodeAttachment& attached) const {
    const OpQuantizationConfig& op = attached.config();
    if (op.quantization_preserving) {
      attached.activation = ActivationMode::kPreserveQuant;
    } else if (op.enable_activation_quantization) {
      attached.activation = ActivationMode::kQuant;
    } else if (attached.reason.empty()) {
      say(attached, "The platform \"" + platform_.name + "\" does not quantize the output of " + node.op_type + ".");
    }
    if (attached.kernel == tpc::RuntimeKernel::kFloat && attached.activation != ActivationMode::kNoQuant)
      say(attached, "The platform \"" + platform_.name + "\" computes " + node.op_type + " in float.");
  }

  const Graph& graph_;
  const TargetPlatformCapabilities& platform_;
  const FrameworkInfo& info_;
  const QuantizationConfig& settings_;
  const Overrides& overrides_;
  const std::set<NodeId>& with_usual_bits_;  // nodes that activation_n_bits of the whole model does not reach
  OperationsToLayers layers_;
  const Uses uses_;
  const std::vector<DType> types_;
  const std::vector<bool> masked_, divides_;
  const NodeRequests requests_;
  const std::optional<std::vector<NodeId>> annotated_;
  std::set<std::string> refused_;  // operator set and field, so that a fault is told once
  std::map<std::pair<std::string, std::string>, Narrowed> narrowed_;
  std::map<std::string, std::vector<std::string>> nearest_;          // what was not asked for, to the operator sets
  std::set<std::string> acting_;                                     // places of overrides' fields
  std::map<std::string, std::pair<std::string, std::string>> idle_;  // such a place to the field and an operator set
};

}  // namespace

namespace {

/// Of an attachment without a wish for bits: the nodes whose outputs the platform, or what reads them, does not let
/// have so many.
std::set<NodeId> without_bits(const Attachment& usual, int bits) {
  std::set<NodeId> found;
  for (const NodeAttachment& one : usual.nodes)
    if (std::none_of(one.candidates.begin(), one.candidates.end(), [&](const OpQuantizationConfig& op) {
          return op.enable_activation_quantization && op.activation_n_bits == bits;
        }))
      found.insert(one.node);
  return found;
}

}  // namespace

Faults told_once(const Faults& faults, const TargetPlatformCapabilities& platform) {
  std::vector<std::string> names = {""};
  for (const tpc::OperatorsSet& set : platform.tp_model.operator_set) names.push_back(set.name);
  struct Told {
    Error error;
    std::string before, after;  // of the text of the set in the message
    std::vector<std::string> sets;
  };
  std::vector<Told> all;
  for (const Error& error : faults.errors()) {
    Told told{error, error.message, {}, {}};
    for (const std::string& name : names) {
      const std::string text = set_text(name);
      const size_t at = error.message.find(text);
      if (at == std::string::npos) continue;
      told.before = error.message.substr(0, at), told.after = error.message.substr(at + text.size());
      told.sets = {name};
      break;
    }
    const auto same = std::find_if(all.begin(), all.end(), [&](const Told& one) {
      return !one.sets.empty() && !told.sets.empty() && one.before == told.before && one.after == told.after &&
             one.error.place == error.place;
    });
    if (same == all.end())
      all.push_back(std::move(told));
    else if (std::find(same->sets.begin(), same->sets.end(), told.sets[0]) == same->sets.end())
      same->sets.push_back(told.sets[0]);
  }
  Faults once;
  for (Told& told : all) {
    if (told.sets.size() > 1) {
      std::vector<std::string> quoted;
      for (const std::string& name : told.sets)
        if (!name.empty()) quoted.push_back("\"" + name + "\"");
      const bool outside = quoted.size() < told.sets.size();
      std::string sets = quoted.size() > 1 ? "the operator sets " + joined(quoted) : "the operator set " + quoted[0];
      if (outside) sets += " and " + set_text("");
      told.error = Error(told.error.code, told.before + sets + told.after, told.error.place, told.error.hint);
    }
    once.add(told.error);
  }
  return once;
}

Attachment attach(const Graph& graph, const TargetPlatformCapabilities& platform, const FrameworkInfo& info,
                  const QuantizationConfig& settings, const Overrides& overrides, const OperationsToLayers& layers) {
  const auto lay = [&](const QuantizationConfig& asked, const std::set<NodeId>& with_usual_bits, Faults& faults) {
    Attacher attacher(graph, platform, info, asked, overrides, layers, with_usual_bits);
    Attachment attachment;
    attachment.export_rules = platform.export_rules;
    attachment.preserving_quantizers = platform.tp_model.insert_preserving_quantizers;
    attachment.integer_inputs = config::input_type(settings.io_types) != DType::kFloat32;
    attachment.integer_outputs = config::output_type(settings.io_types) != DType::kFloat32;
    overrides.find_unmatched(graph, faults);
    attachment.input_config = attacher.input_config(faults);
    std::vector<std::string> sets;
    for (size_t i = 0; i < graph.nodes().size(); ++i) sets.push_back(attacher.operator_set_of(graph.nodes()[i], i));
    std::vector<Swish> swishes;
    if (platform.tp_model.find(kSwish) != nullptr) swishes = find_swishes(graph);
    for (const Swish& swish : swishes) sets[swish.sigmoid] = sets[swish.mul] = kSwish;
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
      const Node& node = graph.nodes()[i];
      attachment.by_node_[node.id.index] = attachment.nodes.size();
      attachment.nodes.push_back(attacher.attach_node(node, sets[i], faults));
    }
    attacher.find_idle_overrides(faults);
    const auto add_group = [&](const std::string& name, const std::vector<size_t>& nodes) {
      FusedGroup group{name, {}};
      for (const size_t index : nodes) {
        group.nodes.push_back(graph.nodes()[index].id);
        attachment.nodes[index].fused_group = attachment.groups.size();
      }
      attachment.groups.push_back(std::move(group));
    };
    for (const FusedChain& chain : fuse(graph, sets, platform.tp_model.fusing_patterns, swishes)) {
      const tpc::Fusing& pattern = platform.tp_model.fusing_patterns[chain.pattern];
      add_group(pattern.name, chain.nodes);
      for (const size_t index : chain.nodes)
        if (index != chain.nodes.back()) attacher.fuse_inside(pattern, attachment.nodes[index]);
    }
    for (const Swish& swish : swishes) {
      attachment.nodes[swish.sigmoid].activation = ActivationMode::kFlnNoQuant;
      if (!attachment.nodes[swish.mul].fused_group) add_group(kSwish, {swish.sigmoid, swish.mul});
    }
    limit_input_bits(graph, attachment, faults);
    if (auto note = idle_blocks_note(graph, attachment)) attachment.notes.push_back(std::move(*note));
    for (Diagnostic& note : attacher.nearest_notes()) attachment.notes.push_back(std::move(note));
    return attachment;
  };
  Faults faults;
  Attachment attachment = lay(settings, {}, faults);
  const auto said = [&](Attachment whole) {
    if (auto note = table_note(graph, whole, settings)) whole.notes.push_back(std::move(*note));
    return whole;
  };
  if (!faults.empty() && settings.activation_n_bits) {
    QuantizationConfig usual = settings;
    usual.activation_n_bits.reset();
    Faults others, left;
    const std::set<NodeId> nodes = without_bits(lay(usual, {}, others), *settings.activation_n_bits);
    Attachment eased = lay(settings, nodes, left);
    const auto note = usual_bits_note(graph, eased, nodes, *settings.activation_n_bits);
    if (note && others.empty() && left.empty()) {
      eased.notes.push_back(*note);
      return said(std::move(eased));
    }
  }
  told_once(faults, platform).throw_if_any(ErrorCode::kInvalidConfig, "The configuration", "config");
  return said(std::move(attachment));
}

}  // namespace tersor::framework
