// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms of any length, in double and in one order on every target.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tersor::kernels {

/// cos and sin of 2 pi k / n for any whole k and n of 1 or more, within 2 units in the last place.
std::complex<double> direction(int64_t k, int64_t n);

/// The transform of one length: X[k] = sum over t of x[t] e^(-2 pi i k t / n), or with e^(+...) and divided by n where
/// `inverse`. It splits the length into its prime factors (Cooley and Tukey, 1965), so it takes n (p1 + p2 + ...)
/// steps.
class Fourier {
 public:
  Fourier(size_t n, bool inverse);

  size_t length() const { return turns_.size(); }
  /// `work` holds as many numbers as `x`, which is overwritten by its transform.
  void run(std::complex<double>* x, std::complex<double>* work) const;

 private:
  void transform(const std::complex<double>* x, size_t step, size_t n, size_t factor_index, std::complex<double>* y,
                 std::complex<double>* work) const;

  bool inverse_;
  std::vector<size_t> factors_;              // ascending primes
  std::vector<std::complex<double>> turns_;  // e^(-+2 pi i k / n)
};

}  // namespace tersor::kernels
