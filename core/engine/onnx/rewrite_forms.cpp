// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/rewrite_forms.h"

#include "core/onnx/convert_opset.h"
#include "core/onnx/form_rewriter.h"
#include "core/onnx/integer_edges.h"

namespace tersor::onnx {

void rewrite_forms(Model& model) {
  constexpr int64_t kOldestRun = 7;
  if (model.opset() > 0 && model.opset() < kOldestRun) convert_to_opset(model, kOldestRun);
  open_integer_edges(model);
  cut_tails(model);
  widen_floats(model);
  rewrite_sequences(model);
  rewrite_ml_operators(model);
  rewrite_microsoft_operators(model);
}

}  // namespace tersor::onnx
