// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/framework/attach.h"
#include "core/graph/graph.h"

namespace tersor::ptq {

/// A change of the graph by a correction that depends on statistics.
struct Rewrite {
  std::string_view field;  // the field of QuantizationConfig that asks for it
  int64_t places = 0;      // 0: nothing was changed, and `what` says why
  std::string what;        // a sentence for the user: what was changed and where
  /// The nodes that were added to the graph.
  std::vector<NodeId> inserted = {};
  /// Set if attachment and placement must be made anew: it is applied to every later attachment of the graph.
  std::function<void(framework::Attachment&)> attach = nullptr;
  /// Key and text for the metadata of the quantized file; no entry if the text is empty.
  std::pair<std::string_view, std::string> metadata = {};
};

/// The first few names of a list, and the number of the others.
std::string first_few(const std::vector<std::string>& list);

/// A number with six digits, as people write it.
std::string number_text(double value);

/// " falls by ... dB", from the smallest to the largest fall. `least` and `most` are noise ratios, after over before.
std::string fall_text(double least, double most);

}  // namespace tersor::ptq
