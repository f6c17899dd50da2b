// SPDX-License-Identifier: Apache-2.0
// Members are listed once. A configuration struct carries
//
//   static constexpr auto fields() {
//     return std::make_tuple(field("weights_n_bits", &QuantizationConfig::weights_n_bits, "Bits of the weights."),
//     ...);
//   }
//
// and from that list come JSON reading and writing (core/base/json.h), the command line's --set, the page's form and
// the reference page. Adding a field is one member and one line.
#pragma once

#include <tuple>

namespace tersor {

template <class Owner, class Member>
struct Field {
  const char* name;
  Member Owner::*member;
  const char* meaning;
};

template <class Owner, class Member>
constexpr Field<Owner, Member> field(const char* name, Member Owner::*member, const char* meaning) {
  return {name, member, meaning};
}

template <class T>
concept HasFields = requires {
  T::fields();
};

/// Calls `visit(field)` for each field of T in order.
template <HasFields T, class Visit>
constexpr void for_each_field(Visit&& visit) {
  std::apply([&](const auto&... one) { (visit(one), ...); }, T::fields());
}

}  // namespace tersor
