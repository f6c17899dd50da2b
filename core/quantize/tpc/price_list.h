// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "core/base/fields.h"

namespace tersor::tpc {

/// What one operator costs in a runtime, in nanoseconds: the sum of these, each times what the operator does of it, but
/// no less than `cold` times its weight.
struct Price {
  double node = 0;     // once
  double input = 0;    // for each element that it reads of activations
  double output = 0;   // for each element that it writes
  double product = 0;  // for each multiply-accumulate operation
  double column = 0;   // for each element that a convolution or pooling gathers into its windows
  double weight = 0;   // for each element of its constant weight
  double place = 0;    // for each position, of all channels, that a convolution writes
  double tail = 0;     // for each product of the channels beyond the last multiple of 16
  double cold = 0;     // for each element of its constant weight at least, where weights do not stay in the cache

  static constexpr auto fields() {
    return std::make_tuple(
        field("node", &Price::node, "Nanoseconds for the operator itself."),
        field("input", &Price::input, "For each element of the activations that it reads."),
        field("output", &Price::output, "For each element that it writes."),
        field("product", &Price::product, "For each multiply-accumulate operation."),
        field("column", &Price::column, "For each element gathered into windows."),
        field("weight", &Price::weight, "For each element of its constant weight."),
        field("place", &Price::place, "For each position that a convolution writes."),
        field("tail", &Price::tail, "For each product of the channels beyond a multiple of 16."),
        field("cold", &Price::cold,
              "For each element of its constant weight at least, where weights do not stay in the cache."));
  }
  bool operator==(const Price&) const = default;
};

/// What operators cost in a runtime on one machine, one thread, as scripts/prices measured it. Keys are operators as
/// the runtime runs them, such as "QLinearAdd", with a kind where it matters: "Conv/depthwise", "Resize/integer".
struct PriceList {
  std::string runtime;  // such as "ONNX Runtime 1.32.0"
  std::string machine;  // such as "AMD EPYC with AVX-512, VNNI, one thread"
  std::string date;     // on which it was measured: 2026-11-27
  /// Of the core's own cache: the weights of a model that has more are read from further away in every run.
  double cache_bytes = 0;
  std::map<std::string, Price> prices;

  static constexpr auto fields() {
    return std::make_tuple(field("runtime", &PriceList::runtime, "What was measured."),
                           field("machine", &PriceList::machine, "On what."),
                           field("date", &PriceList::date, "When, as year-month-day."),
                           field("cache_bytes", &PriceList::cache_bytes, "Bytes of the core's own cache."),
                           field("prices", &PriceList::prices, "By operator."));
  }
  bool operator==(const PriceList&) const = default;

  /// Null where the list has none of that name.
  const Price* find(std::string_view name) const {
    const auto found = prices.find(std::string(name));
    return found == prices.end() ? nullptr : &found->second;
  }
};

}  // namespace tersor::tpc
