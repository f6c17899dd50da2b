// SPDX-License-Identifier: Apache-2.0
#include "core/trial/taken_branches.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/graph/core_operator.h"
#include "core/ops/registry.h"
#include "core/run/control.h"
#include "core/run/program.h"
#include "core/samples/selection.h"

namespace tersor {

namespace {

constexpr int64_t kMostLookedAt = 64;
constexpr size_t kMostIfs = 3;  // that a choice of branches is looked for

bool has_kernels(const Node& node, bool then_branch) {
  const auto* branch = node.attribute<std::shared_ptr<const Graph>>(then_branch ? "then_branch" : "else_branch");
  if (branch == nullptr || *branch == nullptr) return false;
  return std::any_of((*branch)->nodes().begin(), (*branch)->nodes().end(), is_core);
}

/// Ifs with kernels in a branch.
std::vector<const Node*> ifs_of(const Model& model) {
  std::vector<const Node*> ifs;
  for (const Node& node : model.graph.nodes())
    if (node.is("If") && node.inputs.size() == 1 && node.inputs[0].valid() &&
        (has_kernels(node, true) || has_kernels(node, false)))
      ifs.push_back(&node);
  return ifs;
}

}  // namespace

std::map<std::string, bool> taken_branches(const Model& model, const std::shared_ptr<const samples::DataSet>& data) {
  const std::vector<const Node*> ifs = ifs_of(model);
  std::map<std::string, bool> taken;
  if (ifs.empty() || data->size() == 0) return taken;
  Model conditions = model;
  conditions.graph.outputs.clear();
  for (const Node* const node : ifs) conditions.graph.outputs.push_back(node->inputs[0]);
  try {
    run::Runner runner(run::Program::compile(conditions, ops::standard()));
    samples::SampleReader reader(data);
    std::vector<int64_t> holds(ifs.size(), 0);
    const std::vector<int64_t> chosen = samples::spread_evenly(data->size(), kMostLookedAt);
    for (const int64_t sample : chosen) {
      const std::vector<Tensor> outputs = runner.run(reader.load(sample));
      for (size_t k = 0; k < ifs.size(); ++k) holds[k] += run::truth_of(outputs[k], "condition of If") ? 1 : 0;
    }
    for (size_t k = 0; k < ifs.size(); ++k) {
      const bool all = holds[k] == static_cast<int64_t>(chosen.size());
      if ((all || holds[k] == 0) && has_kernels(*ifs[k], all)) taken[model.graph.label_of(*ifs[k])] = all;
    }
  } catch (const Error&) {
    taken.clear();  // a sample or a run that fails is told where all samples are read
  }
  return taken;
}

std::map<std::string, bool> taken_branches(const std::shared_ptr<const OpenedModel>& opened, const Settings& settings,
                                           const calibrate::Statistics& statistics) {
  const std::vector<const Node*> ifs = ifs_of(opened->model);
  size_t choices = 1;
  for (size_t k = 0; k < std::min(ifs.size(), kMostIfs); ++k) choices *= 3;
  for (size_t choice = 0; choices > 1 && choice < choices; ++choice) {
    Settings tried = settings;
    size_t rest = choice;
    for (size_t k = 0; k < std::min(ifs.size(), kMostIfs); ++k, rest /= 3)
      if (rest % 3 != 0 && has_kernels(*ifs[k], rest % 3 == 1))
        tried.taken_branches[opened->model.graph.label_of(*ifs[k])] = rest % 3 == 1;
    try {
      if (prepare(opened, tried)->provenance.graph_digest == statistics.provenance.graph_digest)
        return tried.taken_branches;
    } catch (const Error&) {  // no file can be made so
    }
  }
  return {};
}

}  // namespace tersor
