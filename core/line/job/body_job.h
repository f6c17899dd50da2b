// SPDX-License-Identifier: Apache-2.0
// Weights that bodies of If, Loop and Scan read. They are the kernels of a separate model and are quantized by their
// values alone; the bodies compute in float.
#pragma once

#include <memory>
#include <vector>

#include "core/export/body_weights.h"
#include "core/job/job.h"

namespace tersor {

/// The kernels in bodies as a model, with its platform and its quantizers.
struct BodyJob {
  ptq::BodyKernels kernels;
  framework::Attachment attachment;
  ptq::Placement placement;
};

/// Returns null if bodies read no weights that can be quantized alone, or if the graph runs in integers and the
/// platform restores the weights of float operators in each run. Overrides may name nodes of the bodies.
std::shared_ptr<const BodyJob> prepare_bodies(const Job& job);

/// Adds remarks on the bodies for the user, before anything is quantized.
void note_bodies(const Job& job, std::vector<Diagnostic>& notes);

/// Stores the weights that bodies read as integers. `model` is the job's model after its plan was applied.
void store_body_weights(const Job& job, Model& model);

}  // namespace tersor
