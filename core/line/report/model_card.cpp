// SPDX-License-Identifier: Apache-2.0
#include "core/report/model_card.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/digest.h"
#include "core/onnx/rewrite_forms.h"
#include "core/ops/registry.h"
#include "core/run/ports.h"
#include "core/run/program.h"
#include "core/simulate/fuse.h"
#include "core/simulate/operators.h"

namespace tersor::report {

onnx::ModelInfo describe(const Model& model, std::span<const std::byte> file) {
  return describe(model, file, sha256_hex(file));
}

onnx::ModelInfo describe(const Model& file_model, std::span<const std::byte> file, std::string sha256) {
  onnx::ModelInfo info = onnx::describe(file_model, file, std::move(sha256));
  Model model = file_model;
  try {
    onnx::rewrite_forms(model);
  } catch (const Error&) {
    // what cannot be raised to a newer operator set is found below, node by node
  }
  const bool quantized = simulate::is_quantized(model);
  const ops::Registry& registry = quantized ? simulate::registry(simulate::Profile::kX64) : ops::standard();
  const std::vector<run::Unsupported> unsupported = run::unsupported(model, registry);
  for (const run::Unsupported& one : unsupported)
    if (const Node* node = file_model.graph.find(one.node); node != nullptr)
      for (onnx::OperatorInfo& op : info.operators)
        if (op.op == node->op_type && op.domain == node->domain) op.runs = false;
  const auto shapes = run::shapes_of_one_sample(model.graph);
  if (!unsupported.empty() || !shapes) return info;
  try {
    run::ProgramOptions options;
    options.will_run = false;
    const auto program = run::Program::compile(model, registry, options);
    info.macs = program->macs(*shapes);
    if (const int64_t peak = program->peak_bytes(*shapes); peak > 0) info.peak_bytes = peak;
  } catch (const Error&) {
    // what does not fit together shows when the model is run; it can be described all the same
  }
  return info;
}

}  // namespace tersor::report
