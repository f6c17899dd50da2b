// SPDX-License-Identifier: Apache-2.0
#include "core/native/variants.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/json.h"
#include "core/base/names.h"
#include "core/graph/uses.h"
#include "core/native/gather.h"
#include "core/native/stage_count.h"
#include "core/onnx/rewrite_forms.h"
#include "core/onnx/write.h"
#include "core/report/report_of.h"
#include "core/samples/selection.h"
#include "core/simulate/program.h"
#include "core/tpc/builtin.h"
#include "core/trial/take_samples.h"

namespace tersor {

namespace {

/// What a variant is made of.
struct Kind {
  const char* dtype;
  const char* file;
  const char* platform;        // null: the float model
  const char* platform_alone;  // the same without samples; null: there is none
  bool is_half = false;        // what is left in float becomes float16
};

constexpr Kind kKinds[] = {
    {"fp32", "model.onnx", nullptr, nullptr},
    {"fp16", "model_fp16.onnx", nullptr, nullptr, true},
    {"q8", "model_quantized.onnx", "ort-cpu", "weight-only-int8"},
    {"int8", "model_int8.onnx", "ort-cpu-s8s8", "weight-only-int8"},
    {"uint8", "model_uint8.onnx", "ort-web", "weight-only-int8"},
    {"q4", "model_q4.onnx", "ort-matmul-nbits", "ort-matmul-nbits"},
    {"q4f16", "model_q4f16.onnx", "ort-matmul-nbits", "ort-matmul-nbits", true},
};

/// Keeps the greatest magnitudes of one thread's runs.
class Magnitudes : public run::Observer {
 public:
  explicit Magnitudes(const Graph& graph) : graph_(graph) {}

  void observe(const run::ObservedTensor& tensor) override {
    float& largest = largest_[graph_.name_of(tensor.value)];
    for (const float x : tensor.data) largest = std::isnan(x) ? HUGE_VALF : std::max(largest, std::fabs(x));
  }

  void merge_into(std::map<std::string, float>& all) const {
    for (const auto& [name, value] : largest_) all[name] = std::max(all[name], value);
  }

 private:
  const Graph& graph_;
  std::map<std::string, float> largest_;
};

class Maker {
 public:
  explicit Maker(const VariantRequest& request) : request_(request) {
    if (!request.data) return;
    evaluated_ = samples::for_evaluation(request.data->size(), request.calibrated, request.data->size());
    float_program_ = simulate::compile(model(), simulate::Profile::kX64);
  }

  Variant make(const Kind& kind) {
    Variant variant{kind.dtype, kind.file, {}, {}, {}, {}, {}, {}};
    Model made = model();
    if (kind.platform != nullptr) made = quantized(kind, variant);
    Model computed = made;
    if (kind.is_half) std::tie(made, computed) = halved(std::move(made), variant);
    if (kind.is_half || kind.platform == nullptr) variant.bytes = onnx::write(onnx::restore_edges(std::move(made)));
    if (request_.data && (kind.is_half || kind.platform != nullptr))
      variant.evaluation = evaluated(simulate::compile(computed, simulate::Profile::kX64));
    return variant;
  }

 private:
  const Model& model() const { return request_.opened->model; }

  /// The model of the file, whose bytes and forecast the variant takes.
  Model quantized(const Kind& kind, Variant& variant) {
    variant.platform = request_.data ? kind.platform : kind.platform_alone;
    Settings settings{tpc::get_target_platform_capabilities(variant.platform), {}};
    settings.own_statistics_only = true;
    if (request_.data) take_samples(model(), request_.data, settings);
    const auto job = prepare(request_.opened, std::move(settings));
    const Gathered gathered = request_.data ? gather(job, *request_.data, request_.calibrated, request_.workforce)
                                            : gather(job, empty_statistics(*job), nullptr, request_.workforce);
    QuantizeResult result = quantize(*gathered.job, gathered.statistics, gathered.draft);
    variant.time = time_forecast_of(*gathered.job, result);
    variant.bytes = std::move(result.bytes);
    return std::move(result.model);
  }

  /// The model of the file, and the same for the engine.
  std::pair<Model, Model> halved(Model whole, Variant& variant) {
    half::SeenValues seen = half::seen_values(whole);
    if (request_.data) {
      if (!largest_)
        largest_ = largest_values(model(), half::seen_values(model()), *request_.data, request_.calibrated,
                                  request_.workforce);
      seen.largest = largest_;
      for (size_t k = 0; k < seen.types.size(); ++k)
        if (seen.types[k] == DType::kUndefined &&
            largest_->contains(whole.graph.name_of(ValueId{static_cast<int32_t>(k)})))
          seen.types[k] = DType::kFloat32;
    }
    const std::vector<half::FloatNode> in_float32 = half::nodes_in_float32(whole, seen);
    for (const half::FloatNode& one : in_float32) {
      const Node* node = whole.graph.find(one.node);
      variant.notes.push_back("\"" + whole.graph.label_of(*node) + "\" (" + node->op_type +
                              ") keeps float32: " + one.reason + ".");
    }
    Model file = half::with_half_floats(whole, seen, in_float32);
    return {std::move(file), half::rounded_to_half(std::move(whole), seen, in_float32)};
  }

  SampleEvaluation evaluated(std::shared_ptr<const run::Program> program) const {
    return evaluate_samples({std::move(program), float_program_, evaluate::Metric::kAnswers}, request_.data, {},
                            evaluated_, request_.workforce);
  }

  const VariantRequest& request_;
  std::vector<int64_t> evaluated_;
  std::shared_ptr<const run::Program> float_program_;
  std::optional<std::map<std::string, float>> largest_;
};

}  // namespace

Json to_json(const Variant& variant) {
  Json json{{"dtype", variant.dtype}, {"file", variant.file}};
  json["platform"] = variant.platform.empty() ? Json(nullptr) : Json(variant.platform);
  json["size_bytes"] = variant.refused ? Json(nullptr) : Json(variant.bytes.size());
  json["evaluation"] = variant.evaluation ? to_json(*variant.evaluation) : Json(nullptr);
  json["time"] = variant.time ? to_json(*variant.time) : Json(nullptr);
  json["notes"] = variant.notes;
  json["refused"] = variant.refused ? to_json(*variant.refused) : Json(nullptr);
  return json;
}

std::vector<std::string> variant_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.dtype);
  return names;
}

void make_variants(const VariantRequest& request, const std::function<void(Variant)>& done) {
  for (const std::string& name : request.names)
    if (const std::vector<std::string> names = variant_names();
        std::find(names.begin(), names.end(), name) == names.end())
      throw Error(ErrorCode::kInvalidArgument, "There is no variant \"" + name + "\".", "variants",
                  suggestion(name, names));
  Maker maker(request);
  for (const Kind& kind : kKinds) {
    if (std::find(request.names.begin(), request.names.end(), kind.dtype) == request.names.end()) continue;
    try {
      done(maker.make(kind));
    } catch (const Error& error) {
      if (error.code != ErrorCode::kUnsupportedModel) throw;
      Variant refused{kind.dtype, kind.file, {}, {}, {}, {}, {}, {}};
      refused.refused = Diagnostic{std::string(to_word(error.code)), error.message, error.place, error.hint};
      done(std::move(refused));
    }
  }
}

std::map<std::string, float> largest_values(const Model& model, const half::SeenValues& seen,
                                            const samples::DataSet& data, const std::vector<int64_t>& chosen,
                                            const Workforce& workforce) {
  run::ProgramOptions options;
  const Uses uses(model.graph);
  for (size_t k = 0; k < seen.types.size(); ++k) {
    const ValueId id{static_cast<int32_t>(k)};
    const bool may_be_float = seen.types[k] == DType::kFloat32 || seen.types[k] == DType::kUndefined;
    const bool is_input =
        std::find(model.graph.inputs.begin(), model.graph.inputs.end(), id) != model.graph.inputs.end();
    if (may_be_float && (is_input || uses.producer_index(id))) options.observed.push_back(id);
  }
  const auto program = simulate::compile(model, simulate::Profile::kX64, options);
  const std::shared_ptr<const samples::DataSet> shared(std::shared_ptr<const void>(), &data);
  const int used = thread_count(workforce.threads);
  std::vector<Magnitudes> magnitudes(static_cast<size_t>(used), Magnitudes(model.graph));
  std::vector<samples::SampleReader> readers;
  std::vector<run::Runner> runners;
  for (int k = 0; k < used; ++k) readers.emplace_back(shared), runners.emplace_back(program);
  StageCount progress(workforce.progress, "ranges", static_cast<int64_t>(chosen.size()));
  fan_out(used, static_cast<int64_t>(chosen.size()), [&](int worker, int64_t item) {
    const auto w = static_cast<size_t>(worker);
    runners[w].run(readers[w].load(chosen[static_cast<size_t>(item)]), &magnitudes[w]);
    progress.step();
  });
  std::map<std::string, float> largest;
  for (const Magnitudes& one : magnitudes) one.merge_into(largest);
  return largest;
}

}  // namespace tersor
