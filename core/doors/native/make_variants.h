// SPDX-License-Identifier: Apache-2.0
// The variants of a model (core/variants/variants.h) where threads and a data set are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/native/workers.h"
#include "core/samples/data_set.h"
#include "core/variants/variants.h"

namespace tersor {

struct VariantRequest {
  std::shared_ptr<const OpenedModel> opened;
  std::shared_ptr<const samples::DataSet> data;      // null: only what needs no samples, and nothing is judged
  int64_t calibrate = 0;                             // at most so many samples, as in variant_samples()
  std::vector<std::string> names = variant_names();  // of those that are wanted
};

struct MadeVariant {
  Variant row;
  std::vector<std::byte> bytes;  // none where the row has `refused`
};

/// Makes one variant after the other.
class VariantMaker {
 public:
  /// Error kInvalidArgument for a name that is none.
  explicit VariantMaker(VariantRequest request);

  /// The next of those that are wanted, in the order of variant_kinds(); nothing after the last. One that cannot be
  /// made has `refused`; errors of the float model and of the samples are thrown.
  std::optional<MadeVariant> next(const Workforce& workforce);

 private:
  MadeVariant make(const VariantKind& kind, const Workforce& workforce);
  const QuantizedFile& quantized(const VariantKind& kind, const Workforce& workforce);
  const Largest& largest(const Workforce& workforce);

  VariantRequest request_;
  std::vector<VariantKind> left_;  // those that are still to be made, the last first
  VariantSamples samples_;
  std::optional<Variant> leader_;           // the best so far
  std::optional<Largest> largest_;          // once a kind asked for it
  std::optional<QuantizedFile> quantized_;  // the last one: the next kind may begin as the same
};

}  // namespace tersor
