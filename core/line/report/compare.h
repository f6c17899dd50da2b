// SPDX-License-Identifier: Apache-2.0
//   auto plan = report::CompareProgram::make(float_model, quantized_model, simulate::Profile::kX64);
//   const auto layered = report::layer_samples(samples);
//   report::Comparer comparer(plan);                 // one per thread
//   for (sample) comparer.add(sample, inputs, report::depth_of(layered, sample));
//   comparer.merge(other);                           // of the same plan
//   report::Comparison result = comparer.result();
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/byte_buffer.h"
#include "core/base/byte_stream.h"

#include "core/evaluate/similarity.h"
#include "core/report/comparison.h"
#include "core/report/output_figures.h"
#include "core/report/output_parts.h"
#include "core/run/program.h"
#include "core/simulate/fuse.h"

namespace tersor::report {

/// A tensor that exists in both models.
struct TensorPair {
  LayerRow row;  // what is known without samples
  double low = 0, high = 0;
  /// By channel (axis 1): the quantized model's tensor is the float one's divided by these; empty: they are alike.
  std::vector<double> scales = {};
  double factor = 1;  // and, before that, multiplied by this
};

/// The two models made ready to be run beside each other. Immutable; may be shared between threads.
///
/// Four programs: the float model, whose paired tensors can be watched; the quantized model in the runtime's
/// arithmetic; the same with the paired tensors watched after dequantization (error accumulated so far) and saturating
/// sums counted; and the quantized model cut at every quantized tensor, each piece fed with the float values (error of
/// each layer alone).
class CompareProgram {
 public:
  /// `first_is_classes`: somebody says so of the first output; else the graph tells (output_kind.h). Error kMismatch
  /// when inputs or outputs of the two differ in number or name.
  static std::shared_ptr<const CompareProgram> make(const Model& float_model, const Model& quantized,
                                                    simulate::Profile profile, bool first_is_classes = false);

  const std::vector<TensorPair>& pairs() const { return pairs_; }
  const std::vector<std::string>& outputs() const { return outputs_; }
  const std::vector<simulate::FloatIsland>& float_islands() const { return float_islands_; }
  /// Float operators that are not exact to the bit, their counts 0.
  const std::vector<FloatSumRow>& float_sums() const { return float_sums_; }
  /// Layers that can saturate, their counts 0.
  const std::vector<SaturationRow>& saturations() const { return saturations_; }

 private:
  friend class Comparer;
  CompareProgram() = default;
  std::vector<TensorPair> pairs_;
  std::vector<std::string> outputs_;
  std::vector<OutputKind> kinds_;  // of those
  std::vector<std::optional<int>> class_axes_;
  std::vector<simulate::FloatIsland> float_islands_;
  std::vector<SaturationRow> saturations_;
  std::vector<FloatSumRow> float_sums_;
  std::vector<std::optional<float>> float_sum_steps_;
  std::vector<ValueId> in_float_, in_accumulated_;  // what is watched: pairs; pairs, then float sums
  std::vector<ValueId> in_isolated_;
  std::shared_ptr<const run::Program> float_, outputs_only_, accumulated_, isolated_;
};

/// What a comparison looks at in a sample.
enum class Depth : uint8_t {
  kOutputs,
  kLayers,  // and at each layer, at sums that saturate and at parts of the outputs: takes several times as long
};

/// Of the samples that are compared those whose layers are looked at: at most 8, spread evenly.
std::vector<int64_t> layer_samples(std::span<const int64_t> samples);
/// The first ones, where samples stream in and nobody knows how many there are.
std::vector<int64_t> first_layer_samples();
Depth depth_of(std::span<const int64_t> layered, int64_t sample);

/// Keeps one record for each sample and adds up in their order, so that any number of workers gives the same digits.
class Comparer {
 public:
  explicit Comparer(std::shared_ptr<const CompareProgram> program);

  /// One sample (or batch), which comes once under its number; inputs in graph-input order. `repeated`: how many times
  /// it stands along the first axis; the outputs' first rows count.
  void add(int64_t sample, std::span<const Tensor> inputs, Depth depth = Depth::kLayers, int64_t repeated = 1);
  void merge(Comparer&& other);
  /// What was gathered so far as bytes, for a comparer of the same plan in another worker.
  ByteBuffer save() const;
  void merge_saved(std::span<const std::byte> bytes);
  Comparison result() const;

 private:
  struct Sums {
    double signal = 0, noise = 0;
    void add(std::span<const float> reference, std::span<const float> other);
  };
  struct PairSums {
    Sums isolated, accumulated;
    int64_t values = 0, lost = 0;
    int64_t compared = 0;  // batches in which the tensor had the float model's shape
  };
  /// What the layers of a sample gave; in the order of the program's lists.
  struct Layers {
    std::vector<PairSums> pairs;
    std::vector<OutputParts> parts;  // by output
    std::vector<SaturationRow> saturations;
    std::vector<FloatSumRow> float_sums;
  };
  struct Record {
    int64_t sample = 0;
    int64_t rows = 1;  // samples in the batch
    std::vector<OutputOfSample> outputs;
    evaluate::Agreement agreement;
    bool has_classes = false;
    std::vector<std::optional<evaluate::Agreement>> kept;  // by output
    std::optional<Layers> layers;
  };

  template <class Change>
  Tensor rescaled(size_t pair, const Tensor& tensor, Change&& change) const;
  Tensor as_quantized(size_t pair, const Tensor& tensor) const;
  Tensor as_float(size_t pair, const Tensor& tensor) const;
  bool shapes_depend_on_data(std::span<const Tensor> inputs) const;
  void add_outputs(std::span<const Tensor> inputs, std::span<const Tensor> reference, std::span<const Tensor> other,
                   int64_t repeated, Record& record) const;
  void add_answers(std::span<const Tensor> inputs, const Tensor& reference, const Tensor& other, Record& record) const;
  void add_layers(std::span<const Tensor> inputs, int64_t repeated, Record& record);
  Layers no_layers() const;
  static void save(const Record& record, ByteWriter& writer);
  Record load(ByteReader& reader) const;
  std::vector<const Record*> in_order() const;
  Layers sum_of_layers(std::span<const Record* const> records) const;
  std::vector<LayerRow> layer_rows(const std::vector<PairSums>& sums) const;

  std::shared_ptr<const CompareProgram> program_;
  run::Runner float_, outputs_only_;
  std::vector<Record> records_;
};

}  // namespace tersor::report
