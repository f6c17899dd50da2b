// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/run/program.h"
#include "core/simulate/fuse.h"

namespace tersor::simulate {

/// Any model made ready to run: a quantized one in the runtime's integer arithmetic, a float one as it is. Errors of
/// fuse() and run::Program::compile().
std::shared_ptr<const run::Program> compile(const Model& model, Profile profile,
                                            const run::ProgramOptions& options = {});

}  // namespace tersor::simulate
