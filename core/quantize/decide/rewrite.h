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

/// What a correction that statistics decide on has done to the graph.
struct Rewrite {
  std::string_view field;  // of QuantizationConfig that asks for it
  int64_t places = 0;      // 0: nothing was changed, and `what` says why
  std::string what;        // a sentence for a person: what and where
  /// The nodes that it put into the graph.
  std::vector<NodeId> inserted = {};
  /// Where attachment and placement must be made anew: what it lays onto every attachment that is made of the graph
  /// afterwards.
  std::function<void(framework::Attachment&)> attach = nullptr;
  /// Key and text that the quantized file's metadata gets; no text where it gets none.
  std::pair<std::string_view, std::string> metadata = {};
};

/// The first few of a list, and how many more there are.
std::string first_few(const std::vector<std::string>& list);

/// A number as people write it, with six digits.
std::string number_text(double value);

/// " falls by ... dB" of ratios of noise, after over before, from the one that falls least to the one that falls most.
std::string fall_text(double least, double most);

}  // namespace tersor::ptq
