// SPDX-License-Identifier: Apache-2.0
// The weights that bodies of If, Loop and Scan read, where activations are not quantized: kernels of a model of their
// own, quantized by their own values alone.
#pragma once

#include <memory>
#include <vector>

#include "core/job/job.h"
#include "core/export/body_weights.h"

namespace tersor {

struct BodyJob {
  ptq::BodyKernels kernels;
  framework::Attachment attachment;
  ptq::Placement placement;
};

/// Null where bodies read no weights that can be quantized alone. Overrides that name nodes of the bodies act.
std::shared_ptr<const BodyJob> prepare_bodies(const Job& job);

/// What a person should know of the bodies, before anything is quantized.
void note_bodies(const Job& job, std::vector<Diagnostic>& notes);

/// Stores the weights that bodies read in integers, in `model`, the job's with its plan carried out.
void store_body_weights(const Job& job, Model& model);

}  // namespace tersor
