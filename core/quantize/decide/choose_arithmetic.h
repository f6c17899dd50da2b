// SPDX-License-Identifier: Apache-2.0
// Which operators run in integers where the platform knows what they cost. A quantizer is paid for in time as well: a
// small operator between floats may take longer in integers with the quantizers around it than in float. The choice of
// least total time over the whole graph is a minimum cut (ptq/minimum_cut.h): each operator is integer or float, each
// tensor that passes from one to the other is converted. What a smaller file is worth beside time says `prefer`.
#pragma once

#include <string>
#include <vector>

#include "core/config/quantization_config.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/decide/find_front_ends.h"
#include "core/tpc/price_list.h"

namespace tersor::ptq {

/// What stays in float because of time.
struct ArithmeticChoice {
  std::vector<FloatChoice> in_float;    // in the order of the graph
  std::vector<NodeId> constants_float;  // nodes whose stored constants cost more to restore in each run than they save
};

/// `prices`: null where nobody has measured them; then what may be EITHER stays in float, and nothing else.
ArithmeticChoice choose_arithmetic(const Model& model, const framework::Attachment& attachment,
                                   const tpc::PriceList* prices, config::Preference prefer);

/// Switches the quantizers of those nodes' stored constants off.
void keep_constants_float(framework::Attachment& attachment, const std::vector<NodeId>& nodes);

}  // namespace tersor::ptq
