// SPDX-License-Identifier: Apache-2.0
#include "core/job/tersor.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/choose/choose_params.h"
#include "core/correct/bound_relus.h"
#include "core/correct/corrections.h"
#include "core/correct/drop_idle_scales.h"
#include "core/correct/equalize_channels.h"
#include "core/correct/keep_deviations.h"
#include "core/decide/outcomes.h"
#include "core/export/apply_plan.h"
#include "core/export/check_export.h"
#include "core/export/sink_branches.h"
#include "core/graph/uses.h"
#include "core/graph/validate.h"
#include "core/job/body_job.h"
#include "core/job/tflite_nodes.h"
#include "core/onnx/exporter_notes.h"
#include "core/onnx/integer_edges.h"
#include "core/onnx/left_out.h"
#include "core/onnx/rewrite_forms.h"
#include "core/onnx/write.h"
#include "core/ops/registry.h"
#include "core/passes/passes.h"
#include "core/run/ports.h"
#include "core/sweep/round_weights.h"
#include "core/tune/own_quantizer.h"

namespace tersor {

namespace {

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

/// Rounding by what inputs have in common leaves their mean to a bias that is corrected on the samples.
bool rounds_weights(const config::QuantizationConfig& config) {
  return config.effort > 0 && config.measures_bias();
}

}  // namespace

calibrate::Calibrator calibrator_of(const Job& job, uint64_t data_set_size) {
  if (!job.program) run::Program::compile(job.model, ops::standard());  // says what cannot be run
  const auto whole = [opened = job.opened] { return run::Program::compile(opened->model, ops::standard()); };
  return calibrate::Calibrator(job.program, job.requests, job.provenance, data_set_size, whole);
}

calibrate::Statistics empty_statistics(const Job& job) {
  return {job.provenance, {}, 0, calibrate::Collector(job.requests).statistics()};
}

std::optional<int64_t> calibration_bytes(const Job& job) {
  const Graph& graph = job.model.graph;
  const auto shapes = run::shapes_of_one_sample(graph);
  const int64_t buffers = shapes && job.program ? job.program->peak_bytes(*shapes) : 0;
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

namespace {

/// A metric of one's own chose these settings, and fields of the configuration say all of it.
bool is_settled(const Job& job, const calibrate::Statistics& statistics) {
  const Settings& settings = job.settings;
  return settings.metric && settings.float_constants.empty() && settings.bits.empty() && statistics.choices.held > 0 &&
         statistics.choices.settings == choices_key(job.asked ? *job.asked : job);
}

}  // namespace

config::Recipe recipe_of(const Job& job, const calibrate::Statistics& statistics) {
  const bool settled = is_settled(job, statistics);
  if (job.asked && !settled) return recipe_of(*job.asked, statistics);
  config::Recipe recipe;
  recipe.tool_version = tool_version();
  recipe.model_digest = job.opened->digest;
  recipe.platform = job.platform;
  recipe.quantization_config = job.settings.config;
  recipe.quantization_config.output_roles.reset();  // how the result is judged makes no other bytes
  if (settled) recipe.quantization_config.holdout = false;
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
  ptq::apply_corrections(draft, config, [&](const Graph& graph) { return attachment_of(graph, job); });
  const auto chosen = static_cast<std::ptrdiff_t>(job.arithmetic.in_float.size());
  const bool for_tflite = job.settings.format == FileFormat::kTflite;
  if (!job.bodies && !(for_tflite && has_integer_lstm(draft.model.graph, draft.placement)))
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

/// Classes that overrides name for what they train: a node's weight, or its output.
struct OwnQuantizers {
  std::map<NodeId, std::string> of_weights;
  std::map<ValueId, std::string> of_activations;
};

/// The first quantized value after the node that it alone leads to: its layer's output.
ValueId layer_output(const Draft& draft, const Uses& uses, NodeId node) {
  const Graph& graph = draft.model.graph;
  const ValueId own = graph.find(node)->outputs.at(0);
  for (ValueId value = own;;) {
    if (draft.plan.find(value) != nullptr) return value;
    const auto readers = uses.reader_indices(value);
    if (readers.size() != 1 || graph.nodes()[readers[0]].outputs.size() != 1) return own;
    value = graph.nodes()[readers[0]].outputs[0];
  }
}

OwnQuantizers own_quantizers(const Job& job, const Draft& draft) {
  OwnQuantizers own;
  const Uses uses(draft.model.graph);
  for (const framework::NodeAttachment& one : draft.attachment.nodes)
    for (const std::string& name : one.trainable_quantizers) {
      const auto found =
          tune::own_class(job.settings.trainable_quantizers.get(), name, "overrides.trainable_quantizer");
      if (found.mark->quantization_target == trainable::QuantizationTarget::kWeights)
        own.of_weights[one.node] = name;
      else
        own.of_activations[layer_output(draft, uses, one.node)] = name;
    }
  return own;
}

/// SHA-256 of what training depends on beside the samples and the number of its steps; `labels`: SHA-256 of these.
std::string tuning_key(const Job& job, const Draft& draft, const std::string& labels) {
  auto config = job.settings.config.gradient_ptq_config;
  config->most_steps.reset();
  std::string text = draft.digest + "\n" + to_text(tersor::to_json(*config), false);
  if (config->label_weight > 0) text += "\n" + labels;
  const OwnQuantizers own = own_quantizers(job, draft);
  for (const auto& [node, name] : own.of_weights) text += "\n" + std::to_string(node.index) + " " + name;
  for (const auto& [value, name] : own.of_activations) text += "\nvalue " + std::to_string(value.index) + " " + name;
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
    if (const auto declared = run::shape_of_one_sample(job.model.graph, input)) {
      shapes.push_back(*declared);
      continue;
    }
    const std::string& name = job.model.graph.name_of(input);
    const calibrate::TensorStatistics* seen = statistics.find(name);
    if (seen == nullptr)
      throw Error(ErrorCode::kUnsupportedModel,
                  "The input \"" + name +
                      "\" is no float and leaves its shape open, and training needs to know it before it begins.",
                  "config.gradient_ptq_config", "Export the model with fixed shapes, or quantize without training.");
    if (seen->shape_varies)
      throw Error(ErrorCode::kUnsupportedModel, "The samples of the input \"" + name + "\" are of different shapes.",
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
  OwnQuantizers own = own_quantizers(job, draft);
  return std::make_unique<tune::Tuner>(tune::Problem{
      draft.model, plan, *config, tuning_key(job, draft, digest), std::move(digest), input_shapes_of(job, statistics),
      statistics.samples.size(), labels.size() == statistics.samples.size() ? labels : std::vector<int64_t>(),
      tune::Problem::kMemory, std::move(own.of_weights), std::move(own.of_activations),
      job.settings.trainable_quantizers.get()});
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

/// Error kInvalidConfig if pixels are asked for and the samples have no preprocessing that a file can take.
void take_pixels(const Settings& settings, Model& model) {
  const auto pixels = pixels_of(model.graph, settings);
  if (!pixels)
    throw Error(ErrorCode::kInvalidConfig,
                std::string("With io_types ") + std::string(enum_word(settings.config.io_types)) +
                    " the file preprocesses pictures by itself, and " +
                    (settings.preprocessing == "null" ? "these samples have no preprocessing: they are arrays."
                                                      : "the model's first input takes no pictures of float32."),
                "config.io_types",
                "Give the samples as pictures, with their preprocessing, or take UINT8: the integers of the first "
                "quantizer.");
  const std::string& name = model.graph.name_of(model.graph.inputs[0]);
  model.narrow[name] = DType::kUint8;
  model.pixels[name] = *pixels;
}

/// Says what the file is to have at its edges, where quantizers stand there.
void take_io_types(const Settings& settings, const onnx::LeftOut* left_out, Model& model) {
  const config::IoTypes types = settings.config.io_types;
  const Graph& graph = model.graph;
  std::set<ValueId> stays;  // nodes that are put back read it
  if (left_out != nullptr)
    for (const Node& node : left_out->nodes) stays.insert(node.inputs.begin(), node.inputs.end());
  const Uses uses(graph);
  const auto take = [&](const std::vector<ValueId>& edges, DType type) {
    if (type == DType::kFloat32) return;
    for (const ValueId edge : edges)
      if (stays.count(edge) == 0 && onnx::has_integer_form(graph, uses, edge)) model.narrow[graph.name_of(edge)] = type;
  };
  if (config::takes_pixels(types))
    take_pixels(settings, model);
  else
    take(graph.inputs, config::input_type(types));
  take(graph.outputs, config::output_type(types));
}

/// Refuses a file that grew, and says what takes its bytes.
void check_size(const OpenedModel& opened, const QuantizeResult& result) {
  if (result.bytes.size() <= opened.file_bytes) return;
  uint64_t in_float = 0, in_integers = 0, largest = 0;
  std::string name;
  for (const auto& [id, tensor] : result.model.graph.initializers()) {
    (bits_of(tensor.dtype()) > 16 ? in_float : in_integers) += tensor.byte_count();
    if (bits_of(tensor.dtype()) <= 16 || tensor.byte_count() <= largest) continue;
    largest = tensor.byte_count();
    name = result.model.graph.name_of(id);
  }
  throw growth_error("The quantized file would have " + kilobytes(result.bytes.size()) +
                     ", more than the float one's " + kilobytes(opened.file_bytes) + ": " + kilobytes(in_float) +
                     " are constants of 32 bits or more (the largest is \"" + name + "\"), " + kilobytes(in_integers) +
                     " are integers, and nodes and their names take the rest.");
}

}  // namespace

bool refuses_growth(const Job& job) {
  // In smaller files nodes and scales may weigh more than weights, whatever is done.
  constexpr uint64_t kSmallFile = 65536;
  // Who asks for float weights knows that the file does not shrink.
  const config::QuantizationConfig& config = job.settings.config;
  const bool asked_for = config.enable_weights_quantization == false || !job.settings.overrides.empty();
  return job.opened->file_bytes >= kSmallFile && !config.allow_larger_file && !asked_for;
}

Error growth_error(const std::string& what) {
  return Error(ErrorCode::kUnsupportedModel, what, "config.allow_larger_file",
               "Choose another platform or other settings, keep the float model, or set allow_larger_file to true "
               "(--allow-larger-file) to have the file all the same.");
}

QuantizeResult quantize(const Job& job, const calibrate::Statistics& statistics) {
  Draft decided = draft(job, statistics);
  config::QuantizationConfig config = job.settings.config;
  if (config.mixes_precisions() || sweep(job, decided) == nullptr) return quantize(job, statistics, std::move(decided));
  // What the statistics do not hold is left out.
  if (decided.lacks_rounding) config.effort = 0;
  if (config.measures_bias()) config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;
  config.weights_second_moment_correction = false;
  Job without = job;
  without.settings.config = std::move(config);
  return quantize(without, statistics, draft(without, statistics));
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
  take_io_types(job.settings, job.left_out.get(), result.model);
  if (job.settings.format == FileFormat::kTflite) {
    result.tflite = tflite_file(result.model, job.settings.platform.name.starts_with("tflite-micro"));
    result.bytes = std::exchange(result.tflite->bytes, {});
    take_integer_nodes(result.tflite->integer_nodes, result.plan.outcomes);
  } else {
    Model file = onnx::restore_edges(job.settings.format == FileFormat::kQoperator ? in_integer_operators(result.model)
                                                                                   : result.model);
    if (job.left_out) onnx::put_back(*job.left_out, file.graph);
    ptq::sink_branches(file.graph, job.settings.taken_branches);
    result.bytes = onnx::write(file);
  }
  if (refuses_growth(job)) check_size(*job.opened, result);
  return result;
}

}  // namespace tersor
