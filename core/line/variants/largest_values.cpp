// SPDX-License-Identifier: Apache-2.0
#include "core/variants/largest_values.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/graph/uses.h"
#include "core/half/half_floats.h"
#include "core/run/observer.h"
#include "core/simulate/program.h"

namespace tersor {

namespace {

class Magnitudes : public run::Observer {
 public:
  Magnitudes(const Graph& graph, Largest& largest) : graph_(graph), largest_(largest) {}

  void observe(const run::ObservedTensor& tensor) override {
    float& largest = largest_[graph_.name_of(tensor.value)];
    for (const float x : tensor.data) largest = std::isnan(x) ? HUGE_VALF : std::max(largest, std::fabs(x));
  }

 private:
  const Graph& graph_;
  Largest& largest_;
};

}  // namespace

std::shared_ptr<const run::Program> largest_values_program(const Model& model) {
  const Graph& graph = model.graph;
  const half::SeenValues seen = half::seen_values(model);
  const Uses uses(graph);
  run::ProgramOptions options;
  for (size_t k = 0; k < seen.types.size(); ++k) {
    const ValueId id{static_cast<int32_t>(k)};
    const bool may_be_float = seen.types[k] == DType::kFloat32 || seen.types[k] == DType::kUndefined;
    const bool is_input = std::find(graph.inputs.begin(), graph.inputs.end(), id) != graph.inputs.end();
    if (may_be_float && (is_input || uses.producer_index(id))) options.observed.push_back(id);
  }
  return simulate::compile(model, simulate::Profile::kX64, options);
}

LargestValues::LargestValues(std::shared_ptr<const run::Program> program, const Model& model)
    : graph_(model.graph), runner_(std::move(program)) {}

void LargestValues::add(std::span<const Tensor> inputs) {
  Magnitudes magnitudes(graph_, largest_);
  runner_.run(inputs, &magnitudes);
}

void LargestValues::merge(const Largest& other) {
  for (const auto& [name, value] : other) {
    float& largest = largest_[name];
    largest = std::max(largest, value);
  }
}

}  // namespace tersor
