// SPDX-License-Identifier: Apache-2.0
// What the package's functions do, over the functions that the program calls. Structures cross as JSON texts, arrays
// and files as bytes. Errors are tersor::Error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/framework/quantize_config.h"
#include "core/job/tersor.h"
#include "core/native/calibrate_data.h"
#include "core/native/gather_fastest.h"
#include "core/native/gather_within.h"
#include "core/native/make_variants.h"
#include "core/native/train.h"
#include "core/onnx/source.h"
#include "core/report/check.h"
#include "core/samples/data_set.h"

namespace tersor::python {

struct OpenModel {
  std::string name;  // of the file
  onnx::Source source;
  std::shared_ptr<const OpenedModel> opened;
};

/// Reads and checks a model.
OpenModel open_model(std::string name, onnx::Source source, const onnx::ExternalData& external);
/// A .tflite file with the inputs and outputs of the model that it was made from; any other model as it is.
OpenModel as_made_from(const OpenModel& model, const OpenModel& other);
/// JSON of onnx::ModelInfo.
std::string inspect(const OpenModel& model);
/// The inputs of the model: JSON of [{name, shape}], the shape null where it is open, and so is each of its dimensions.
std::string inputs_of(const OpenModel& model);

/// Opens the samples of a model; `preprocessing`: JSON, a preset's name, or empty. Where nobody gave one and there are
/// class folders, the presets are tried. Error kInvalidSamples where a file cannot be a sample, or there is none.
std::shared_ptr<const samples::DataSet> open_data(const OpenModel& model,
                                                  std::shared_ptr<const samples::FileSource> source,
                                                  const std::string& preprocessing);

/// Labels of all samples (of all groups of `group` samples): from a file's bytes, or those of class folders without.
/// Empty where there are neither.
std::vector<int64_t> labels_of(const samples::DataSet& data, const std::optional<samples::Bytes>& file,
                               const std::string& name, int64_t group);

/// `settings` as read_settings() (core/job/json_settings.h) takes them.
std::vector<std::byte> calibrate(const OpenModel& model, const samples::DataSet& data, const std::string& settings,
                                 int64_t limit, Shard shard, const Workforce& workforce);

std::vector<std::byte> merge(const std::vector<samples::Bytes>& parts);

/// A model written anew, for a newer operator set where `opset` is above 0. `location`: the name of the file that large
/// weights go to; empty: all are in the model's own file.
struct ConvertedModel {
  std::vector<std::byte> bytes, weights;
};
ConvertedModel convert(const onnx::Source& source, const onnx::ExternalData& external, int64_t opset,
                       const std::string& location);

/// JSON of trade_off(): so many quantizations within budgets, those that calibrate being at most `limit` samples (0: as
/// by default where others evaluate).
std::string tradeoff(const OpenModel& model, const std::string& settings,
                     const std::shared_ptr<const samples::DataSet>& data, const std::vector<int64_t>& labels,
                     int64_t limit, int64_t points, const Workforce& workforce);

struct Quantization {
  std::vector<samples::Bytes> statistics;        // of calibrate(); empty: the samples are calibrated on
  std::shared_ptr<const samples::DataSet> data;  // null: all is in the statistics
  std::vector<int64_t> labels;                   // of all samples, or empty
  int64_t limit = 0;                             // calibrate on so many samples; 0: on all
  std::string runtime = "x64";                   // whose arithmetic the report is in
  bool classes = false;                          // the first output is scores of classes
  bool compare = true;                           // run the result beside the float model for the report
  Timer timer = {};                              // for the fastest file; none: what was asked for is taken
  std::optional<report::CheckLimits> limits;     // to judge by, on all samples that may
  std::shared_ptr<const evaluate::OwnMetric> metric = {};
  std::optional<Aim> aim = {};  // for the smallest file; none: what was asked for is taken
  TrainingRun training = {};    // its minutes, checkpoint and who keeps checkpoints
  /// Takes JSON of where a training stands after each round, and says whether it is to end with the best so far.
  std::function<bool(const std::string&)> watch = {};
  std::shared_ptr<const trainable::TrainableQuantizers> trainable_quantizers = nullptr;  // Settings::...
};

struct QuantizedModel {
  std::vector<std::byte> bytes;
  std::string recipe, report, check;  // JSON; the last of report::Check, empty without limits
  std::vector<std::byte> statistics;
};

QuantizedModel quantize(const OpenModel& model, const std::string& settings, const Quantization& options,
                        const Workforce& workforce);

/// Begins the variants of a model. `data` null: without samples. `calibrate`: at most so many samples, 0: half of them,
/// 128 at most. `names`: those that are wanted, by dtype; empty: all.
VariantMaker variants(const OpenModel& model, std::shared_ptr<const samples::DataSet> data, int64_t calibrate,
                      std::vector<std::string> names);

struct EvaluationOptions {
  std::string metric = "top1", runtime = "x64";
  int64_t group = 1;
};

/// JSON of evaluate::EvaluationResult, with `output_sqnr_db` and `outputs` beside a reference (null: none).
std::string evaluate(const OpenModel& model, const OpenModel* reference,
                     const std::shared_ptr<const samples::DataSet>& data, const std::vector<int64_t>& labels,
                     const EvaluationOptions& options, const Workforce& workforce);

/// JSON of report::Comparison, with `runtime`, `stays_float` and `diagnostics`. `output_roles`: JSON of the field.
std::string compare(const OpenModel& in_float, const OpenModel& quantized,
                    const std::shared_ptr<const samples::DataSet>& data, const std::string& runtime, bool classes,
                    const std::string& output_roles, const Workforce& workforce);

/// What a model gives for each sample, by output.
struct RunOutputs {
  std::vector<std::string> names;
  std::vector<std::vector<Tensor>> samples;
};
RunOutputs run(const OpenModel& model, const std::shared_ptr<const samples::DataSet>& data, const std::string& runtime,
               const Workforce& workforce);

/// JSON list of the built-in platforms.
std::string platforms();
/// How a platform (a name, or its JSON) quantizes each operator set under these fields of the configuration: JSON.
std::string platform(const std::string& platform, const std::string& config);

/// The layers that number `which` of the settings' overrides chooses in the prepared model, for QuantizeConfigs whose
/// methods are Python.
std::vector<framework::Layer> layers(const OpenModel& model, const std::string& settings, size_t which);

/// A value of a class of the requirement documents, read and checked: JSON with every member written out; of
/// LayerFilterParams a list of the ONNX operators that it stands for.
std::string checked(const std::string& class_name, const std::string& value);

}  // namespace tersor::python
