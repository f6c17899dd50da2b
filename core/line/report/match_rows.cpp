// SPDX-License-Identifier: Apache-2.0
#include "core/report/match_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace tersor::report {

namespace {

constexpr int64_t kMostPairs = 1 << 20;

/// Where an output has its rows.
struct Rows {
  int64_t blocks = 1;                // samples of the batch
  int64_t reference = 0, other = 0;  // rows in each of them
  int axis = 0;
  bool operator<(const Rows& more) const {
    return std::tie(blocks, reference, other) < std::tie(more.blocks, more.reference, more.other);
  }
};

/// Nothing where the two have more unlike than the number of rows.
std::optional<Rows> paired_rows(const Tensor& reference, const Tensor& other, bool has_batch) {
  const Shape &a = reference.shape(), &b = other.shape();
  if (reference.dtype() != other.dtype() || (reference.dtype() != DType::kFloat32 && !is_integer(reference.dtype())))
    return std::nullopt;
  if (a.rank() == 0 || a.rank() != b.rank()) return std::nullopt;
  const int axis = a.rank() > 1 && has_batch && a[0] == b[0] ? 1 : 0;
  for (int k = axis + 1; k < a.rank(); ++k)
    if (a[k] != b[k]) return std::nullopt;
  const Rows rows{axis == 1 ? a[0] : 1, a[axis], b[axis], axis};
  if (std::max(rows.reference, rows.other) < 2 || rows.reference * rows.other > kMostPairs) return std::nullopt;
  return rows;
}

/// The values of an output by row, in parts of their root mean square.
struct Values {
  size_t width = 0;
  std::vector<double> reference, other;
};

Values values_of(const Tensor& reference, const Tensor& other, const Rows& rows) {
  Values values{0, reference.to_doubles(), other.to_doubles()};
  const auto of_reference = static_cast<size_t>(rows.blocks * rows.reference),
             of_other = static_cast<size_t>(rows.blocks * rows.other);
  values.width =
      of_reference > 0 ? values.reference.size() / of_reference : values.other.size() / std::max<size_t>(1, of_other);
  double squares = 0;
  for (const double x : values.reference) squares += x * x;
  const double scale = squares > 0 ? std::sqrt(static_cast<double>(values.reference.size()) / squares) : 1;
  for (auto* side : {&values.reference, &values.other})
    for (double& x : *side) x *= scale;
  return values;
}

/// For each row of the reference, or further row of zeros, that of the other; -1: none.
std::vector<int64_t> matches(const std::vector<Values>& outputs, const Rows& rows, int64_t block) {
  struct Pair {
    double distance;
    int64_t reference, other;
  };
  std::vector<Pair> pairs;
  for (int64_t r = 0; r < rows.reference; ++r)
    for (int64_t s = 0; s < rows.other; ++s) {
      double distance = 0;
      for (const Values& one : outputs) {
        const double* x = &one.reference[static_cast<size_t>(block * rows.reference + r) * one.width];
        const double* y = &one.other[static_cast<size_t>(block * rows.other + s) * one.width];
        double squares = 0;
        for (size_t k = 0; k < one.width; ++k) squares += (x[k] - y[k]) * (x[k] - y[k]);
        distance += squares / static_cast<double>(std::max<size_t>(1, one.width));
      }
      pairs.push_back({std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance, r, s});
    }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    return std::tie(a.distance, a.reference, a.other) < std::tie(b.distance, b.reference, b.other);
  });
  const auto most = static_cast<size_t>(std::max(rows.reference, rows.other));
  std::vector<int64_t> match(most, -1);
  std::vector<bool> taken(static_cast<size_t>(rows.other), false);
  for (const Pair& one : pairs) {
    int64_t& to = match[static_cast<size_t>(one.reference)];
    if (to >= 0 || taken[static_cast<size_t>(one.other)]) continue;
    to = one.other;
    taken[static_cast<size_t>(one.other)] = true;
  }
  int64_t next = 0;
  for (size_t k = static_cast<size_t>(rows.reference); k < most; ++k) {
    while (taken[static_cast<size_t>(next)]) ++next;
    match[k] = next++;
  }
  return match;
}

/// The tensor with row `order[k]` of each block as row k of it; -1, and what is beyond the end: zeros.
Tensor in_order(const Tensor& tensor, const Rows& rows, int64_t own_rows,
                const std::vector<std::vector<int64_t>>& order) {
  std::vector<int64_t> dims;
  for (int k = 0; k < tensor.shape().rank(); ++k)
    dims.push_back(k == rows.axis ? static_cast<int64_t>(order[0].size()) : tensor.shape()[k]);
  Tensor made = Tensor::make(tensor.dtype(), Shape(dims));
  const auto all = static_cast<size_t>(rows.blocks * own_rows);
  const auto most = order[0].size();
  const size_t bytes = all > 0 ? tensor.bytes().size() / all : 0;
  for (size_t block = 0; block < order.size(); ++block)
    for (size_t k = 0; k < most; ++k) {
      const int64_t from = order[block][k];
      if (from < 0 || from >= own_rows) continue;
      const size_t at = (block * static_cast<size_t>(own_rows) + static_cast<size_t>(from)) * bytes;
      std::copy_n(tensor.bytes().data() + at, bytes, made.mutable_bytes().data() + (block * most + k) * bytes);
    }
  return made;
}

}  // namespace

void match_rows(const std::vector<OutputTrait>& traits, std::vector<Tensor>& reference, std::vector<Tensor>& other) {
  std::map<Rows, std::vector<std::pair<size_t, Rows>>> groups;
  for (size_t i = 0; i < traits.size(); ++i)
    if (traits[i].sorted)
      if (const auto rows = paired_rows(reference[i], other[i], traits[i].has_batch))
        groups[*rows].push_back({i, *rows});
  for (const auto& [rows, members] : groups) {
    std::vector<Values> values;
    for (const auto& [i, own] : members) values.push_back(values_of(reference[i], other[i], rows));
    std::vector<std::vector<int64_t>> order, same;
    for (int64_t block = 0; block < rows.blocks; ++block) {
      order.push_back(matches(values, rows, block));
      same.emplace_back(order.back().size());
      std::iota(same.back().begin(), same.back().end(), 0);
    }
    for (const auto& [i, own] : members) {
      other[i] = in_order(other[i], own, own.other, order);
      if (rows.other > rows.reference) reference[i] = in_order(reference[i], own, own.reference, same);
    }
  }
}

}  // namespace tersor::report
