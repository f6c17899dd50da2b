// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/qlinear_table.h"

#include <initializer_list>

namespace tersor::simulate {

namespace {

float step(float accumulator, float t, float coefficient, bool fused) {
  return fused ? fma_once(accumulator, t, coefficient) : accumulator * t + coefficient;
}

float horner(float t, bool fused, std::initializer_list<float> coefficients) {
  float value = 0;
  bool first = true;
  for (float coefficient : coefficients) {
    value = first ? coefficient : step(value, t, coefficient, fused);
    first = false;
  }
  return value;
}

bool fuses(Profile profile) {
  return profile != Profile::kWasm;
}

template <class Function>
Table table_of(const Grid& x, const Grid& y, const Function& function) {
  Table table;
  for (size_t raw = 0; raw < table.size(); ++raw)
    table[raw] = quantize(function(dequantize(static_cast<uint8_t>(raw), x)), y);
  return table;
}

}  // namespace

float runtime_sigmoid(float x, Profile profile) {
  const bool fused = fuses(profile);
  x = std::min(std::max(x, -18.0f), 18.0f);
  const float t = x * x;
  const float p = horner(t, fused,
                         {4.37031012579801e-11f, 1.15627324459942e-07f, 6.08574864600143e-05f, 8.51377133304701e-03f,
                          2.48287947061529e-01f}) *
                  x;
  const float q = horner(t, fused,
                         {6.10247389755681e-13f, 5.76102136993427e-09f, 6.29106785017040e-06f, 1.70198817374094e-03f,
                          1.16817656904453e-01f, 9.93151921023180e-01f});
  return std::min(std::max(p / q + 0.5f, 0.0f), 1.0f);
}

float runtime_tanh(float x, Profile profile) {
  const bool fused = fuses(profile);
  x = std::min(std::max(x, -9.0f), 9.0f);
  const float t = x * x;
  const float p = horner(t, fused,
                         {-2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
                          1.48572235717979e-05f, 6.37261928875436e-04f, 4.89352455891786e-03f}) *
                  x;
  const float q =
      horner(t, fused, {1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f});
  return p / q;
}

Table sigmoid_table(const Grid& x, const Grid& y, Profile profile) {
  return table_of(x, y, [&](float value) { return runtime_sigmoid(value, profile); });
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
