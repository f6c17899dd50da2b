// SPDX-License-Identifier: Apache-2.0
// The files that one model may be shipped as, each judged on the same samples: float32, float16, and integers of 8 and
// 4 bits, under the names that transformers.js looks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/json_fwd.h"
#include "core/half/half_floats.h"
#include "core/job/tersor.h"
#include "core/native/evaluate_samples.h"
#include "core/native/workers.h"
#include "core/report/report.h"
#include "core/samples/data_set.h"

namespace tersor {

struct Variant {
  std::string dtype;     // as transformers.js calls it: "fp32", "fp16", "q8", "int8", "uint8", "q4", "q4f16"
  std::string file;      // "model_fp16.onnx"
  std::string platform;  // that it was quantized for; empty for floats
  std::vector<std::byte> bytes;
  std::optional<SampleEvaluation> evaluation;  // against float32; absent without samples, and for fp32 itself
  std::optional<report::TimeForecast> time;
  std::vector<std::string> notes;     // sentences, such as which nodes keep float32
  std::optional<Diagnostic> refused;  // why there is no file
};

/// The row of variants.json, without the bytes.
Json to_json(const Variant& variant);

/// The names of all variants, in the order in which they are made.
std::vector<std::string> variant_names();

struct VariantRequest {
  std::shared_ptr<const OpenedModel> opened;
  std::shared_ptr<const samples::DataSet> data;  // null: only what needs no samples, and nothing is judged
  std::vector<int64_t> calibrated;               // the samples to calibrate with; others of the data set judge
  std::vector<std::string> names;                // of the variants that are wanted, of variant_names()
  Workforce workforce;
};

/// Makes the variants in their order and hands over each as soon as it is there. One that cannot be made has `refused`.
/// Errors of the float model and of the samples are thrown.
void make_variants(const VariantRequest& request, const std::function<void(Variant)>& done);

/// The greatest magnitude of each float tensor of the model in the samples, by name; infinity where one was not finite.
std::map<std::string, float> largest_values(const Model& model, const half::SeenValues& seen,
                                            const samples::DataSet& data, const std::vector<int64_t>& chosen,
                                            const Workforce& workforce);

}  // namespace tersor
