// SPDX-License-Identifier: Apache-2.0
//   auto plan = report::CompareProgram::make(float_model, quantized_model, simulate::Profile::kX64);
//   report::Comparer comparer(plan);                 // one per thread
//   for (sample) comparer.add(inputs);
//   comparer.merge(other);                           // of the same plan
//   report::Comparison result = comparer.result();
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/evaluate/similarity.h"
#include "core/report/comparison.h"
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
/// Three programs: the float model with every paired tensor fetched; the quantized model in the runtime's arithmetic
/// with the same tensors fetched after dequantization (error accumulated so far); and the quantized model cut at every
/// quantized tensor, each piece fed with the float values (error of each layer alone).
class CompareProgram {
 public:
  /// Error kMismatch when inputs or outputs of the two differ in number or name.
  static std::shared_ptr<const CompareProgram> make(const Model& float_model, const Model& quantized,
                                                    simulate::Profile profile);

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
  std::vector<simulate::FloatIsland> float_islands_;
  std::vector<SaturationRow> saturations_;
  std::vector<FloatSumRow> float_sums_;
  std::vector<std::optional<float>> float_sum_steps_;
  std::shared_ptr<const run::Program> float_, accumulated_, isolated_;
};

class Comparer {
 public:
  explicit Comparer(std::shared_ptr<const CompareProgram> program);

  /// One sample (or batch), inputs in graph-input order.
  void add(std::span<const Tensor> inputs);
  void merge(const Comparer& other);
  /// What was gathered so far as text, for a comparer of the same plan in another worker.
  std::string state() const;
  void merge_state(std::string_view state);
  Comparison result() const;

 private:
  struct Sums {
    double signal = 0, noise = 0;
    void add(std::span<const float> reference, std::span<const float> other);
  };
  struct OutputSums {
    evaluate::Similarity all;
    OutputParts parts;
  };
  struct PairSums {
    Sums isolated, accumulated;
    int64_t values = 0, lost = 0;
    int64_t compared = 0;  // batches in which the tensor had the float model's shape
  };

  template <class Change>
  Tensor rescaled(size_t pair, const Tensor& tensor, Change&& change) const;
  Tensor as_quantized(size_t pair, const Tensor& tensor) const;
  Tensor as_float(size_t pair, const Tensor& tensor) const;
  bool shapes_depend_on_data(std::span<const Tensor> inputs) const;
  void add_outputs(std::span<const Tensor> inputs, std::span<const Tensor> reference, std::span<const Tensor> other);

  std::shared_ptr<const CompareProgram> program_;
  run::Runner float_, accumulated_;
  std::unique_ptr<run::Runner> isolated_;
  std::vector<PairSums> pairs_;
  std::vector<OutputSums> outputs_;
  std::vector<SaturationRow> saturations_;
  std::vector<FloatSumRow> float_sums_;
  evaluate::Agreement agreement_;
  bool classes_ = true;
  int64_t samples_ = 0;
};

}  // namespace tersor::report
