// SPDX-License-Identifier: Apache-2.0
// Chooses which operators run in integers, where the platform states what operators cost. Quantizers cost time as well:
// a small operator between floats may take longer in integers with its quantizers than in float. Each operator is
// integer or float, and each tensor that passes between the two is converted. The choice of least total time over the
// graph is a minimum cut (minimum_cut.h). `prefer` says how much time a smaller file is worth.
#pragma once

#include <string>
#include <vector>

#include "core/config/quantization_config.h"
#include "core/decide/find_front_ends.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/tpc/price_list.h"

namespace tersor::ptq {

/// The nodes and constants that stay in float to save time.
struct ArithmeticChoice {
  std::vector<FloatChoice> in_float;  // in the order of the graph; those that ACCURACY adds come last
  std::vector<NodeId>
      constants_float;  // nodes whose stored constants take more time to restore in each run than they save
};

/// Chooses what is good on every processor that `prices` has a list of: the division that loses least, as part of the
/// float model's time, where it loses most. If there is no list, what may be EITHER stays in float, and nothing else.
ArithmeticChoice choose_arithmetic(const Model& model, const framework::Attachment& attachment,
                                   const std::vector<const tpc::PriceList*>& prices, config::Preference prefer);

/// Switches off the quantizers of the stored constants of `nodes`.
void keep_constants_float(framework::Attachment& attachment, const std::vector<NodeId>& nodes);

}  // namespace tersor::ptq
