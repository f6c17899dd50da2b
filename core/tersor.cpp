// SPDX-License-Identifier: Apache-2.0
#include "core/tersor.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <optional>

#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/config/contradictions.h"
#include "core/framework/platform_layers.h"
#include "core/graph/print.h"
#include "core/graph/quantized.h"
#include "core/graph/uses.h"
#include "core/graph/validate.h"
#include "core/mixed/configurable.h"
#include "core/onnx/convert_opset.h"
#include "core/onnx/exporter_notes.h"
#include "core/graph/operators.h"
#include "core/onnx/read.h"
#include "core/onnx/rewrite_forms.h"
#include "core/onnx/write.h"
#include "core/ops/registry.h"
#include "core/passes/edit.h"
#include "core/passes/passes.h"
#include "core/ptq/apply_plan.h"
#include "core/ptq/body_weights.h"
#include "core/ptq/check_export.h"
#include "core/ptq/choose_constants.h"
#include "core/ptq/choose_params.h"
#include "core/ptq/corrections.h"
#include "core/ptq/drop_idle_scales.h"
#include "core/ptq/find_requests.h"
#include "core/ptq/bound_relus.h"
#include "core/ptq/equalize_channels.h"
#include "core/ptq/keep_deviations.h"
#include "core/ptq/outcomes.h"
#include "core/ptq/round_weights.h"
#include "core/run/ports.h"
#include "core/samples/selection.h"
#include "core/tpc/read.h"

namespace tersor {

/// Quantized by their own values alone.
struct BodyJob {
  ptq::BodyKernels kernels;
  framework::Attachment attachment;
  ptq::Placement placement;
};

namespace {

constexpr int64_t kLowestOpset = 13;                                // QuantizeLinear per axis
constexpr std::string_view kRecipeDigest = "tersor.recipe_sha256";  // in a file's metadata

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
    sha.update(request.name + " " + std::to_string(request.channel_axis) + "\n");
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

/// A kernel at the end is not run while samples are, and its result would not load anywhere.
void check_kernel_inputs(const Graph& graph, const ptq::Placement& placement, const calibrate::Statistics& statistics) {
  for (size_t i = 0; i < placement.roles.size(); ++i) {
    const auto& op = placement.roles[i].op;
    if (!op) continue;
    const Node& node = graph.nodes()[i];
    const calibrate::TensorStatistics* seen = statistics.find(graph.name_of(node.inputs[0]));
    if (seen == nullptr || seen->shape_varies || seen->shape.rank() < 2) continue;
    const int64_t channels = seen->shape[op->is_conv ? 1 : seen->shape.rank() - 1];
    if (channels != op->inputs)
      throw Error(ErrorCode::kInvalidModel,
                  "The input has " + std::to_string(channels) + " channels, and the weight is for " +
                      std::to_string(op->inputs) + ".",
                  place_of(node, i), "Export the model again; no runtime can run it as it is.");
  }
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

/// `former`: the graph before it was prepared, for errors.
framework::Attachment attach(const Graph& graph, const Settings& settings, const Graph* former) {
  const auto scope = settings.quantize_scope ? settings.quantize_scope : std::make_shared<framework::QuantizeScope>();
  const framework::Overrides overrides(settings.overrides, former, *scope);
  framework::FrameworkInfo info = framework::onnx_framework_info();
  if (!settings.framework_info.empty())
    info = framework::read_framework_info(parse_json(settings.framework_info, "framework_info"));
  if (former != nullptr) {
    const std::vector<std::string> known = operators_of({&graph, former});
    framework::check_operators(info, known);
    framework::check_layers(settings.platform, settings.config, known);
  }
  framework::Attachment attachment = framework::attach(graph, settings.platform, info, settings.config, overrides);
  take_bits(graph, settings.bits, attachment);
  if (settings.float_constants.empty()) return attachment;
  const auto& in_float = settings.float_constants;
  for (framework::NodeAttachment& node : attachment.nodes)
    for (framework::WeightAttribute& weight : node.weights)
      if (std::find(in_float.begin(), in_float.end(), graph.name_of(weight.value)) != in_float.end())
        weight.config.enable_weights_quantization = false;
  return attachment;
}

/// With what the job has chosen.
framework::Attachment attach(const Graph& graph, const Job& job, const Graph* former) {
  framework::Attachment attachment = attach(graph, job.settings, former);
  ptq::keep_constants_float(attachment, job.arithmetic.constants_float);
  return attachment;
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

/// Rounding by what inputs have in common leaves their mean to a bias that is corrected on the samples.
bool rounds_weights(const config::QuantizationConfig& config) {
  return config.effort > 0 && config.measures_bias();
}

/// A DequantizeLinear of an input or a constant is part of a float model: its preprocessing, or a weight that was
/// stored small. Of what quantizers make it is part of a quantized one, and so is all of a file that this program
/// wrote.
bool is_float_form(const Model& model, const Uses& uses, const Node& node) {
  if (!node.is("DequantizeLinear") || node.inputs.empty() || !node.inputs[0].valid()) return false;
  const auto maker = uses.producer_index(node.inputs[0]);
  return !is_written_here(model) && (!maker || !is_quantized(model.graph.nodes()[*maker]));
}

/// Null where bodies read no weights that can be quantized alone. Overrides that name nodes of the bodies act.
std::shared_ptr<const BodyJob> prepare_bodies(const Job& job) {
  if (!job.placement.tensors.empty()) return nullptr;
  auto kernels = ptq::kernels_in_bodies(job.model);
  if (!kernels) return nullptr;
  auto bodies = std::make_shared<BodyJob>(BodyJob{std::move(*kernels), {}, {}});
  const Graph& graph = bodies->kernels.model.graph;
  bodies->attachment = attach(graph, job.settings, nullptr);
  bodies->placement = ptq::place(graph, bodies->attachment);
  const auto has_kernel = [](const ptq::NodeRole& role) { return role.has_kernel(); };
  const auto& roles = bodies->placement.roles;
  if (!bodies->placement.tensors.empty() || std::none_of(roles.begin(), roles.end(), has_kernel)) return nullptr;
  check_weights(graph, bodies->placement);
  return bodies;
}

/// The job's own kernels, or those of bodies.
void require_kernels(const Job& job) {
  if (!job.bodies) ptq::require_kernels(job.model.graph, job.placement);
}

/// A QuantizeLinear at the end of a float model.
bool quantizes_output(const Graph& graph, const Uses& uses, const Node& node) {
  return node.is("QuantizeLinear") && !node.inputs.empty() && node.inputs[0].valid() && node.outputs.size() == 1 &&
         node.outputs[0].valid() && uses.is_output(node.outputs[0]) && uses.reader_indices(node.outputs[0]).empty() &&
         graph.initializer(node.inputs[0]) == nullptr;
}

/// Stores the weights that bodies read in integers, in `model`, the job's with its plan carried out.
void store_body_weights(const Job& job, Model& model) {
  if (!job.bodies) return;
  const BodyJob& bodies = *job.bodies;
  ptq::QuantizationPlan plan =
      ptq::choose_params(bodies.kernels.model.graph, bodies.attachment, bodies.placement, {}, job.settings.config);
  ptq::restore_whole(plan);
  ptq::take_body_weights(model, ptq::apply_plan(bodies.kernels.model, plan), bodies.kernels);
}

/// What a person should know of the bodies, before anything is quantized.
void note_bodies(const Job& job, std::vector<Diagnostic>& notes) {
  if (!job.bodies) return;
  const auto& roles = job.bodies->placement.roles;
  const auto kernels = std::count_if(roles.begin(), roles.end(), [](const auto& role) { return role.has_kernel(); });
  const size_t tables = ptq::constants_to_store(job.bodies->kernels.model.graph, job.bodies->attachment).size();
  notes.push_back({"body_weights",
                   std::to_string(static_cast<size_t>(kernels) + tables) +
                       " weights that the bodies of If, Loop and Scan read are stored in integers, each by its own "
                       "values; the bodies stay as they are.",
                   "graph",
                   {}});
}

}  // namespace

std::string_view tool_version() {
  return TERSOR_VERSION;
}

OpenedModel open_model(Model model, std::span<const std::byte> file) {
  Sha256 sha;
  sha.update(file);
  std::string file_sha256 = Sha256(sha).hex();
  uint64_t bytes = file.size();
  for (const auto& [id, tensor] : model.graph.initializers())
    if (!onnx::lies_in(file, tensor)) {
      sha.update(tensor.bytes());
      bytes += tensor.byte_count();
    }
  onnx::rewrite_forms(model);
  return {std::move(model), sha.hex(), std::move(file_sha256), bytes};
}

OpenedModel open_model(const onnx::Source& source, const onnx::ExternalData& external) {
  return open_model(onnx::read(source, external), source.bytes);
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

std::shared_ptr<const Job> prepare(std::shared_ptr<const OpenedModel> opened, Settings settings) {
  config::check_settings(settings.config, settings.overrides);
  check_quantizable(opened->model);
  Model model = opened->model;
  onnx::convert_to_opset(model, kLowestOpset);
  std::vector<passes::PassResult> results =
      passes::prepare(model, {settings.config.linear_collapsing, settings.config.residual_collapsing});
  framework::Attachment attachment = attach(model.graph, settings, &opened->model.graph);
  ptq::ArithmeticChoice arithmetic = ptq::choose_arithmetic(
      model, attachment, settings.platform.prices ? &*settings.platform.prices : nullptr, settings.config.prefer);
  ptq::keep_constants_float(attachment, arithmetic.constants_float);
  ptq::Placement placement = ptq::place(model.graph, attachment, arithmetic.in_float);
  auto job = std::make_shared<Job>(Job{opened,
                                       std::move(settings),
                                       std::move(model),
                                       std::move(results),
                                       std::move(attachment),
                                       std::move(arithmetic),
                                       std::move(placement),
                                       {},
                                       {},
                                       {},
                                       {},
                                       nullptr});
  job->notes = config::idle_settings(job->settings.config, job->settings.overrides);
  job->notes.insert(job->notes.end(), job->attachment.notes.begin(), job->attachment.notes.end());
  note_branch_points(job->model.graph, job->settings, job->placement, job->notes);
  job->bodies = prepare_bodies(*job);
  note_bodies(*job, job->notes);
  require_kernels(*job);
  check_weights(job->model.graph, job->placement);
  const bool for_any_settings = !job->settings.own_statistics_only || !job->settings.overrides.empty();
  job->requests =
      ptq::find_requests(job->model, job->attachment, job->placement, job->settings.config, for_any_settings);
  job->platform = platform_of(job->settings);
  job->provenance = {opened->digest, graph_digest(job->model.graph, job->requests), shaping_settings(job->platform),
                     job->settings.preprocessing};
  run::ProgramOptions options;
  for (const calibrate::Request& request : job->requests) options.observed.push_back(request.value);
  // Only what is watched is computed: what follows it, a Softmax at the end, say, is not.
  Model watched = job->model;
  watched.graph.outputs.clear();
  job->program = run::Program::compile(watched, ops::standard(), options);
  return job;
}

std::shared_ptr<const Job> with_preprocessing(const Job& job, const std::string& preprocessing) {
  auto other = std::make_shared<Job>(job);
  other->settings.preprocessing = other->provenance.preprocessing = preprocessing;
  return other;
}

std::string choices_key(const Job& job) {
  const Settings& asked = job.settings;
  const std::string text = to_text(config::to_json(asked.config), false) + "\n" +
                           to_text(config::to_json(asked.overrides), false) + "\n" + asked.framework_info + "\n" +
                           job.platform.digest;
  return sha256_hex(std::as_bytes(std::span(text)));
}

std::shared_ptr<const Job> with_choices(const std::shared_ptr<const Job>& job, const calibrate::Choices& choices) {
  if (choices.is_plain() || choices.settings != choices_key(*job)) return job;
  auto chosen = std::make_shared<Job>(*job);
  chosen->asked = job;
  for (const std::string& field : choices.changes) config::set_field(chosen->settings.config, field);
  chosen->settings.float_constants = choices.in_float;
  chosen->settings.bits = choices.bits;
  chosen->attachment = attach(chosen->model.graph, *chosen, &chosen->opened->model.graph);
  chosen->placement = ptq::place(chosen->model.graph, chosen->attachment, chosen->arithmetic.in_float);
  chosen->bodies = prepare_bodies(*chosen);
  require_kernels(*chosen);
  return chosen;
}

calibrate::Calibrator calibrator_of(const Job& job, uint64_t data_set_size) {
  const auto whole = [opened = job.opened] { return run::Program::compile(opened->model, ops::standard()); };
  return calibrate::Calibrator(job.program, job.requests, job.provenance, data_set_size, whole);
}

calibrate::Statistics empty_statistics(const Job& job) {
  return {job.provenance, {}, 0, calibrate::Collector(job.requests).statistics()};
}

std::optional<int64_t> calibration_bytes(const Job& job) {
  const Graph& graph = job.model.graph;
  const auto shapes = run::shapes_of_one_sample(graph);
  const int64_t buffers = shapes ? job.program->peak_bytes(*shapes) : 0;
  if (buffers == 0) return std::nullopt;
  int64_t constants = 0;
  for (size_t k = 0; k < graph.value_count(); ++k)
    if (const Tensor* tensor = graph.initializer(ValueId{static_cast<int32_t>(k)}))
      constants += static_cast<int64_t>(tensor->byte_count());
  std::vector<int64_t> channels;
  for (const calibrate::Request& request : job.requests) {
    const auto& shape = graph.value(request.value).shape;
    const auto axis = static_cast<size_t>(std::max(request.channel_axis, 0));
    channels.push_back(request.channel_axis >= 0 && shape && axis < shape->size() ? (*shape)[axis].value : 0);
  }
  return 2 * constants + buffers + calibrate::Collector::bound_bytes(channels);
}

config::Recipe recipe_of(const Job& job, const calibrate::Statistics& statistics) {
  if (job.asked) return recipe_of(*job.asked, statistics);
  config::Recipe recipe;
  recipe.tool_version = tool_version();
  recipe.model_digest = job.opened->digest;
  recipe.platform = job.platform;
  recipe.quantization_config = job.settings.config;
  recipe.overrides = job.settings.overrides;
  recipe.framework_info = job.settings.framework_info;
  const std::string& preprocessing = statistics.provenance.preprocessing;
  if (preprocessing != "null") recipe.preprocessing = preprocessing;
  recipe.data_set = {statistics.samples.size(), statistics.data_set_size, statistics.samples_digest()};
  return recipe;
}

namespace {

std::string digest_of(const Graph& graph, const ptq::QuantizationPlan& plan, const config::QuantizationConfig& config) {
  std::string text = to_text(ptq::to_json(graph, plan), false);
  // What is measured for the plan then holds those kernels alone.
  if (ptq::keeps_deviations(plan) && !config.measures_bias()) text += "deviations";
  // Samples that training is judged on take no part in what is measured.
  if (config.gradient_ptq_config) text += "training";
  return sha256_hex(std::as_bytes(std::span(text)));
}

}  // namespace

Draft draft(const Job& job, const calibrate::Statistics& statistics) {
  calibrate::Provenance expected = job.provenance;
  expected.preprocessing = statistics.provenance.preprocessing;
  calibrate::check_provenance(statistics.provenance, expected);
  const bool without_samples = statistics.samples.empty();
  if (without_samples && (!job.placement.tensors.empty() || job.settings.config.mixes_precisions()))
    throw Error(ErrorCode::kInvalidSamples, "There are no samples to calibrate with.", "samples",
                "Give at least one; 32 or more make good ranges. Without samples only weights can be quantized: on a "
                "platform such as weight-only-int8, or with enable_activation_quantization false.");
  check_kernel_inputs(job.model.graph, job.placement, statistics);
  const config::QuantizationConfig& config = job.settings.config;
  Draft draft{{job.model, statistics, job.attachment, job.placement, job.arithmetic.in_float}};
  draft.ranges = job.ranges ? job.ranges : std::make_shared<quant::RangeMemo>();
  ptq::apply_corrections(draft, config, [&](const Graph& graph) { return attach(graph, job, nullptr); });
  const auto chosen = static_cast<std::ptrdiff_t>(job.arithmetic.in_float.size());
  if (!job.bodies)
    ptq::require_kernels(draft.model.graph, draft.placement, {draft.in_float.begin() + chosen, draft.in_float.end()});
  draft.plan = ptq::choose_params(draft.model.graph, draft.attachment, draft.placement, draft.statistics, config,
                                  std::exchange(draft.ranges, nullptr).get());
  for (const ptq::Correction& correction : ptq::corrections())
    if (correction.mark != nullptr && correction.is_wanted(config))
      if (auto done = correction.mark(draft.plan)) draft.rewrites.push_back(std::move(*done));
  draft.unrounded = draft.digest = digest_of(draft.model.graph, draft.plan, config);
  if (!rounds_weights(config) || without_samples) return draft;
  const calibrate::RoundedWeights& rounded = statistics.rounded;
  draft.lacks_rounding = rounded.plan != draft.unrounded || rounded.effort != config.effort;
  if (draft.lacks_rounding) return draft;
  ptq::take_rounded(draft.model.graph, rounded, draft.plan);
  draft.digest = digest_of(draft.model.graph, draft.plan, config);
  return draft;
}

namespace {

/// The plan needs the samples, so that what follows its kernels stays as the float model has it.
bool measures_outputs(const Job& job, const ptq::QuantizationPlan& plan) {
  return job.settings.config.measures_bias() || ptq::keeps_deviations(plan);
}

[[noreturn]] void refuse_unmeasured(const config::QuantizationConfig& config, bool lacks_rounding) {
  const bool of_biases = config.measures_bias();
  const std::string field = lacks_rounding ? "effort"
                            : of_biases    ? "weights_bias_correction_method"
                                           : "weights_second_moment_correction";
  const std::string value = lacks_rounding ? std::to_string(config.effort) : of_biases ? "MEASURED" : "on";
  throw Error(ErrorCode::kInvalidConfig,
              field + " is " + value +
                  ", which needs the samples: these statistics do not hold what was measured for these settings.",
              "config." + field,
              "Give the samples, calibrate the whole data set in one go with the same settings, or set " +
                  std::string(of_biases ? "weights_bias_correction_method to ANALYTIC."
                                        : "weights_second_moment_correction to false."));
}

[[noreturn]] void refuse_unsearched() {
  throw Error(
      ErrorCode::kInvalidConfig,
      "The settings have each operator's bits chosen within a budget, which needs the samples: these statistics "
      "do not hold what was measured for these settings.",
      "config.target_resource_utilization",
      "Give the samples, or leave target_resource_utilization and mixed_precision_config unset.");
}

}  // namespace

std::unique_ptr<ptq::Sweep> sweep(const Job& job, const Draft& draft, ptq::SweepOptions options) {
  const config::QuantizationConfig& config = job.settings.config;
  options.effort = draft.lacks_rounding ? config.effort : 0;
  options.deviations_only = !config.measures_bias();
  if (config.gradient_ptq_config) options.left_out = tune::held_places(draft.statistics.samples.size());
  if (draft.statistics.samples.empty()) return nullptr;  // weights alone, each by its own values
  if (!measures_outputs(job, draft.plan) || (!draft.lacks_rounding && draft.statistics.measured.plan == draft.digest))
    return nullptr;
  auto found = std::make_unique<ptq::Sweep>(draft.model, draft.plan, draft.statistics, options);
  if (found->steps() == 0) return nullptr;
  return found;
}

void keep_outcomes(const Job& job, const ptq::Sweep& sweep, std::vector<ptq::SweepOutcome> outcomes, Draft& draft,
                   calibrate::Statistics& statistics) {
  TERSOR_CHECK(outcomes.size() == sweep.steps());
  calibrate::MeasuredShifts measured;
  calibrate::RoundedWeights rounded{draft.unrounded, job.settings.config.effort, {}};
  for (size_t step = 0; step < outcomes.size(); ++step) {
    if (outcomes[step].weight) rounded.weights.push_back(std::move(*outcomes[step].weight));
    if (!sweep.output(step).empty()) measured.outputs.push_back({sweep.output(step), std::move(outcomes[step].shifts)});
  }
  if (draft.lacks_rounding) {
    ptq::take_rounded(draft.model.graph, rounded, draft.plan);
    draft.digest = digest_of(draft.model.graph, draft.plan, job.settings.config);
    draft.lacks_rounding = false;
    statistics.rounded = std::move(rounded);
  }
  measured.plan = draft.digest;
  draft.statistics.measured = measured;
  statistics.measured = std::move(measured);
}

namespace {

/// SHA-256 of what training depends on beside the samples and the number of its steps; `labels`: SHA-256 of these.
std::string tuning_key(const Job& job, const Draft& draft, const std::string& labels) {
  auto config = job.settings.config.gradient_ptq_config;
  config->most_steps.reset();
  std::string text = draft.digest + "\n" + to_text(tersor::to_json(*config), false);
  if (config->label_weight > 0) text += "\n" + labels;
  return sha256_hex(std::as_bytes(std::span(text)));
}

std::string digest_of_labels(const std::vector<int64_t>& labels) {
  std::string text;
  for (const int64_t label : labels) text += std::to_string(label) + "\n";
  return sha256_hex(std::as_bytes(std::span(text)));
}

/// `labels`: SHA-256 of those that are to be trained on.
bool lacks_tuning(const Job& job, const Draft& draft, const std::string& labels) {
  const auto& config = job.settings.config.gradient_ptq_config;
  if (!config) return false;
  const calibrate::Tuning& known = draft.statistics.tuned.tuning;
  return known.plan != tuning_key(job, draft, labels) ||
         known.steps != std::min(known.steps_planned, config->most_steps.value_or(known.steps_planned));
}

/// Shapes of one sample's inputs: as declared, or as every calibrated sample had them.
std::vector<Shape> input_shapes_of(const Job& job, const calibrate::Statistics& statistics) {
  if (const auto declared = run::shapes_of_one_sample(job.model.graph)) return *declared;
  std::vector<Shape> shapes;
  for (const ValueId input : job.model.graph.inputs) {
    const calibrate::TensorStatistics* seen = statistics.find(job.model.graph.name_of(input));
    if (seen == nullptr || seen->shape_varies)
      throw Error(ErrorCode::kUnsupportedModel,
                  "The input \"" + job.model.graph.name_of(input) + "\" has no shape that all samples share.",
                  "config.gradient_ptq_config",
                  "Give samples of one shape, or a model whose inputs have fixed shapes.");
    shapes.push_back(seen->shape);
  }
  return shapes;
}

[[noreturn]] void refuse_untuned() {
  throw Error(ErrorCode::kInvalidConfig,
              "gradient_ptq_config trains on the samples: these statistics do not hold what was trained for these "
              "settings.",
              "config.gradient_ptq_config", "Give the samples, or leave gradient_ptq_config unset.");
}

}  // namespace

ptq::QuantizationPlan corrected_plan(const Job& job, const Draft& draft, const calibrate::MeasuredShifts& measured) {
  ptq::QuantizationPlan plan = draft.plan;
  if (measures_outputs(job, plan)) ptq::correct_biases(draft.model.graph, measured, plan);
  const calibrate::TunedModel& tuned = draft.statistics.tuned;
  if (tuned.tuning.taken && !lacks_tuning(job, draft, tuned.tuning.labels) && job.settings.config.gradient_ptq_config)
    tune::take_tuned(draft.model.graph, tuned, plan);
  return plan;
}

std::unique_ptr<tune::Tuner> tuner_of(const Job& job, const Draft& draft, const calibrate::Statistics& statistics,
                                      const std::vector<int64_t>& labels) {
  const auto& config = job.settings.config.gradient_ptq_config;
  const bool takes_labels = config && config->label_weight > 0;
  std::string digest;
  if (takes_labels) digest = labels.empty() ? draft.statistics.tuned.tuning.labels : digest_of_labels(labels);
  if (!lacks_tuning(job, draft, digest)) return nullptr;
  if (takes_labels && labels.size() != statistics.samples.size())
    throw Error(ErrorCode::kInvalidLabels,
                "label_weight trains on the labels of the " + std::to_string(statistics.samples.size()) +
                    " samples, and there are " + std::to_string(labels.size()) + ".",
                "config.gradient_ptq_config.label_weight",
                "Give labels (--labels, class folders), or set label_weight to 0.");
  const ptq::QuantizationPlan plan = corrected_plan(job, draft, statistics.measured);
  return std::make_unique<tune::Tuner>(tune::Problem{
      draft.model, plan, *config, tuning_key(job, draft, digest), std::move(digest), input_shapes_of(job, statistics),
      statistics.samples.size(), takes_labels ? labels : std::vector<int64_t>()});
}

std::shared_ptr<const Job> with_training(const std::shared_ptr<const Job>& job, const calibrate::TunedModel& tuned) {
  const auto& config = job->settings.config.gradient_ptq_config;
  if (!config || config->most_steps || tuned.tuning.steps >= tuned.tuning.steps_planned) return job;
  auto stopped = std::make_shared<Job>(*job);
  stopped->settings.config.gradient_ptq_config->most_steps = tuned.tuning.steps;
  return stopped;
}

void keep_tuned(calibrate::TunedModel tuned, Draft& draft, calibrate::Statistics& statistics) {
  draft.statistics.tuned = tuned;
  statistics.tuned = std::move(tuned);
}

namespace {

std::string kilobytes(uint64_t bytes) {
  const uint64_t tenths = (bytes + 50) / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " kB";
}

/// In smaller files nodes and scales may weigh more than weights, whatever is done.
constexpr uint64_t kSmallFile = 65536;

/// Refuses a file that grew, and says what takes its bytes.
void check_size(const OpenedModel& opened, const QuantizeResult& result) {
  if (opened.file_bytes < kSmallFile || result.bytes.size() <= opened.file_bytes) return;
  uint64_t in_float = 0, in_integers = 0, largest = 0;
  std::string name;
  for (const auto& [id, tensor] : result.model.graph.initializers()) {
    (bits_of(tensor.dtype()) > 16 ? in_float : in_integers) += tensor.byte_count();
    if (bits_of(tensor.dtype()) <= 16 || tensor.byte_count() <= largest) continue;
    largest = tensor.byte_count();
    name = result.model.graph.name_of(id);
  }
  throw Error(ErrorCode::kUnsupportedModel,
              "The quantized file would have " + kilobytes(result.bytes.size()) + ", more than the float one's " +
                  kilobytes(opened.file_bytes) + ": " + kilobytes(in_float) +
                  " are constants of 32 bits or more (the largest is \"" + name + "\"), " + kilobytes(in_integers) +
                  " are integers, and nodes and their names take the rest.",
              "config.allow_larger_file",
              "Choose another platform or other settings, keep the float model, or set allow_larger_file to true "
              "(--allow-larger-file) to have the file all the same.");
}

}  // namespace

QuantizeResult quantize(const Job& job, const calibrate::Statistics& statistics) {
  return quantize(job, statistics, draft(job, statistics));
}

QuantizeResult quantize(const Job& job, const calibrate::Statistics& statistics, Draft draft) {
  QuantizeResult result;
  result.draft = std::move(draft);
  const Draft& decided = result.draft;
  if (job.settings.config.mixes_precisions() && job.settings.bits.empty()) refuse_unsearched();
  if (sweep(job, decided) != nullptr) refuse_unmeasured(job.settings.config, decided.lacks_rounding);
  if (lacks_tuning(job, decided, decided.statistics.tuned.tuning.labels)) refuse_untuned();
  result.plan = corrected_plan(job, decided, statistics.measured);
  result.recipe = recipe_of(job, statistics);
  result.model = ptq::apply_plan(decided.model, result.plan);
  ptq::take_back_guarded(result.model.graph, result.plan);
  ptq::check_export(job.model, result.model, result.plan);
  ptq::drop_idle_scales(result.model.graph, decided.rewrites);
  store_body_weights(job, result.model);
  passes::share_equal_constants(result.model);
  for (ptq::NodeOutcome& outcome : result.plan.outcomes)
    if (outcome.arithmetic == ptq::NodeOutcome::Arithmetic::kFloat && result.model.graph.find(outcome.node) == nullptr)
      outcome.arithmetic = ptq::NodeOutcome::Arithmetic::kFolded;
  validate(result.model);
  result.model.producer_name = "tersor";
  result.model.producer_version = tool_version();
  const std::string recipe = config::write_recipe(result.recipe);
  auto& metadata = result.model.metadata;
  const auto of_platform = job.settings.platform.metadata();
  std::erase_if(metadata, [&](const auto& entry) {
    const auto same = [&](const auto& other) { return other.first == entry.first; };
    return entry.first == kRecipeDigest || entry.first == ptq::kChannelScales || entry.first == ptq::kTensorFactors ||
           std::any_of(of_platform.begin(), of_platform.end(), same);
  });
  metadata.insert(metadata.end(), of_platform.begin(), of_platform.end());
  metadata.emplace_back(kRecipeDigest, sha256_hex(std::as_bytes(std::span(recipe))));
  for (const ptq::Rewrite& rewrite : decided.rewrites)
    if (const auto& [key, text] = rewrite.metadata; !text.empty()) metadata.emplace_back(key, text);
  if (!job.settings.config.keep_metadata) onnx::drop_exporter_notes(result.model);
  result.bytes = onnx::write(onnx::restore_edges(result.model));
  // Who asks for float weights knows that the file does not shrink.
  const bool asked_for = job.settings.config.enable_weights_quantization == false || !job.settings.overrides.empty();
  if (!job.settings.config.allow_larger_file && !asked_for) check_size(*job.opened, result);
  return result;
}

}  // namespace tersor
