// SPDX-License-Identifier: Apache-2.0
// The light engine has this in the place of training, of all that needs gradients, of the search for bits, of .tflite
// files, of those in integer operators, and of variants:
// nobody asks it for them, because needs_whole() (bindings.cpp) is asked first, the package looks at the first bytes of
// a model, and variants() loads the whole one.
// The linker takes these definitions, and with them nothing of the rooms that train and of core/engine/tflite.
#include "core/job/tflite_file.h"
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

TfliteFile tflite_file(const Model&) {
  throw left_out();
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
