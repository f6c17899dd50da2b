// SPDX-License-Identifier: Apache-2.0
// Times the choice of an activation's range, in milliseconds per tensor: every method and quantizer at some widths,
// over the counts of a bell, of its positive side and of long tails. Natively, or in Node on the WebAssembly build.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

#include "core/quant/lut_quantizer.h"
#include "core/quant/quantizer.h"
#include "core/quant/threshold_search.h"

using namespace tersor;
using namespace tersor::quant;

namespace {

std::vector<Histogram> tensors() {
  std::vector<float> bell, positive, tails;
  uint32_t state = 1;
  const auto next = [&state] { return (state = 1664525u * state + 1013904223u) / 4294967296.0; };
  for (int i = 0; i < 200000; ++i) {
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += next();
    bell.push_back(static_cast<float>(sum));
    positive.push_back(sum > 0 ? static_cast<float>(sum) : 0.0f);
    tails.push_back(static_cast<float>(sum * sum * sum));
  }
  std::vector<Histogram> made(3);
  made[0].add(bell), made[1].add(positive), made[2].add(tails);
  return made;
}

template <class Work>
double milliseconds(Work&& work) {
  // The time of the process, for others may run beside it; WebAssembly's counts whole milliseconds.
  constexpr int kRounds = 9, kRuns = 16;
  double least = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const std::clock_t start = std::clock();
    for (int run = 0; run < kRuns; ++run) work();
    least = std::min(least, 1e3 / kRuns * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

}  // namespace

int main() {
  const std::vector<Histogram> histograms = tensors();
  double sink = 0;
  for (const ThresholdSelectionMethod by : activation_selection_methods())
    for (const QuantizationMethod method : acting_methods()) {
      std::printf("%-13.13s %-13.13s", enum_word(by).data(), enum_word(method).data());
      for (const int n_bits : {4, 8, 12, 16}) {
        double most = 0;
        for (const Histogram& histogram : histograms) {
          const IntegerGrid grid{n_bits, method != QuantizationMethod::kUniform && histogram.min() < 0, false};
          most = std::max(most, milliseconds([&] {
                            sink += select_activation_range(histogram, method, grid, {by, 4}).range.high;
                          }));
        }
        std::printf("  %d bits %6.2f ms", n_bits, most);
      }
      std::printf("\n");
    }
  for (const int n_bits : {2, 4, 7})
    std::printf("LUT_POT_QUANTIZER %d bits %6.2f ms\n", n_bits, milliseconds([&] {
                  sink += choose_lut_activation_params(bins_of(histograms[0]), QuantizationMethod::kLutPotQuantizer,
                                                       n_bits, true, 8, Criterion{})
                              .expected_sqnr_db;
                }));
  return sink == 0 ? 1 : 0;
}
