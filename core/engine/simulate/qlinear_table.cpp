// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/qlinear_table.h"

#include "core/kernels/runtime_functions.h"

namespace tersor::simulate {

namespace {

template <class Function>
Table table_of(const Grid& x, const Grid& y, const Function& function) {
  Table table;
  for (size_t raw = 0; raw < table.size(); ++raw)
    table[raw] = quantize(function(dequantize(static_cast<uint8_t>(raw), x)), y);
  return table;
}

}  // namespace

Table sigmoid_table(const Grid& x, const Grid& y, Profile profile) {
  return table_of(x, y, [&](float value) {
    kernels::runtime_sigmoid(&value, 1, fuses(profile), &value);
    return value;
  });
}

Table leaky_relu_table(const Grid& x, const Grid& y, float alpha) {
  return table_of(x, y, [&](float value) { return value >= 0 ? value : alpha * value; });
}

Table requantize_table(const Grid& x, const Grid& y) {
  Table table;
  for (size_t raw = 0; raw < table.size(); ++raw)
    table[raw] = x == y ? static_cast<uint8_t>(raw) : quantize(dequantize(static_cast<uint8_t>(raw), x), y);
  return table;
}

}  // namespace tersor::simulate
