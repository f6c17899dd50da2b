// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "core/calibrate/statistics.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/decide/find_front_ends.h"
#include "core/decide/placement.h"
#include "core/decide/rewrite.h"
#include "core/quant/range_memo.h"

namespace tersor::ptq {

/// A prepared model on its way to the choice of parameters, as corrections rewrite it.
struct CorrectedModel {
  Model model;
  calibrate::Statistics statistics;                    // as that model would have given them
  framework::Attachment attachment;                    // of that model
  Placement placement;                                 // in that model
  std::vector<FloatChoice> in_float;                   // kernels that placement leaves in float
  std::vector<Rewrite> rewrites = {};                  // what corrections did, in the order in which they act
  std::shared_ptr<quant::RangeMemo> ranges = nullptr;  // those selected so far; null: none are kept
};

}  // namespace tersor::ptq
