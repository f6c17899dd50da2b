// SPDX-License-Identifier: Apache-2.0
// A float model, the settings, and what follows from both before any sample was seen.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/calibrate/collector.h"
#include "core/calibrate/statistics.h"
#include "core/config/quantization_config.h"
#include "core/config/recipe.h"
#include "core/decide/choose_arithmetic.h"
#include "core/decide/placement.h"
#include "core/evaluate/own_metric.h"
#include "core/framework/attach.h"
#include "core/framework/quantize_config.h"
#include "core/job/file_format.h"
#include "core/job/tflite_file.h"
#include "core/onnx/source.h"
#include "core/passes/pipeline.h"
#include "core/quant/range_memo.h"
#include "core/run/program.h"
#include "core/tpc/target_platform_capabilities.h"
#include "core/trainable/trainable_quantizers.h"

namespace tersor {

/// The version of this program, for example "0.1.0".
std::string_view tool_version();

/// A model file as read. The digest covers the file's bytes and its external weights.
struct OpenedModel {
  Model model;
  std::string digest;
  std::string file_sha256;  // of the file alone
  uint64_t file_bytes = 0;  // including external weights
};

OpenedModel open_model(Model model, std::span<const std::byte> file);
/// Reads and checks an ONNX file. Errors of onnx::read.
OpenedModel open_model(const onnx::Source& source, const onnx::ExternalData& external = {});

/// The settings that a user chooses.
struct Settings {
  tpc::TargetPlatformCapabilities platform;
  config::QuantizationConfig config;
  std::vector<config::Override> overrides = {};  // for single nodes
  /// JSON text of the fields of FrameworkInfo that replace the defaults; empty: none.
  std::string framework_info = {};
  /// Classes of QuantizeConfigs that overrides may name; null: the built-in classes.
  std::shared_ptr<const framework::QuantizeScope> quantize_scope = nullptr;
  /// Classes of trainable quantizers that overrides may name; null: those that come with Tersor.
  std::shared_ptr<const trainable::TrainableQuantizers> trainable_quantizers = nullptr;
  /// JSON text of the preprocessing of the samples; "null" if they are taken as they are.
  std::string preprocessing = "null";
  /// True if the statistics serve only this job and are neither kept nor reported. Then only what its settings read is
  /// gathered.
  bool own_statistics_only = false;
  /// Names of constants that stay in float although the platform would store them in integers.
  std::vector<std::string> float_constants = {};
  /// The bits that a search chose for each operator; empty: every operator has the platform's base configuration.
  calibrate::BitConfiguration bits = {};
  /// Of the quantized file; it changes no number in it, and no recipe says it.
  FileFormat format = FileFormat::kOnnx;
  /// Branches that all samples take (core/trial/taken_branches.h): they are quantized as the graph around them is.
  std::map<std::string, bool> taken_branches = {};
  /// What trials, the verdict and an aim of accuracy go by; null: SQNR and right answers. No recipe holds it: what it
  /// chose stands there as settings, as far as fields can say it.
  std::shared_ptr<const evaluate::OwnMetric> metric = nullptr;
};

struct BodyJob;  // core/job/body_job.h

namespace onnx {
struct LeftOut;  // core/onnx/left_out.h
}  // namespace onnx

/// A float model prepared for calibration and quantization. Immutable; threads may share it.
struct Job {
  std::shared_ptr<const OpenedModel> opened;
  Settings settings;
  Model model;  // prepared: converted to operator set 13 if it was older, constants folded
  std::vector<passes::PassResult> passes;
  framework::Attachment attachment;
  ptq::ArithmeticChoice arithmetic;  // what stays in float to save time
  /// The same for each word whose file is compared (config::QuantizationConfig::contestants()), before bits are chosen.
  std::map<config::Preference, ptq::ArithmeticChoice> arithmetic_by_word;
  ptq::Placement placement;
  std::vector<calibrate::Request> requests;  // the tensors to observe
  config::RecipePlatform platform;           // with the digest of its table
  calibrate::Provenance provenance;
  std::vector<Diagnostic> notes;  // remarks for the user on platform and settings
  /// Runs the float model and shows the observed tensors. Null if the model has operators that cannot be run and only
  /// weights are quantized.
  std::shared_ptr<const run::Program> program;
  /// The weights that bodies of If, Loop and Scan read and that are stored in integers. Null if there are none.
  std::shared_ptr<const BodyJob> bodies = nullptr;
  /// Nodes that cannot be run, and nodes that depend on them, which `opened` and `model` omit. Null if there are none.
  std::shared_ptr<const onnx::LeftOut> left_out = nullptr;
  /// The job as the user asked for it, if trials on held-out samples changed `settings`; else null.
  std::shared_ptr<const Job> asked = nullptr;
  std::shared_ptr<quant::RangeMemo> ranges = nullptr;  // shared by all drafts while several are made; else null
};

/// Runs the passes, attaches the platform to the graph and places the quantizers. Error kUnsupportedModel if the model
/// is already quantized, is float16, has nothing to quantize, or holds operators that cannot be run although samples
/// are needed, or operators that a .tflite file cannot have. Error kInvalidConfig for settings that the platform does
/// not allow or that are not implemented.
std::shared_ptr<const Job> prepare(std::shared_ptr<const OpenedModel> opened, Settings settings);

/// The same job with another preprocessing of the samples; nothing else depends on it.
std::shared_ptr<const Job> with_preprocessing(const Job& job, const std::string& preprocessing);

/// The job with the results of trials (core/trial/trial.h) in its settings. Returns the job itself if `choices` were
/// not made for these settings. Error kMismatch for a word of `prefer` that these settings do not compare.
std::shared_ptr<const Job> with_choices(const std::shared_ptr<const Job>& job, const calibrate::Choices& choices);

/// SHA-256 of all that the choices depend on besides the samples.
std::string choices_key(const Job& job);

/// Attaches the platform to a graph, as the settings or the choices of a job say. `former` is the graph before it was
/// prepared; errors use it to name what the prepared graph no longer has.
framework::Attachment attachment_of(const Graph& graph, const Settings& settings, const Graph* former = nullptr);
framework::Attachment attachment_of(const Graph& graph, const Job& job, const Graph* former = nullptr);

/// How the file preprocesses pixels for the first input, if it takes pixels (QuantizationConfig::io_types). Returns
/// nothing if the samples have no preprocessing or that input takes no such pictures.
std::optional<PixelScale> pixels_of(const Graph& graph, const Settings& settings);

/// The metadata key under which a file stores the SHA-256 of its recipe.
inline constexpr std::string_view kRecipeDigest = "tersor.recipe_sha256";

/// True if this program wrote the model's file.
bool is_written_here(const Model& model);

/// Error kUnsupportedModel if the model is already quantized or holds float16 weights.
void check_quantizable(const Model& model);

}  // namespace tersor
