// SPDX-License-Identifier: Apache-2.0
// The light engine has this in the place of training, of all that needs gradients, of the search for bits, of .tflite
// files, of models with operators of com.microsoft or ai.onnx.ml or with sequences of tensors, of files in integer
// operators, and of variants.
// Nobody asks it for them, because needs_whole() (bindings.cpp) is asked first and variants() loads the whole one; a
// model that cannot be opened without them is opened again by the whole one (Pool.opened()).
// The linker takes these definitions, and with them nothing of the rooms that train and of core/engine/tflite.
#include <algorithm>

#include "core/job/tflite_file.h"
#include "core/onnx/form_rewriter.h"
#include "core/onnx/rewrite_forms.h"
#include "core/ops/families.h"
#include "core/rounds/rounds.h"
#include "core/tflite/integer_model.h"
#include "core/tflite/integer_nodes.h"
#include "core/tflite/operators.h"
#include "core/tflite/read_model.h"
#include "core/trial/bit_trial.h"
#include "core/tune/own_quantizer.h"
#include "wasm/sample_job.h"

namespace tersor {

namespace {

Error left_out() {
  return {ErrorCode::kInternal, "The light engine was asked for what the whole one has."};
}

void leave_out_if(const Model& model, bool (*is_left_out)(const Node&)) {
  const auto& nodes = model.graph.nodes();
  if (std::any_of(nodes.begin(), nodes.end(), is_left_out)) throw left_out();
}

}  // namespace

std::unique_ptr<Rounds> training_rounds(const Gathered&, const std::vector<int64_t>&) {
  throw left_out();
}

int epochs_of_checkpoint(std::span<const std::byte>) {
  throw left_out();
}

BitTrial::BitTrial(std::shared_ptr<const Job>, calibrate::Statistics) {
  throw left_out();
}

void BitTrial::take(const std::vector<SampleDistances>&) {
  throw left_out();
}

calibrate::BitConfiguration BitTrial::result(size_t) const {
  throw left_out();
}

mixed::SearchRunner BitTrial::runner() const {
  throw left_out();
}

std::vector<double> mixed::SearchRunner::advance(SearchState&) {
  throw left_out();
}

trainable::TrainableQuantizerClass tune::own_class(const trainable::TrainableQuantizers*, const std::string&,
                                                   const std::string&) {
  throw left_out();
}

Model in_integer_operators(const Model&) {
  throw left_out();
}

std::unique_ptr<wasm::SampleJob> wasm::make_ranges(std::shared_ptr<const OpenedModel>) {
  throw left_out();
}

void check_tflite(const Model&) {
  throw left_out();
}

std::optional<Model> tflite_model(const Model&) {
  throw left_out();
}

TfliteFile tflite_file(const Model&, bool) {
  throw left_out();
}

void onnx::rewrite_microsoft_operators(Model& model) {
  const auto& imports = model.opset_imports;
  if (std::any_of(imports.begin(), imports.end(), [](const auto& one) { return one.domain == "com.microsoft"; }))
    throw left_out();
}

void onnx::rewrite_sequences(Model& model) {
  leave_out_if(model,
               [](const Node& node) { return node.is("SplitToSequence") || node.op_type.starts_with("Sequence"); });
}

void onnx::rewrite_ml_operators(Model& model) {
  leave_out_if(model, [](const Node& node) { return node.domain == "ai.onnx.ml"; });
}

std::vector<ops::Op> ops::biased_gelu_ops() {
  return {};
}

std::vector<ops::Op> ops::group_query_attention_ops() {
  return {};
}

std::vector<ops::Op> ops::microsoft_rotary_ops() {
  return {};
}

std::vector<ops::Op> ops::multi_head_attention_ops() {
  return {};
}

std::vector<ops::Op> ops::skip_layer_norm_ops() {
  return {};
}

namespace tflite {

Model read_tflite(const onnx::Source&) {
  throw left_out();
}

Model as_made_from(Model, const Model&) {
  throw left_out();
}

std::vector<NodeId> integer_nodes(const Graph&, const Uses&, const IntegerValues&) {
  throw left_out();
}

Model lowered_model(const Model&) {
  throw left_out();
}

std::span<const ops::Op* const> operators() {
  return {};
}

}  // namespace tflite

}  // namespace tersor
