// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "core/calibrate/statistics.h"
#include "core/decide/find_front_ends.h"
#include "core/decide/placement.h"
#include "core/decide/rewrite.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/quant/range_memo.h"

namespace tersor::ptq {

/// A prepared model while corrections rewrite it, before parameters are chosen.
struct CorrectedModel {
  Model model;
  calibrate::Statistics statistics;                    // the statistics that this model would have given
  framework::Attachment attachment;                    // of that model
  Placement placement;                                 // of that model
  std::vector<FloatChoice> in_float;                   // kernels that `placement` leaves in float
  std::vector<Rewrite> rewrites = {};                  // of the corrections so far, in the order in which they act
  std::shared_ptr<quant::RangeMemo> ranges = nullptr;  // cache of selected ranges; null: none
};

}  // namespace tersor::ptq
