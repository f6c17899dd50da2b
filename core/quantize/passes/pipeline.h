// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace tersor::passes {

/// Passes that run when a field of QuantizationConfig, of the same name, asks for them.
struct OptionalPasses {
  bool linear_collapsing = false;
  bool residual_collapsing = false;
};

struct Pass {
  std::string_view name;
  int (*run)(Model&);
  bool OptionalPasses::*wanted = nullptr;  // null: always
};

/// The passes that prepare a float model, in their order; a name may occur twice.
std::span<const Pass> pipeline();

struct PassResult {
  std::string_view name;
  int changed = 0;
  std::vector<std::string> gone = {};  // of an optional pass: the nodes that are no more, by name
};

/// Runs the pipeline over a model of operator set 13 or newer. `after` is called after each pass. Returns what each
/// pass changed, in order. Errors of the float engine for constants that cannot be computed.
std::vector<PassResult> prepare(Model& model, const OptionalPasses& optional = {},
                                const std::function<void(const Pass&, const Model&)>& after = nullptr);

}  // namespace tersor::passes
