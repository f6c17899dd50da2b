// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tersor::calibrate {

/// A sum of doubles that loses nothing: a fixed-point number in two's complement, words of 64 bits, lowest first, whose
/// unit is 2^-160. Adding is associative and commutative, so sums merged in any order and grouping are equal. Parts of
/// an addend below the unit are rounded off (half to even), each addend by itself; every float32, and every sum of
/// float32 held in a double, is above it. Good for magnitudes up to 2^400 in all.
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

/// Many exact sums that grow together, each in two doubles for as long as these hold it.
class ExactSums {
 public:
  ExactSums() = default;
  explicit ExactSums(size_t count) : high_(count), low_(count) {}

  size_t size() const { return high_.size(); }
  /// To each its own; finite.
  void add(std::span<const double> addends);
  void add(const ExactSums& other);
  void add(size_t index, const ExactSum& other);
  ExactSum sum(size_t index) const;

 private:
  void add_one(size_t index, double x);

  std::vector<double> high_, low_;
  std::vector<ExactSum> rest_;  // what did not fit; empty while all did
};

}  // namespace tersor::calibrate
