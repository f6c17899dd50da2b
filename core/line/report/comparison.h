// SPDX-License-Identifier: Apache-2.0
// The effect of quantization layer by layer: tensors of the float model compared with those of the quantized model, on
// samples.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/fields.h"
#include "core/evaluate/evaluation.h"
#include "core/evaluate/interval.h"
#include "core/report/output_kind.h"

namespace tersor::report {

/// A histogram of bins of equal width.
struct HistogramView {
  double lower = 0;
  double bin_width = 0;
  std::vector<uint64_t> counts;

  static constexpr auto fields() {
    return std::make_tuple(field("lower", &HistogramView::lower, "Left edge of the first bin."),
                           field("bin_width", &HistogramView::bin_width, "Width of every bin."),
                           field("counts", &HistogramView::counts, "Values in each bin."));
  }
};

/// A quantized tensor and the layer that makes it. Decibels are absent if the tensor is exact.
struct LayerRow {
  std::string name;
  std::string op;
  std::string detail;
  std::string output;
  std::optional<double> isolated_sqnr_db;
  std::optional<double> accumulated_sqnr_db;
  double error_share = 0;
  std::optional<std::vector<double>> range;
  std::optional<double> scale;
  std::optional<int64_t> zero_point;
  std::string type;
  int64_t values = 0;
  int64_t lost = 0;
  std::optional<HistogramView> histogram;
  std::optional<std::vector<double>> weight_max;

  static constexpr auto fields() {
    return std::make_tuple(
        field("name", &LayerRow::name, "Name of the node, or of its output."),
        field("op", &LayerRow::op, "Operator type."),
        field("detail", &LayerRow::detail, "Channels and kernel in a few words."),
        field("output", &LayerRow::output, "Name of the tensor in the float model."),
        field("isolated_sqnr_db", &LayerRow::isolated_sqnr_db,
              "SQNR in dB with this layer quantized alone; null when exact."),
        field("accumulated_sqnr_db", &LayerRow::accumulated_sqnr_db,
              "SQNR in dB here with everything before it quantized too; null when exact."),
        field("error_share", &LayerRow::error_share,
              "Share of the error that all layers add when each is quantized alone; shares add up to 1."),
        field("range", &LayerRow::range, "Lowest and highest value kept; null where the output stays float."),
        field("scale", &LayerRow::scale, "Step between two codes."),
        field("zero_point", &LayerRow::zero_point, "Code of the value 0."),
        field("type", &LayerRow::type, "Integer type, or float."),
        field("values", &LayerRow::values, "Values that the comparison saw."),
        field("lost", &LayerRow::lost, "Values outside the range."),
        field("histogram", &LayerRow::histogram, "What calibration saw; null where nothing was collected."),
        field("weight_max", &LayerRow::weight_max, "Largest absolute weight by output channel; null without weights."));
  }
};

/// A part of an output whose values differ in size from the rest.
struct OutputPart {
  int64_t axis = 1;
  std::string indices;
  double largest = 0;
  std::optional<double> sqnr_db;
  OutputKind kind = OutputKind::kValues;

  static constexpr auto fields() {
    return std::make_tuple(field("axis", &OutputPart::axis, "Axis of the output along which the parts lie."),
                           field("indices", &OutputPart::indices, "Indices on that axis, such as \"0 to 3\"."),
                           field("largest", &OutputPart::largest, "Largest absolute value of the float model here."),
                           field("sqnr_db", &OutputPart::sqnr_db, "SQNR in dB of this part; null when exact."),
                           field("kind", &OutputPart::kind, "What it is: boxes or scores of detections, else values."));
  }
};

/// A sample with an output far outside the range of all other samples.
struct UnusualSample {
  int64_t sample = 0;
  std::string output;
  double reaches = 0;
  double others = 0;

  static constexpr auto fields() {
    return std::make_tuple(
        field("sample", &UnusualSample::sample, "Its number in the data set."),
        field("output", &UnusualSample::output, "Name of the model output."),
        field("reaches", &UnusualSample::reaches, "The float model's value that is farthest from 0."),
        field("others", &UnusualSample::others, "How far from 0 the others reach, those named here aside."));
  }
};

/// The error of a model output over samples.
struct OutputComparison {
  std::string name;
  std::optional<double> sqnr_db;
  std::optional<double> mse = {};
  std::optional<double> cosine_similarity = {};
  std::optional<double> max_error = {};
  std::vector<OutputPart> parts = {};
  OutputKind kind = OutputKind::kValues;
  std::optional<double> median_sqnr_db = {};
  std::optional<double> worst_sqnr_db = {};
  std::optional<int64_t> worst_sample = {};
  std::optional<evaluate::DecibelRange> sample_range = {};
  std::optional<double> median_cosine = {};
  std::optional<double> error_to_spread = {};
  std::optional<evaluate::Agreement> kept = {};

  /// False if the output never had the float model's shape.
  bool compared() const { return sqnr_db || mse; }

  static constexpr auto fields() {
    return std::make_tuple(
        field("name", &OutputComparison::name, "Name of the model output."),
        field("sqnr_db", &OutputComparison::sqnr_db, "SQNR in dB over all samples; null when exact."),
        field(
            "mse", &OutputComparison::mse,
            "Mean square error over all samples; null where a value is not finite, or the shape was never that of the "
            "float model."),
        field("cosine_similarity", &OutputComparison::cosine_similarity,
              "Cosine similarity over all samples, -1 to 1; null where a value is not finite."),
        field("max_error", &OutputComparison::max_error,
              "Largest absolute difference of an element; null where a value is not finite."),
        field("parts", &OutputComparison::parts,
              "Boxes and scores of detections, or parts whose values are of unlike size, the larger first; empty where "
              "there are none."),
        field("kind", &OutputComparison::kind,
              "What it is, as far as the graph tells or output_roles say: classes, embedding, map, scores, boxes, "
              "detections or values."),
        field("median_sqnr_db", &OutputComparison::median_sqnr_db, "SQNR in dB of the median sample; null when exact."),
        field("worst_sqnr_db", &OutputComparison::worst_sqnr_db,
              "SQNR in dB of the sample where it is lowest; null when all are exact."),
        field("worst_sample", &OutputComparison::worst_sample, "The number of that sample."),
        field("sample_range", &OutputComparison::sample_range,
              "Between which the SQNR of nine further samples of ten is expected to lie; null of fewer than 4 samples, "
              "and when exact."),
        field("median_cosine", &OutputComparison::median_cosine,
              "Cosine similarity of the median sample, -1 to 1; null where a value is not finite."),
        field("error_to_spread", &OutputComparison::error_to_spread,
              "Root mean square error of the median sample, in parts of the spread of the output's values; null where "
              "they are all alike or not finite."),
        field("kept", &OutputComparison::kept,
              "What the output says and the float model's too: of classes the answers, of a map the places of another "
              "class than its commonest (of a mask those of 0.5), of scores those of 0.25 and more, of boxes and "
              "detections those that either model detects with a score of 0.25, at an IoU of 0.5, of an embedding the "
              "samples with the same nearest neighbour; null of other kinds."));
  }
};

/// A layer whose sums can saturate on x64 CPUs without VNNI.
struct SaturationRow {
  std::string name;
  std::string op;
  int64_t sums = 0;
  int64_t saturated = 0;

  static constexpr auto fields() {
    return std::make_tuple(
        field("name", &SaturationRow::name, "Name of the node, or of its output."),
        field("op", &SaturationRow::op, "Operator type."),
        field("sums", &SaturationRow::sums, "Sums of products over all samples: one for each value of its output."),
        field("saturated", &SaturationRow::saturated,
              "Those in which a pair of products saturates at 16 bits; for the runtime x64, would without VNNI."));
  }
};

/// What the same file gives on x64 CPUs without VNNI, of the same samples.
struct WithoutVnni {
  std::optional<double> output_sqnr_db;
  std::optional<evaluate::Agreement> agreement;

  static constexpr auto fields() {
    return std::make_tuple(field("output_sqnr_db", &WithoutVnni::output_sqnr_db,
                                 "SQNR in dB of the output where it is lowest; null when all are exact."),
                           field("agreement", &WithoutVnni::agreement,
                                 "Same answers as float; null where the first output is none of classes."));
  }
};

/// A float operator whose order of summation is up to the runtime, so that its last bits may differ from ours.
struct FloatSumRow {
  std::string name;
  std::string op;
  int64_t values = 0;
  int64_t undecided = 0;
  double largest_difference_steps = 0;

  static constexpr auto fields() {
    return std::make_tuple(
        field("name", &FloatSumRow::name, "Name of the node, or of its output."),
        field("op", &FloatSumRow::op, "Operator type."),
        field("values", &FloatSumRow::values, "Values of its output over all samples."),
        field("undecided", &FloatSumRow::undecided,
              "Those within float error of the middle between two codes: the runtime may give the other one."),
        field("largest_difference_steps", &FloatSumRow::largest_difference_steps,
              "Largest difference from the runtime to expect, in steps of the grid that the output is quantized to, or "
              "in 1/256 of its largest value where it stays float."));
  }
};

/// The result of comparing both models on samples.
struct Comparison {
  int64_t samples = 0;
  int64_t distinct = 0;
  int64_t layer_samples = 0;             // of these samples
  std::optional<double> output_sqnr_db;  // of the output with the lowest SQNR; absent if all are exact
  std::optional<double> median_sqnr_db;  // of the median sample, of the output where it is lowest
  std::vector<OutputComparison> outputs;
  std::vector<UnusualSample> unusual_samples;
  std::optional<evaluate::Agreement> agreement;  // absent if the first output is not classes
  std::vector<LayerRow> layers;                  // in graph order
  std::vector<SaturationRow> saturation;         // in graph order; for the runtimes x64 and avx2
  std::vector<FloatSumRow> float_sums;           // in graph order
  std::optional<WithoutVnni> without_vnni;       // for the runtime x64, where saturation_remark() says something

  static constexpr auto fields() {
    return std::make_tuple(
        field("samples", &Comparison::samples, "Samples compared."),
        field("distinct", &Comparison::distinct, "Those of them that are no copy of one before."),
        field("layer_samples", &Comparison::layer_samples,
              "Those whose layers were looked at, spread evenly: the layers, their saturation and float sums and the "
              "parts of outputs are of these alone."),
        field("output_sqnr_db", &Comparison::output_sqnr_db,
              "SQNR in dB of the output where it is lowest; null when all are exact."),
        field("median_sqnr_db", &Comparison::median_sqnr_db,
              "The same of the median sample: no single sample makes it."),
        field("outputs", &Comparison::outputs, "Each output by itself."),
        field("unusual_samples", &Comparison::unusual_samples,
              "Samples of which an output lies far outside of all others'."),
        field("agreement", &Comparison::agreement,
              "Same answers as float; null where the first output is none of classes."),
        field("layers", &Comparison::layers, "Every quantized tensor, in graph order."),
        field("saturation", &Comparison::saturation,
              "Every layer that can saturate without VNNI, in graph order; empty for the runtimes wasm and "
              "arm64."),
        field("float_sums", &Comparison::float_sums,
              "Every float operator whose order of sums is the runtime's own, in graph order."),
        field("without_vnni", &Comparison::without_vnni,
              "The same samples in the arithmetic of avx2, where sums saturate; null where hardly any does, and where "
              "it was not computed."));
  }
};

}  // namespace tersor::report
