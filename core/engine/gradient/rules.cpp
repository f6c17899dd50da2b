// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/gradient/add_gradients.h"
#include "core/gradient/rule.h"

namespace tersor::gradient {

namespace {

/// All families. An operator more is a rule in one of them; a family more is one line here.
const Family& all() {
  static const Family joined = [] {
    Family whole;
    for (const auto family : {binary_family, convolution_family, move_family, multiply_family, normalize_family,
                              pool_family, reduce_family, slope_family, training_family}) {
      Family one = family();
      whole.rules.insert(whole.rules.end(), one.rules.begin(), one.rules.end());
      for (ops::Op& kernel : one.kernels) whole.kernels.push_back(std::move(kernel));
    }
    return whole;
  }();
  return joined;
}

}  // namespace

const std::vector<Rule>& rules() {
  return all().rules;
}

const Rule* find_rule(const Node& node) {
  for (const Rule& rule : rules())
    if (rule.type == node.op_type && rule.domain == node.domain) return &rule;
  return nullptr;
}

const ops::Registry& operators() {
  static const ops::Registry registry = [] {
    std::vector<const ops::Op*> kernels;
    for (const ops::Op& kernel : all().kernels) kernels.push_back(&kernel);
    return ops::standard().with(kernels);
  }();
  return registry;
}

}  // namespace tersor::gradient
