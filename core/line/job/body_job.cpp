// SPDX-License-Identifier: Apache-2.0
#include "core/job/body_job.h"

#include <algorithm>
#include <string>

#include "core/choose/choose_constants.h"
#include "core/choose/choose_params.h"
#include "core/export/apply_plan.h"

namespace tersor {

namespace {

/// Bodies compute in float, whatever the graph around them does.
Settings weights_alone(const Job& job) {
  Settings settings = job.settings;
  settings.config.enable_activation_quantization = false;
  return settings;
}

}  // namespace

std::shared_ptr<const BodyJob> prepare_bodies(const Job& job) {
  // A runtime that restored them in each run would be slower for it.
  if (!job.placement.tensors.empty() && !tpc::folds(job.settings.platform.export_rules.float_weights)) return nullptr;
  auto kernels = ptq::kernels_in_bodies(job.model);
  if (!kernels) return nullptr;
  auto bodies = std::make_shared<BodyJob>(BodyJob{std::move(*kernels), {}, {}});
  const Graph& graph = bodies->kernels.model.graph;
  bodies->attachment = attachment_of(graph, weights_alone(job));
  bodies->placement = ptq::place(graph, bodies->attachment);
  const auto has_kernel = [](const ptq::NodeRole& role) { return role.has_kernel(); };
  const auto& roles = bodies->placement.roles;
  if (!bodies->placement.tensors.empty()) return nullptr;
  if (std::none_of(roles.begin(), roles.end(), has_kernel) &&
      ptq::constants_to_store(graph, bodies->attachment).empty())
    return nullptr;
  return bodies;
}

void note_bodies(const Job& job, std::vector<Diagnostic>& notes) {
  if (!job.bodies) return;
  const auto& roles = job.bodies->placement.roles;
  const auto kernels = std::count_if(roles.begin(), roles.end(), [](const auto& role) { return role.has_kernel(); });
  const size_t tables = ptq::constants_to_store(job.bodies->kernels.model.graph, job.bodies->attachment).size();
  notes.push_back({"body_weights",
                   std::to_string(static_cast<size_t>(kernels) + tables) +
                       " weights that the bodies of If, Loop and Scan read are stored in integers, each by its own "
                       "values; the bodies stay as they are.",
                   "graph",
                   {}});
}

void store_body_weights(const Job& job, Model& model) {
  if (!job.bodies) return;
  const BodyJob& bodies = *job.bodies;
  ptq::QuantizationPlan plan = ptq::choose_params(bodies.kernels.model.graph, bodies.attachment, bodies.placement, {},
                                                  weights_alone(job).config, job.ranges.get());
  ptq::restore_whole(plan);
  ptq::take_body_weights(model, ptq::apply_plan(bodies.kernels.model, plan), bodies.kernels);
}

}  // namespace tersor
