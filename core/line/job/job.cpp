// SPDX-License-Identifier: Apache-2.0
#include "core/job/job.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/choose/choose_params.h"
#include "core/config/contradictions.h"
#include "core/correct/find_requests.h"
#include "core/framework/ignored_scope.h"
#include "core/framework/platform_layers.h"
#include "core/graph/operators.h"
#include "core/graph/print.h"
#include "core/graph/quantized.h"
#include "core/graph/uses.h"
#include "core/graph/validate.h"
#include "core/job/body_job.h"
#include "core/job/tflite_nodes.h"
#include "core/mixed/configurable.h"
#include "core/onnx/convert_opset.h"
#include "core/onnx/left_out.h"
#include "core/onnx/read.h"
#include "core/onnx/rewrite_forms.h"
#include "core/onnx/usage_notes.h"
#include "core/ops/registry.h"
#include "core/passes/edit.h"
#include "core/passes/passes.h"
#include "core/run/control.h"
#include "core/samples/model_inputs.h"
#include "core/samples/preprocessing.h"
#include "core/tflite/read_model.h"
#include "core/tpc/read.h"
#include "core/tune/own_quantizer.h"

namespace tersor {

namespace {

constexpr int64_t kLowestOpset = 13;  // QuantizeLinear per axis

config::RecipePlatform platform_of(const Settings& settings) {
  return {settings.platform.name, settings.platform.version, tpc::digest(settings.platform)};
}

/// The settings that decide what is observed.
std::string shaping_settings(const config::RecipePlatform& platform) {
  return to_text(to_json(platform), false);
}

/// The structure of the prepared graph and what is watched in it; weights follow from the model's digest.
std::string graph_digest(const Graph& graph, const std::vector<calibrate::Request>& requests) {
  Sha256 sha;
  sha.update(tool_version());
  sha.update("\n" + to_text(graph));
  for (const calibrate::Request& request : requests)
    sha.update(request.name + " " + std::to_string(request.channel_axis) + (request.by_sample ? " by sample\n" : "\n"));
  return sha.hex();
}

void check_finite(const Graph& graph, ValueId constant, const char* what) {
  const Tensor values = graph.initializer(constant)->aligned();
  for (const float x : values.data<float>())
    if (!std::isfinite(x))
      throw Error(
          ErrorCode::kInvalidModel,
          std::string("A ") + what + " is not finite: " + std::to_string(x) + ". No scale can represent it.",
          "graph.initializer \"" + graph.name_of(constant) + "\"",
          "The file may be damaged, or training diverged; a channel that is switched off needs a finite number.");
}

/// Before any sample is run: no integers stand for weights and biases that are not finite.
void check_weights(const Graph& graph, const ptq::Placement& placement) {
  for (const ptq::NodeRole& role : placement.roles) {
    if (!role.op) continue;
    check_finite(graph, role.op->weight, "weight");
    if (role.op->bias.valid() && passes::float_constant(graph, role.op->bias) != nullptr)
      check_finite(graph, role.op->bias, "bias");
  }
}

/// What runs in integers, as a word of `prefer` has it.
struct Division {
  framework::Attachment attachment;
  ptq::ArithmeticChoice arithmetic;
  ptq::Placement placement;
};

Division divide(const Model& model, framework::Attachment attachment, const tpc::TargetPlatformCapabilities& platform,
                config::Preference prefer) {
  ptq::ArithmeticChoice arithmetic = ptq::choose_arithmetic(model, attachment, platform.all_prices(), prefer);
  ptq::keep_constants_float(attachment, arithmetic.constants_float);
  ptq::Placement placement = ptq::place(model.graph, attachment, arithmetic.in_float);
  return {std::move(attachment), std::move(arithmetic), std::move(placement)};
}

/// All that a node may be: ONNX's own operators, and what these graphs have.
std::vector<std::string> operators_of(std::initializer_list<const Graph*> graphs) {
  std::vector<std::string> names = operator_names();
  for (const Graph* graph : graphs)
    for (const Node& node : graph->nodes()) names.push_back(node.op_type);
  return names;
}

/// Gives the operators that a search was about the candidates that it chose. A correction may have changed what is
/// around an operator and so its candidates: then the one of the same bits.
void take_bits(const Graph& graph, const calibrate::BitConfiguration& bits, framework::Attachment& attachment) {
  std::map<std::string, const calibrate::SearchedCandidate*> chosen;
  for (const calibrate::SearchedOperator& one : bits.operators) {
    const auto* candidate = &one.candidates[static_cast<size_t>(one.chosen)];
    chosen[one.node] = candidate;
    for (const std::string& other : one.shared_with) chosen[other] = candidate;
  }
  for (framework::NodeAttachment& attached : attachment.nodes) {
    const auto found = chosen.find(graph.label_of(*graph.find(attached.node)));
    if (found == chosen.end()) continue;
    const auto fits = [&](size_t candidate) {
      const mixed::OperatorBits its = mixed::bits_of(attached, candidate);
      const int64_t activation = found->second->activation_n_bits;  // 0: inside a fused group, which has none
      return its.weights == found->second->weights_n_bits &&
             (its.activation == activation || its.activation == 0 || activation == 0);
    };
    const auto wanted = static_cast<size_t>(found->second->index);
    if (wanted < attached.candidates.size() && fits(wanted)) {
      framework::take_candidate(attached, wanted);
      continue;
    }
    for (size_t k = 0; k < attached.candidates.size(); ++k)
      if (fits(k)) {
        framework::take_candidate(attached, k);
        break;
      }
  }
}

/// A quantized tensor that several nodes read, where the platform does badly with these.
void note_branch_points(const Graph& graph, const Settings& settings, const ptq::Placement& placement,
                        std::vector<Diagnostic>& notes) {
  if (!settings.platform.export_rules.warn_branch_points) return;
  const Uses uses(graph);
  for (const ptq::PlacedTensor& tensor : placement.tensors)
    if (uses.reader_count(tensor.value) > 1)
      notes.push_back({"branch_point",
                       "Several operators read the int8 tensor \"" + graph.name_of(tensor.value) +
                           "\": on x64 and in the browser ONNX Runtime computes the operators around it in float.",
                       graph.name_of(tensor.value), "Use the platform ort-cpu there; on ARM64 nothing is lost."});
}

/// A DequantizeLinear of an input or a constant is part of a float model: its preprocessing, or a weight that was
/// stored small. Of what quantizers make it is part of a quantized one, and so is all of a file that this program
/// wrote.
bool is_float_form(const Model& model, const Uses& uses, const Node& node) {
  if (!node.is("DequantizeLinear") || node.inputs.empty() || !node.inputs[0].valid()) return false;
  const auto maker = uses.producer_index(node.inputs[0]);
  return !is_written_here(model) && (!maker || !is_quantized(model.graph.nodes()[*maker]));
}

/// The job's own kernels, or those of bodies.
void require_kernels(const Job& job) {
  const bool has_own = job.settings.format == FileFormat::kTflite && has_integer_lstm(job.model.graph, job.placement);
  if (!job.bodies && !has_own) ptq::require_kernels(job.model.graph, job.placement);
}

/// A QuantizeLinear at the end of a float model.
bool quantizes_output(const Graph& graph, const Uses& uses, const Node& node) {
  return node.is("QuantizeLinear") && !node.inputs.empty() && node.inputs[0].valid() && node.outputs.size() == 1 &&
         node.outputs[0].valid() && uses.is_output(node.outputs[0]) && uses.reader_indices(node.outputs[0]).empty() &&
         graph.initializer(node.inputs[0]) == nullptr;
}

/// The range that pixels from 0 to 255 have after their preprocessing.
framework::ValueBounds picture_bounds(const Graph& graph, const Settings& settings) {
  const auto pixels = pixels_of(graph, settings);
  if (!pixels) return {};
  const std::vector<double> means = pixels->mean.to_doubles(), deviations = pixels->deviation.to_doubles();
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (size_t c = 0; c < std::max(means.size(), deviations.size()); ++c)
    for (const double pixel : {0.0, 255.0}) {
      const double value = (pixel - means[c % means.size()]) / deviations[c % deviations.size()];
      low = std::min(low, value);
      high = std::max(high, value);
    }
  return {low, high};
}

}  // namespace

std::optional<PixelScale> pixels_of(const Graph& graph, const Settings& settings) {
  if (!config::takes_pixels(settings.config.io_types) || settings.preprocessing == "null" || graph.inputs.empty())
    return std::nullopt;
  const samples::InputSpec input = samples::model_inputs(graph)[0];
  return samples::pixel_scale(samples::read_preprocessing(settings.preprocessing, input, "preprocessing"), input);
}

namespace {

/// Error kInvalidConfig for a trainable quantizer where nothing is trained, or that is not known.
void check_trainable_quantizers(const Settings& settings) {
  for (size_t k = 0; k < settings.overrides.size(); ++k) {
    const std::string& name = settings.overrides[k].trainable_quantizer;
    if (name.empty()) continue;
    const std::string place = "overrides[" + std::to_string(k) + "].trainable_quantizer";
    if (!settings.config.gradient_ptq_config)
      throw Error(ErrorCode::kInvalidConfig, "The settings name a trainable quantizer, and nothing is trained.", place,
                  "Train (tune, or gradient_ptq_config), or leave the quantizer out.");
    tune::own_class(settings.trainable_quantizers.get(), name, place);
  }
}

}  // namespace

framework::Attachment attachment_of(const Graph& graph, const Settings& settings, const Graph* former) {
  const auto scope = settings.quantize_scope ? settings.quantize_scope : std::make_shared<framework::QuantizeScope>();
  framework::Overrides overrides(settings.overrides, former, *scope);
  std::vector<Diagnostic> notes;
  if (settings.config.ignored_scope)
    overrides.ignore(framework::ignored_names(*settings.config.ignored_scope, graph, former, notes));
  framework::FrameworkInfo info = framework::onnx_framework_info();
  if (!settings.framework_info.empty())
    info = framework::read_framework_info(parse_json(settings.framework_info, "framework_info"));
  if (former != nullptr) {
    check_trainable_quantizers(settings);
    const std::vector<std::string> known = operators_of({&graph, former});
    framework::check_operators(info, known);
    framework::check_layers(settings.platform, settings.config, known);
  }
  framework::Attachment attachment = framework::attach(graph, settings.platform, info, settings.config, overrides);
  // Files of other forms say the integers of every tensor.
  if (settings.format != FileFormat::kOnnx) attachment.preserving_quantizers.reset();
  attachment.picture_bounds = picture_bounds(graph, settings);
  attachment.notes.insert(attachment.notes.end(), notes.begin(), notes.end());
  take_bits(graph, settings.bits, attachment);
  if (settings.float_constants.empty()) return attachment;
  const auto& in_float = settings.float_constants;
  for (framework::NodeAttachment& node : attachment.nodes)
    for (framework::WeightAttribute& weight : node.weights)
      if (std::find(in_float.begin(), in_float.end(), graph.name_of(weight.value)) != in_float.end())
        weight.config.enable_weights_quantization = false;
  return attachment;
}

framework::Attachment attachment_of(const Graph& graph, const Job& job, const Graph* former) {
  framework::Attachment attachment = attachment_of(graph, job.settings, former);
  ptq::keep_constants_float(attachment, job.arithmetic.constants_float);
  return attachment;
}

std::string_view tool_version() {
  return TERSOR_VERSION;
}

OpenedModel open_model(Model model, std::span<const std::byte> file) {
  Sha256 sha;
  sha.update(file);
  std::string file_sha256 = Sha256(sha).hex();
  for (const auto& [id, tensor] : model.graph.initializers())
    if (!onnx::lies_in(file, tensor)) sha.update(tensor.bytes());
  onnx::rewrite_forms(model);
  return {std::move(model), sha.hex(), std::move(file_sha256), file.size()};
}

OpenedModel open_model(const onnx::Source& source, const onnx::ExternalData& external) {
  uint64_t beside = 0;  // read() asks for each file once
  const onnx::ExternalData counted = [&](const std::string& location) {
    onnx::Source found = external(location);
    beside += found.bytes.size();
    return found;
  };
  OpenedModel opened = open_model(tflite::read_model(source, external ? counted : external), source.bytes);
  opened.file_bytes += beside;
  return opened;
}

bool is_written_here(const Model& model) {
  return std::any_of(model.metadata.begin(), model.metadata.end(),
                     [](const auto& entry) { return entry.first == kRecipeDigest; });
}

void check_quantizable(const Model& model) {
  const auto& nodes = model.graph.nodes();
  const Uses uses(model.graph);
  std::optional<size_t> first;
  bool at_outputs_alone = !is_written_here(model);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!is_quantized(nodes[i]) || is_float_form(model, uses, nodes[i])) continue;
    if (!first) first = i;
    at_outputs_alone = at_outputs_alone && quantizes_output(model.graph, uses, nodes[i]);
  }
  if (!first) return;
  const Node& node = nodes[*first];
  const auto name = [&](ValueId id) { return "\"" + model.graph.name_of(id) + "\""; };
  if (at_outputs_alone)
    throw Error(ErrorCode::kUnsupportedModel, "This node quantizes the output " + name(node.outputs[0]) + ".",
                place_of(node, *first),
                "Give the model without it: with " + name(node.inputs[0]) + " as an output in its place.");
  throw Error(ErrorCode::kUnsupportedModel, "The model is quantized already.", place_of(node, *first),
              "Give the float model that it was made from.");
}

namespace {

/// Nodes of operators that are not known here.
std::set<NodeId> unknown_nodes(const Model& model) {
  std::set<NodeId> nodes;
  for (const Node& node : model.graph.nodes())
    if (run::control_op(node) == nullptr &&
        ops::standard().find(node.domain, node.op_type, model.opset(node.domain)) == nullptr)
      nodes.insert(node.id);
  return nodes;
}

/// The job without what cannot be run and what follows from it; null where nothing would be left. Where weights alone
/// are quantized, those that would be left out are worth more than samples.
std::shared_ptr<const Job> prepare_without(const OpenedModel& opened, const Settings& settings,
                                           const std::set<NodeId>& nodes, bool weights_alone) {
  auto cut = std::make_shared<OpenedModel>(opened);
  auto left_out = onnx::leave_out(cut->model, nodes);
  if (!left_out || (weights_alone && left_out->has_kernels)) return nullptr;
  const auto& all = opened.model.graph.nodes();
  const auto first = std::find_if(all.begin(), all.end(), [&](const Node& node) { return nodes.count(node.id) != 0; });
  auto job = std::make_shared<Job>(*prepare(std::move(cut), settings));
  const size_t count = left_out->nodes.size();
  job->notes.push_back({"left_out",
                        "This operator cannot be run here. It stays as it is, with what follows from it (" +
                            std::to_string(count) + (count == 1 ? " node" : " nodes") +
                            " in all); what these read is judged in their place.",
                        place_of(*first, static_cast<size_t>(first - all.begin())),
                        {}});
  job->left_out = std::make_shared<const onnx::LeftOut>(*std::move(left_out));
  return job;
}

}  // namespace

std::shared_ptr<const Job> prepare(std::shared_ptr<const OpenedModel> opened, Settings settings) {
  config::check_settings(settings.config, settings.overrides);
  if (settings.config.output_roles) {
    std::vector<std::string> outputs;
    for (const ValueId output : opened->model.graph.outputs) outputs.push_back(opened->model.graph.name_of(output));
    config::check_output_roles(*settings.config.output_roles, outputs);
  }
  check_quantizable(opened->model);
  size_t set = 0;
  if (settings.config.inference_mode) {
    auto in_inference = std::make_shared<OpenedModel>(*opened);
    set = onnx::set_inference_mode(in_inference->model);
    opened = std::move(in_inference);
  }
  if (!settings.taken_branches.empty()) {
    auto hoisted = std::make_shared<OpenedModel>(*opened);
    passes::hoist_branches(hoisted->model, settings.taken_branches);
    opened = std::move(hoisted);
  }
  Model model = opened->model;
  onnx::convert_to_opset(model, kLowestOpset);
  std::vector<passes::PassResult> results =
      passes::prepare(model, {settings.config.linear_collapsing, settings.config.residual_collapsing});
  framework::Attachment attachment = attachment_of(model.graph, settings, &opened->model.graph);
  std::vector<ptq::Placement> placements;  // of all divisions of the graph that are compared, that of `prefer` first
  Division division = divide(model, attachment, settings.platform, settings.config.prefer);
  placements.push_back(division.placement);
  std::map<config::Preference, ptq::ArithmeticChoice> by_word{{settings.config.prefer, division.arithmetic}};
  for (const config::Preference word : settings.config.contestants()) {
    if (word == settings.config.prefer) continue;
    Division other = divide(model, attachment, settings.platform, word);
    by_word[word] = std::move(other.arithmetic);
    placements.push_back(std::move(other.placement));
  }
  auto job = std::make_shared<Job>(Job{opened,
                                       std::move(settings),
                                       std::move(model),
                                       std::move(results),
                                       std::move(division.attachment),
                                       std::move(division.arithmetic),
                                       std::move(by_word),
                                       std::move(division.placement),
                                       {},
                                       {},
                                       {},
                                       {},
                                       nullptr});
  job->notes = config::idle_settings(job->settings.config, job->settings.overrides);
  job->notes.insert(job->notes.end(), job->attachment.notes.begin(), job->attachment.notes.end());
  if (set > 0)
    job->notes.push_back({"inference_mode",
                          "Set to inference: " + std::to_string(set) +
                              " nodes that were exported in training mode. The float model of all figures is so, too.",
                          "config.inference_mode",
                          {}});
  for (const auto& [name, is_then] : job->settings.taken_branches)
    job->notes.push_back({"taken_branch",
                          std::string("All samples take the ") + (is_then ? "then_branch" : "else_branch") +
                              " of this If: it is quantized, and the other branch computes in float.",
                          name,
                          {}});
  note_branch_points(job->model.graph, job->settings, job->placement, job->notes);
  job->bodies = prepare_bodies(*job);
  note_bodies(*job, job->notes);
  require_kernels(*job);
  check_weights(job->model.graph, job->placement);
  if (job->bodies) check_weights(job->bodies->kernels.model.graph, job->bodies->placement);
  const bool for_any_settings = !job->settings.own_statistics_only || !job->settings.overrides.empty();
  job->requests = ptq::find_requests(job->model, job->attachment, placements, job->settings.config, for_any_settings);
  job->platform = platform_of(job->settings);
  job->provenance = {opened->digest, graph_digest(job->model.graph, job->requests), shaping_settings(job->platform),
                     job->settings.preprocessing};
  if (job->settings.format == FileFormat::kTflite) check_tflite(job->model);
  if (const auto unknown = unknown_nodes(opened->model); !unknown.empty())
    if (auto without = prepare_without(*opened, job->settings, unknown, job->placement.tensors.empty())) return without;
  run::ProgramOptions options;
  for (const calibrate::Request& request : job->requests) options.observed.push_back(request.value);
  // Only what is watched is computed: what follows it, a Softmax at the end, say, is not.
  Model watched = job->model;
  watched.graph.outputs.clear();
  try {
    job->program = run::Program::compile(watched, ops::standard(), options);
  } catch (const Error& error) {
    if (error.code != ErrorCode::kUnsupportedModel) throw;
    if (!job->placement.tensors.empty()) throw;
    job->notes.push_back(
        {"not_run", error.message + " Weights are quantized by their own values, without samples.", error.place, {}});
  }
  return job;
}

std::shared_ptr<const Job> with_preprocessing(const Job& job, const std::string& preprocessing) {
  auto other = std::make_shared<Job>(job);
  other->settings.preprocessing = other->provenance.preprocessing = preprocessing;
  other->attachment.picture_bounds = picture_bounds(other->model.graph, other->settings);
  return other;
}

std::string choices_key(const Job& job) {
  const Settings& asked = job.settings;
  config::QuantizationConfig config = asked.config;
  config.output_roles.reset();  // says how the result is judged, not what it is
  const std::string text = to_text(config::to_json(config), false) + "\n" +
                           to_text(config::to_json(asked.overrides), false) + "\n" + asked.framework_info + "\n" +
                           job.platform.digest + (asked.format == FileFormat::kTflite ? "\ntflite" : "") +
                           (asked.metric ? "\nmetric" : "");
  return sha256_hex(std::as_bytes(std::span(text)));
}

std::shared_ptr<const Job> with_choices(const std::shared_ptr<const Job>& job, const calibrate::Choices& choices) {
  if (choices.is_plain() || choices.settings != choices_key(*job)) return job;
  auto chosen = std::make_shared<Job>(*job);
  chosen->asked = job;
  for (const std::string& field : choices.changes) config::set_field(chosen->settings.config, field);
  chosen->settings.float_constants = choices.in_float;
  chosen->settings.bits = choices.bits;
  const Settings& settings = chosen->settings;
  const auto by_word = job->arithmetic_by_word.find(settings.config.prefer);
  if (by_word == job->arithmetic_by_word.end())
    throw Error(ErrorCode::kMismatch,
                "The choices are for prefer=" + std::string(enum_word(settings.config.prefer)) +
                    ", which these settings compare with nothing.",
                "statistics.choices.changes", "Make the statistics again with these settings.");
  chosen->arithmetic = by_word->second;
  chosen->attachment = attachment_of(chosen->model.graph, *chosen, &chosen->opened->model.graph);
  chosen->placement = ptq::place(chosen->model.graph, chosen->attachment, chosen->arithmetic.in_float);
  chosen->bodies = prepare_bodies(*chosen);
  require_kernels(*chosen);
  return chosen;
}

}  // namespace tersor
