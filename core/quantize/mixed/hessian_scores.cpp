// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/hessian_scores.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/gradient/add_gradients.h"

namespace tersor::mixed {

namespace {

constexpr uint64_t kDraws = 4;

/// Plus or minus 1, without a pattern: the top bit of SplitMix64 (Steele et al. 2014).
Tensor signs(const Shape& shape, uint64_t& state) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (float& value : values) {
    uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    value = ((z ^ (z >> 31)) >> 63) != 0 ? 1.0f : -1.0f;
  }
  return Tensor::of<float>(shape, values);
}

double sum_of_squares(const Tensor& tensor) {
  double sum = 0;
  for (const float one : tensor.data<float>()) sum += static_cast<double>(one) * static_cast<double>(one);
  return sum;
}

}  // namespace

HessianScores::HessianScores(const Model& model, const std::vector<ValueId>& points,
                             const std::vector<ValueId>& outputs, const std::vector<Shape>& shapes) {
  Model forward = model, backward = model;
  forward.graph.outputs.clear();
  const std::vector<int> ranks = gradient::ranks_of(model, gradient::operators(), shapes);
  run::ProgramOptions made;
  std::vector<gradient::Seed> seeds;
  for (const ValueId output : outputs) {
    const DType type = model.graph.value(output).dtype;
    if (type != DType::kFloat32 && type != DType::kUndefined) continue;
    const ValueId v = backward.graph.add_unique_value("signs", DType::kFloat32);
    backward.graph.inputs.push_back(v);
    made.fetched.push_back(output);
    seeds.push_back({output, v});
  }
  outputs_.emplace(run::Program::compile(forward, gradient::operators(), made));
  const std::vector<ValueId> found = gradient::add_gradients(backward, seeds, points, ranks).by_value;
  backward.graph.outputs.clear();
  run::ProgramOptions options;
  for (const ValueId gradient : found) {
    reached_.push_back(gradient.valid());
    if (gradient.valid()) options.fetched.push_back(gradient);
  }
  if (!options.fetched.empty()) gradients_.emplace(run::Program::compile(backward, gradient::operators(), options));
}

std::vector<double> HessianScores::of(const std::vector<Tensor>& inputs) {
  std::vector<double> scores(reached_.size(), 0.0);
  if (!gradients_) return scores;
  const std::vector<Tensor> outputs = outputs_->run(inputs);
  uint64_t state = 0x5eed;
  for (uint64_t draw = 0; draw < kDraws; ++draw) {
    std::vector<Tensor> given = inputs;
    for (const Tensor& output : outputs) given.push_back(signs(output.shape(), state));
    const std::vector<Tensor> gradients = gradients_->run(given);
    size_t next = 0;
    for (size_t k = 0; k < scores.size(); ++k)
      if (reached_[k]) scores[k] += sum_of_squares(gradients[next++]) / static_cast<double>(kDraws);
  }
  double sum = 1e-8;
  for (const double score : scores) sum += score;
  for (double& score : scores) score /= sum;
  return scores;
}

}  // namespace tersor::mixed
