// SPDX-License-Identifier: Apache-2.0
// A float model, what a person chose for it, and what follows from both before any sample is seen.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/calibrate/collector.h"
#include "core/calibrate/statistics.h"
#include "core/config/quantization_config.h"
#include "core/config/recipe.h"
#include "core/framework/attach.h"
#include "core/framework/quantize_config.h"
#include "core/onnx/source.h"
#include "core/passes/pipeline.h"
#include "core/decide/choose_arithmetic.h"
#include "core/decide/placement.h"
#include "core/quant/range_memo.h"
#include "core/run/program.h"
#include "core/tpc/target_platform_capabilities.h"

namespace tersor {

/// The version of this program, as in "0.1.0".
std::string_view tool_version();

/// A model file as read, with the digest of its bytes (and of the weights it keeps in files of their own).
struct OpenedModel {
  Model model;
  std::string digest;
  std::string file_sha256;  // of the file alone
  uint64_t file_bytes = 0;  // with those weights
};

OpenedModel open_model(Model model, std::span<const std::byte> file);
/// Reads and checks an ONNX file. Errors of onnx::read.
OpenedModel open_model(const onnx::Source& source, const onnx::ExternalData& external = {});

/// What a person chose.
struct Settings {
  tpc::TargetPlatformCapabilities platform;
  config::QuantizationConfig config;
  std::vector<config::Override> overrides = {};  // for single nodes
  /// JSON text of the fields of FrameworkInfo that replace the defaults; empty: none.
  std::string framework_info = {};
  /// Classes of QuantizeConfigs that overrides may name; null: the built-in ones.
  std::shared_ptr<const framework::QuantizeScope> quantize_scope = nullptr;
  /// JSON text of the preprocessing that the samples go through; "null" when they are taken as they are.
  std::string preprocessing = "null";
  /// The statistics are for this job alone, neither kept nor reported: what its settings do not read is not gathered.
  bool own_statistics_only = false;
  /// Names of constants that stay in float where the platform would store them in integers.
  std::vector<std::string> float_constants = {};
  /// What a search chose for each operator; empty: every operator has the platform's base configuration.
  calibrate::BitConfiguration bits = {};
};

struct BodyJob;  // core/job/body_job.h

namespace onnx {
struct LeftOut;  // core/onnx/left_out.h
}  // namespace onnx

/// A float model made ready for calibration and quantization. Immutable, may be shared between threads.
struct Job {
  std::shared_ptr<const OpenedModel> opened;
  Settings settings;
  Model model;  // prepared: raised to operator set 13, folded
  std::vector<passes::PassResult> passes;
  framework::Attachment attachment;
  ptq::ArithmeticChoice arithmetic;  // what stays in float because of time
  ptq::Placement placement;
  std::vector<calibrate::Request> requests;  // the tensors to watch
  config::RecipePlatform platform;           // with the digest of its table
  calibrate::Provenance provenance;
  std::vector<Diagnostic> notes;  // remarks for a person, of platform and settings
  /// Runs the float model and shows what is watched; null where it holds operators that cannot be run, and weights
  /// alone are quantized.
  std::shared_ptr<const run::Program> program;
  /// The weights that bodies of If, Loop and Scan read, as kernels of a model of their own; null where there are none,
  /// and where activations are quantized.
  std::shared_ptr<const BodyJob> bodies = nullptr;
  /// What cannot be run and follows from it, which `opened` and `model` are without; null where there is no such.
  std::shared_ptr<const onnx::LeftOut> left_out = nullptr;
  /// What a person asked for, where `settings` are what trying on samples held aside has made of that; else null.
  std::shared_ptr<const Job> asked = nullptr;
  std::shared_ptr<quant::RangeMemo> ranges = nullptr;  // of all drafts, while several are made; else null
};

/// Runs the passes, lays the platform on the graph and decides where quantizers stand. Error kUnsupportedModel when the
/// model is quantized already, is float16, holds operators that cannot be run where samples have to be, or has nothing
/// to quantize; kInvalidConfig for settings that the platform does not allow or that do not act yet.
std::shared_ptr<const Job> prepare(std::shared_ptr<const OpenedModel> opened, Settings settings);

/// The same job for samples that go through another preprocessing, which nothing else of it depends on.
std::shared_ptr<const Job> with_preprocessing(const Job& job, const std::string& preprocessing);

/// The job with what was found by trying (core/trial/trial.h) in its settings; the job itself where the statistics hold
/// no choices that were made for these settings.
std::shared_ptr<const Job> with_choices(const std::shared_ptr<const Job>& job, const calibrate::Choices& choices);

/// SHA-256 of all that choices depend on beside the samples.
std::string choices_key(const Job& job);

/// The platform laid onto a graph as settings have it, or a job with what it has chosen. `former`: the graph before it
/// was prepared, for errors that name what it has not.
framework::Attachment attachment_of(const Graph& graph, const Settings& settings, const Graph* former = nullptr);
framework::Attachment attachment_of(const Graph& graph, const Job& job, const Graph* former = nullptr);

/// The key of the recipe's SHA-256 in a file's metadata.
inline constexpr std::string_view kRecipeDigest = "tersor.recipe_sha256";

/// The model is a file that this program wrote.
bool is_written_here(const Model& model);

/// Error kUnsupportedModel when the model is quantized already or holds float16 weights.
void check_quantizable(const Model& model);

}  // namespace tersor
