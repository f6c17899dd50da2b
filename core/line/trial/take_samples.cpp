// SPDX-License-Identifier: Apache-2.0
#include "core/trial/take_samples.h"

#include "core/base/json.h"
#include "core/trial/taken_branches.h"

namespace tersor {

void take_samples(const Model& model, const std::shared_ptr<const samples::DataSet>& data, Settings& settings) {
  settings.preprocessing = data->is_preprocessed() ? to_text(to_json(data->preprocessing()), false) : "null";
  settings.taken_branches = taken_branches(model, data);
}

void take_samples(const std::shared_ptr<const OpenedModel>& opened, const calibrate::Statistics& statistics,
                  Settings& settings) {
  settings.preprocessing = statistics.provenance.preprocessing;
  settings.taken_branches = taken_branches(opened, settings, statistics);
}

}  // namespace tersor
