// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tersor::calibrate {

/// A sum of doubles without rounding error, so that sums merged in any order and grouping are equal.
///
/// It is a fixed-point number in two's complement with the unit 2^-160, in words of 64 bits, lowest first. Each addend
/// is rounded to the unit (half to even). Every float32, and every sum of float32 held in a double, is a multiple of
/// the unit. The total may reach a magnitude of 2^400.
class ExactSum {
 public:
  static constexpr size_t kWords = 9;
  static constexpr int kUnitExponent = -160;

  ExactSum() = default;
  explicit ExactSum(const std::array<uint64_t, kWords>& words) : words_(words) {}

  /// Adds a finite number.
  void add(double x);
  void add(const ExactSum& other);
  /// The sum as a double, correct to its last bit or the one before.
  double value() const;

  const std::array<uint64_t, kWords>& words() const { return words_; }
  bool operator==(const ExactSum&) const = default;

 private:
  std::array<uint64_t, kWords> words_{};
};

/// An array of exact sums. Each is kept in two doubles for as long as these hold it exactly.
class ExactSums {
 public:
  ExactSums() = default;
  explicit ExactSums(size_t count) : high_(count), low_(count) {}

  size_t size() const { return high_.size(); }
  /// Adds addends[i] to sum i; all addends are finite.
  void add(std::span<const double> addends);
  void add(const ExactSums& other);
  void add(size_t index, const ExactSum& other);
  ExactSum sum(size_t index) const;

 private:
  void add_one(size_t index, double x);

  std::vector<double> high_, low_;
  std::vector<ExactSum> rest_;  // parts that did not fit into two doubles; empty while there are none
};

}  // namespace tersor::calibrate
