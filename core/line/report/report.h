// SPDX-License-Identifier: Apache-2.0
// The report: the result of a quantization, its costs, and how they were measured. docs/report.schema.json describes
// its JSON. It may contain times and texts from callers, so its bytes need not be equal for equal inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/fields.h"
#include "core/calibrate/choices.h"
#include "core/evaluate/evaluation.h"
#include "core/job/tflite_file.h"
#include "core/report/changed_settings.h"
#include "core/report/comparison.h"
#include "core/report/corrections.h"
#include "core/report/coverage.h"
#include "core/report/own_evaluation.h"
#include "core/report/padding.h"
#include "core/report/ranges.h"
#include "core/report/time_forecast.h"
#include "core/report/verdict.h"

namespace tersor::report {

struct FileFacts {
  std::string name;
  std::string sha256;
  int64_t size_bytes = 0;

  static constexpr auto fields() {
    return std::make_tuple(field("name", &FileFacts::name, "File name; may be empty."),
                           field("sha256", &FileFacts::sha256, "Of its bytes, 64 hexadecimal digits."),
                           field("size_bytes", &FileFacts::size_bytes, "Its size."));
  }
};

struct PlatformFacts {
  std::string name;
  int version = 1;

  static constexpr auto fields() {
    return std::make_tuple(field("name", &PlatformFacts::name, "Target platform."),
                           field("version", &PlatformFacts::version, "Version of its file."));
  }
};

/// The accuracy of both models.
struct Evaluations {
  std::optional<evaluate::EvaluationResult> in_float;
  std::optional<evaluate::EvaluationResult> quantized;

  static constexpr auto fields() {
    return std::make_tuple(
        field("float", &Evaluations::in_float, "The float model; null when it was not evaluated."),
        field("quantized", &Evaluations::quantized, "The quantized model; null when it was not evaluated."));
  }
};

struct SampleCounts {
  int64_t calibration = 0;
  int64_t evaluation = 0;
  std::optional<bool> held_aside;

  static constexpr auto fields() {
    return std::make_tuple(
        field("calibration", &SampleCounts::calibration, "Samples calibrated with."),
        field("evaluation", &SampleCounts::evaluation, "Samples evaluated or compared with."),
        field("held_aside", &SampleCounts::held_aside, "Calibration has seen none of those; null where nobody knows."));
  }
};

struct Report {
  int format_version = 1;
  std::string tool_version;
  FileFacts model;
  FileFacts output;
  PlatformFacts platform;
  std::string runtime = "x64";
  std::vector<ChangedSetting> settings;
  Coverage coverage;
  std::vector<RangeRow> ranges;
  std::vector<PaddingRow> padding;
  std::vector<Correction> corrections;
  std::optional<TimeForecast> time;
  std::optional<Board> board;
  std::optional<calibrate::Choices> trial;
  std::optional<calibrate::Tuning> training;
  std::optional<Verdict> verdict;
  std::optional<Comparison> comparison;
  Evaluations evaluation;
  std::optional<OwnEvaluation> metric;
  SampleCounts samples;
  std::vector<Diagnostic> diagnostics;

  static constexpr auto fields() {
    return std::make_tuple(
        field("format_version", &Report::format_version, "Version of this format."),
        field("tool_version", &Report::tool_version, "Version of Tersor that wrote it."),
        field("model", &Report::model, "The float model."), field("output", &Report::output, "The quantized model."),
        field("platform", &Report::platform, "What it was made for."),
        field("runtime", &Report::runtime,
              "Whose arithmetic the figures are in: x64, wasm, arm64, avx2 or tflite-micro."),
        field("settings", &Report::settings, "Fields of the configuration that say something else than their default."),
        field("coverage", &Report::coverage, "What runs as integers and what stays float, and why."),
        field("ranges", &Report::ranges, "The range of every quantized activation, in graph order."),
        field("padding", &Report::padding,
              "What padding to simd_size costs each layer, in graph order; empty where the platform has none."),
        field("corrections", &Report::corrections, "Steps of the recipe that changed something, and what they gained."),
        field("time", &Report::time,
              "Expected time in the runtime; null where the platform has no prices or shapes are open."),
        field("board", &Report::board, "What a .tflite file takes on a microcontroller; null of other files."),
        field("trial", &Report::trial,
              "What was tried on samples held aside, and what it gave; null where nothing was."),
        field("training", &Report::training, "How training went; null where nothing was trained."),
        field("verdict", &Report::verdict, "Whether the model can be used; null before anything was measured."),
        field("comparison", &Report::comparison, "Error by layer; null when it was not measured."),
        field("evaluation", &Report::evaluation, "Accuracy, where it was measured."),
        field("metric", &Report::metric,
              "What a function of the caller's own says of both models; null where none was given."),
        field("samples", &Report::samples, "How many samples were used for what."),
        field("diagnostics", &Report::diagnostics, "Remarks."));
  }
};

}  // namespace tersor::report
