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
#include "core/report/kept_answers.h"
#include "core/report/kept_neighbours.h"
#include "core/report/output_figures.h"
#include "core/report/output_parts.h"
#include "core/run/program.h"
#include "core/simulate/fuse.h"

namespace tersor::report {

/// A tensor that exists in both models.
struct TensorPair {
  LayerRow row;  // the members that are known without samples
  double low = 0, high = 0;
  /// The divisors by which the quantized model's tensor differs from the float tensor, by channel (axis 1); empty:
  /// none.
  std::vector<double> scales = {};
  double factor = 1;  // factor by which the float tensor is multiplied before that
};

/// How much of a sample is compared.
enum class Depth : uint8_t {
  kOutputs,
  kLayers,  // also each layer, saturating sums and parts of outputs: takes several times as long
};

/// Both models prepared for running side by side. Immutable; threads may share it.
///
/// It has four programs:
///   - the float model, whose paired tensors can be observed;
///   - the quantized model in the runtime's arithmetic;
///   - the same with paired tensors observed after dequantization (accumulated error) and saturating sums counted;
///   - the quantized model cut at every quantized tensor, each piece fed with float values (error of each layer alone).
class CompareProgram {
 public:
  /// What outputs hold is what `roles` say; with `first_is_classes` the first output is taken as classes; all others
  /// are read from the graph (output_kind.h). Of `most` kOutputs there are two programs alone, and no sample is added
  /// more deeply. A .tflite file takes the float model's samples: its inputs and outputs are matched with those of the
  /// float model (core/tflite/integer_model.h). Error kMismatch if the models differ in number or names of inputs or
  /// outputs; kInvalidConfig if a role is of no output.
  static std::shared_ptr<const CompareProgram> make(const Model& float_model, const Model& quantized,
                                                    simulate::Profile profile, bool first_is_classes = false,
                                                    const config::OutputRoles& roles = {}, Depth most = Depth::kLayers);

  /// Whose arithmetic it is: the profile, or that of a .tflite file.
  simulate::Profile runtime() const { return runtime_; }
  const std::vector<TensorPair>& pairs() const { return pairs_; }
  const std::vector<std::string>& outputs() const { return outputs_; }
  const std::vector<simulate::FloatIsland>& float_islands() const { return float_islands_; }
  /// Float operators that are not exact to the bit; their counts are 0.
  const std::vector<FloatSumRow>& float_sums() const { return float_sums_; }
  /// Layers that can saturate; their counts are 0.
  const std::vector<SaturationRow>& saturations() const { return saturations_; }

 private:
  friend class Comparer;
  CompareProgram() = default;
  simulate::Profile runtime_ = simulate::Profile::kX64;
  std::vector<TensorPair> pairs_;
  std::vector<std::string> outputs_;
  std::vector<OutputTrait> traits_;  // of outputs_
  std::vector<std::optional<int>> class_axes_;
  std::optional<size_t> mask_input_;  // of tokens
  std::vector<simulate::FloatIsland> float_islands_;
  std::vector<SaturationRow> saturations_;
  std::vector<FloatSumRow> float_sums_;
  std::vector<std::optional<float>> float_sum_steps_;
  std::vector<ValueId> in_float_, in_accumulated_;  // observed values: of pairs_; of pairs_, then of float_sums_
  std::vector<ValueId> in_isolated_;
  std::shared_ptr<const run::Program> float_, outputs_only_, accumulated_, isolated_;
};

/// The samples whose layers are compared: at most 8, evenly spread.
std::vector<int64_t> layer_samples(std::span<const int64_t> samples);
/// The first samples, if samples arrive in a stream of unknown length.
std::vector<int64_t> first_layer_samples();
Depth depth_of(std::span<const int64_t> layered, int64_t sample);

/// Compares the models on samples. It keeps a record per sample and sums them in order of the samples, so any number of
/// workers gives the same digits.
class Comparer {
 public:
  explicit Comparer(std::shared_ptr<const CompareProgram> program);

  /// Compares on a sample or batch; each number occurs once. `inputs` are in graph-input order. A sample that is
  /// repeated along the first axis has `repeated` copies, and only the first rows of the outputs count.
  void add(int64_t sample, std::span<const Tensor> inputs, Depth depth = Depth::kLayers, int64_t repeated = 1);
  void merge(Comparer&& other);
  /// Serializes what was gathered, for a comparer of the same program in another worker.
  ByteBuffer save() const;
  void merge_saved(std::span<const std::byte> bytes);
  Comparison result() const;

 private:
  struct Sums {
    double signal = 0, noise = 0;
    static constexpr auto fields() { return members(&Sums::signal, &Sums::noise); }
    void add(std::span<const float> reference, std::span<const float> other);
  };
  struct PairSums {
    Sums isolated, accumulated;
    int64_t values = 0, lost = 0;
    int64_t compared = 0;  // batches in which the tensor had the float model's shape
    static constexpr auto fields() {
      using P = PairSums;
      return members(&P::isolated, &P::accumulated, &P::values, &P::lost, &P::compared);
    }
  };
  /// The results for the layers of a sample, in the order of the program's lists.
  struct Layers {
    std::vector<PairSums> pairs;
    std::vector<OutputParts> parts;  // by output
    std::vector<SaturationRow> saturations;
    std::vector<FloatSumRow> float_sums;
    static constexpr auto fields() {
      return members(&Layers::pairs, &Layers::parts, &Layers::saturations, &Layers::float_sums);
    }
  };
  struct Record {
    int64_t sample = 0;
    int64_t rows = 1;      // samples in the batch
    uint64_t content = 0;  // a hash of the inputs' bytes
    std::vector<OutputOfSample> outputs;
    std::vector<std::optional<Kept>> kept;               // by output
    std::vector<std::vector<EmbeddingPair>> embeddings;  // by output, then by row; empty of other kinds
    std::optional<Layers> layers;
    static constexpr auto fields() {
      using R = Record;
      return members(&R::sample, &R::rows, &R::content, &R::outputs, &R::kept, &R::embeddings, &R::layers);
    }
  };

  template <class Change>
  Tensor rescaled(size_t pair, const Tensor& tensor, Change&& change) const;
  Tensor as_quantized(size_t pair, const Tensor& tensor) const;
  Tensor as_float(size_t pair, const Tensor& tensor) const;
  bool shapes_depend_on_data(std::span<const Tensor> inputs) const;
  void add_outputs(std::span<const Tensor> inputs, std::span<const Tensor> reference, std::span<const Tensor> other,
                   int64_t repeated, Record& record) const;
  void add_layers(std::span<const Tensor> inputs, int64_t repeated, Record& record);
  Layers no_layers() const;
  std::vector<const Record*> in_order() const;
  Layers sum_of_layers(std::span<const Record* const> records) const;
  std::optional<evaluate::Agreement> sum_of_kept(std::span<const Record* const> records, size_t output,
                                                 OutputKind& kind) const;
  std::vector<LayerRow> layer_rows(const std::vector<PairSums>& sums) const;

  std::shared_ptr<const CompareProgram> program_;
  run::Runner float_, outputs_only_;
  std::vector<Record> records_;
};

}  // namespace tersor::report
