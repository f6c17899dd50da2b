// SPDX-License-Identifier: Apache-2.0
// How alike two tensors are.
#include <cmath>

#include "core/evaluate/similarity.h"
#include "tests/vectors/case.h"

namespace tersor::vectors {

using namespace evaluate;

namespace {

/// By column of a list of rows where the axis of the rows is averaged over; all in one where none is named.
std::vector<std::vector<double>> averaged_together(const Json& nested, const Json& axis) {
  const std::vector<double> all = numbers(nested);
  if (axis.is_null()) return {all};
  const auto columns = static_cast<size_t>(shape_of(nested).back());
  std::vector<std::vector<double>> groups(columns);
  for (size_t i = 0; i < all.size(); ++i) groups[i % columns].push_back(all[i]);
  return groups;
}

Verdict judge_errors(const Case& one) {
  const Json& input = one.input;
  if (!input["axis"].is_null() && input["axis"] != 0) return skipped("averages over the first axis or all");
  const auto x = averaged_together(input["x"], input["axis"]), y = averaged_together(input["y"], input["axis"]);
  Verdict found;
  for (const auto& [name, power] :
       std::initializer_list<std::pair<const char*, double>>{{"mse", 2}, {"mae", 1}, {"lp", number(input["p"])}}) {
    std::vector<double> got;
    for (size_t k = 0; k < x.size(); ++k) got.push_back(mean_power_error(x[k], y[k], power, input["norm"].get<bool>()));
    found = both(found, compared(numbers(one.output[name]), got, one.tolerance));
  }
  return found;
}

Verdict judge_cosine(const Case& one) {
  const auto rows = [&](const char* name) {
    const Json& nested = one.input[name];
    const bool by_row = one.input.value("batch", false);
    std::vector<std::vector<double>> made;
    if (!by_row) made.push_back(numbers(nested));
    for (size_t k = 0; by_row && k < nested.size(); ++k) made.push_back(numbers(nested[k]));
    return made;
  };
  const auto x = rows("x"), y = rows("y");
  std::vector<double> got;
  for (size_t k = 0; k < x.size(); ++k) got.push_back(cosine_distance(x[k], y[k]));
  // On purpose: two tensors of zeros are alike.
  if (!one.deviates.empty()) return verdict(got == std::vector<double>{0}, "0", text_of(got), one.deviates);
  return compared(numbers(one.output), got, one.tolerance);
}

/// V53.
Verdict judge_metrics(const Case& one) {
  const auto values = [&](const char* name) { return numbers(one.input[name]); };
  const auto x = values("x"), y = values("y"), far = values("y_far"), a = values("a"), b = values("b");
  const std::vector<double> got{similarity(x, far).mse(), similarity(x, x).mse(), similarity(x, y).sqnr(),
                                similarity(a, a).cosine(), similarity(a, b).cosine()};
  std::vector<double> expected;
  for (const char* name : {"mse_x_yfar", "mse_x_x", "sqnr_x_y", "cosine_a_a", "cosine_a_b"})
    expected.push_back(number(one.output[name]));
  return both(compared(expected, got, one.tolerance),
              verdict(std::isinf(similarity(x, x).sqnr()), "inf", std::to_string(similarity(x, x).sqnr())));
}

}  // namespace

std::optional<Verdict> judge_similarity(const Case& one) {
  if (one.function == "similarity errors") return judge_errors(one);
  if (one.function == "compute_cs") return judge_cosine(one);
  if (one.function.empty() && one.id == "V53") return judge_metrics(one);
  return std::nullopt;
}

}  // namespace tersor::vectors
