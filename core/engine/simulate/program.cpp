// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/program.h"

#include "core/simulate/operators.h"

namespace tersor::simulate {

std::shared_ptr<const run::Program> compile(const Model& model, Profile profile, const run::ProgramOptions& options) {
  if (!is_quantized(model)) return run::Program::compile(model, ops::standard(), options);
  return run::Program::compile(fuse(model, profile).model, registry(profile), options);
}

}  // namespace tersor::simulate
