// SPDX-License-Identifier: Apache-2.0
// The errors by which ranges are compared, from their definitions in plain loops and not by the code under test. Values
// are rounded as the reference rounds them: counted from the lower end of the range.
#pragma once

#include <vector>

#include "core/quant/even_bins.h"
#include "core/quant/params.h"

namespace tersor::vectors {

/// Distribution divided by its sum, empty entries filled.
std::vector<double> smoothed(std::vector<double> x);

/// A quantizer as the reference states it.
struct PlainQuantizer {
  quant::QuantizationMethod method;
  quant::IntegerGrid grid;
  quant::Range range;

  /// Distance of neighbours, and the least value.
  double step() const;
  double low() const;
  double operator()(double x) const;
};

double plain_error(const std::vector<double>& values, const std::vector<double>& weights,
                   const PlainQuantizer& quantizer, int p);
/// At bin centres.
double plain_error(const quant::EvenBins& bins, const PlainQuantizer& quantizer, int p);
double plain_divergence(const quant::EvenBins& bins, const quant::Range& range, const PlainQuantizer& quantizer);

}  // namespace tersor::vectors
