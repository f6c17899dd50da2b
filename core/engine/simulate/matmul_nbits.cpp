// SPDX-License-Identifier: Apache-2.0
// com.microsoft MatMulNBits: a float matrix times a constant one of 2, 4 or 8 bits, quantized in blocks along its rows.
// At accuracy level 4 the native builds quantize each block of the float row to int8 first (onnxruntime
// core/mlas/lib/sqnbitgemm*.cpp); the order of their float sums is not known, so the last bits may differ.
#include <cmath>

#include "core/ops/refuse.h"
#include "core/simulate/operator_parts.h"

namespace tersor::simulate {

namespace {

constexpr int64_t kInt8Activations = 4;  // the accuracy level

/// Code `at` of codes of `bits` bits, low bits first.
int32_t code_at(std::span<const std::byte> bytes, size_t at, size_t bits) {
  const size_t per_byte = 8 / bits;
  return static_cast<int32_t>(bytes[at / per_byte]) >> (at % per_byte * bits) & ((1 << bits) - 1);
}

class MatMulNBits : public ops::Kernel {
 public:
  MatMulNBits(Setup& setup, Profile profile)
      : depth_(setup.node.int_or("K", 0)),
        columns_(setup.node.int_or("N", 0)),
        block_(setup.node.int_or("block_size", 0)),
        int8_activations_(setup.node.int_or("accuracy_level", 0) == kInt8Activations && profile != Profile::kWasm) {
    const int64_t bits = setup.node.int_or("bits", 4);
    if (bits != 2 && bits != 4 && bits != 8)
      ops::unsupported("The attribute bits is " + std::to_string(bits) + "; 2, 4 and 8 are done here.");
    const auto size = [](int64_t n) { return n >= 1 && n < (int64_t{1} << 31); };
    if (!size(depth_) || !size(columns_) || block_ < 16 || block_ > (1 << 20) || (block_ & (block_ - 1)) != 0)
      ops::invalid("The attributes K, N and block_size are " + std::to_string(depth_) + ", " +
                       std::to_string(columns_) + " and " + std::to_string(block_) + ".",
                   "K and N are the sizes of the weight; blocks are powers of two from 16.");
    if (setup.has_input(4)) ops::unsupported("Rows in another order (g_idx) are not supported.");
    blocks_ = (depth_ + block_ - 1) / block_;
    read_weights(setup, static_cast<size_t>(bits));
    for (size_t k : {1u, 2u, 3u}) setup.absorb(k);
  }

  std::vector<ops::TensorType> infer(std::span<const Input> inputs) const override {
    ops::require_type(inputs[0], {DType::kFloat32}, "A");
    const Shape& a = inputs[0].shape();
    if (a.rank() < 1 || a[a.rank() - 1] != depth_)
      ops::invalid("A has the shape " + a.text() + "; its rows need " + std::to_string(depth_) + " elements.");
    check_parameter(inputs, 5, {DType::kFloat32}, columns_, "bias");
    std::vector<int64_t> dims = a.dims();
    dims.back() = columns_;
    return {{DType::kFloat32, Shape(dims)}};
  }

  int64_t scratch_bytes(std::span<const Input>, std::span<const ops::TensorType>) const override {
    return (blocks_ * block_ + blocks_) * static_cast<int64_t>(sizeof(float));
  }
  int64_t macs(std::span<const Input>, std::span<const ops::TensorType> outputs) const override {
    return outputs[0].shape.elements() * depth_;
  }

  void run(const ops::Call& call) const override {
    const auto depth = static_cast<size_t>(depth_), columns = static_cast<size_t>(columns_),
               padded = static_cast<size_t>(blocks_ * block_);
    const auto a = call.inputs[0].values<float>();
    const auto y = call.outputs[0].values<float>();
    const std::span<float> row(reinterpret_cast<float*>(call.scratch.data()), padded);
    const std::span<float> scales(row.data() + padded, static_cast<size_t>(blocks_));
    for (size_t m = 0; m * depth < a.size(); ++m) {
      std::fill(row.begin(), row.end(), 0.0f);
      std::copy_n(a.begin() + static_cast<std::ptrdiff_t>(m * depth), depth, row.begin());
      prepare_row(row, scales);
      for (size_t n = 0; n < columns; ++n) y[m * columns + n] = dot(row, scales, n) + bias_at(call.inputs, n);
    }
  }

 private:
  void read_weights(const Setup& setup, size_t bits) {
    const Tensor &b = constant_at(setup, 1, "weight"), &scales = constant_at(setup, 2, "scale");
    if (b.dtype() != DType::kUint8)
      ops::unsupported("The weight is " + std::string(name_of(b.dtype())) + ", not uint8.");
    const auto blob = static_cast<size_t>(block_) * bits / 8, count = static_cast<size_t>(columns_ * blocks_);
    if (b.bytes().size() != count * blob || static_cast<size_t>(scales.elements()) != count)
      ops::invalid("The weight has the shape " + b.shape().text() + " and the scale " + scales.shape().text() + "; " +
                   std::to_string(columns_) + " columns of " + std::to_string(blocks_) + " blocks of " +
                   std::to_string(blob) + " bytes are needed.");
    // Below 0 they turn the grid, and a block of zeros may have 0.
    if (scales.dtype() != DType::kFloat32)
      ops::unsupported("A scale is " + std::string(name_of(scales.dtype())) + ", not float32.");
    const Tensor aligned = scales.aligned();
    scales_.assign(aligned.data<float>().begin(), aligned.data<float>().end());
    for (const float scale : scales_)
      if (!std::isfinite(scale)) ops::invalid("A scale is " + std::to_string(scale) + ".", "Quantize the model again.");
    const std::vector<float> zero_points = read_zero_points(setup, bits);
    numbers_.resize(count * static_cast<size_t>(block_));
    for (size_t k = 0; k < numbers_.size(); ++k)
      numbers_[k] = static_cast<float>(code_at(b.bytes(), k, bits)) - zero_points[k / static_cast<size_t>(block_)];
  }

  /// One for each block: 2^(bits - 1) where none are given; packed codes, column by column, or floats.
  std::vector<float> read_zero_points(const Setup& setup, size_t bits) const {
    const auto blocks = static_cast<size_t>(blocks_), count = static_cast<size_t>(columns_) * blocks;
    if (!setup.has_input(3)) return std::vector<float>(count, static_cast<float>(1 << (bits - 1)));
    const Tensor zero_points = constant_at(setup, 3, "zero point").aligned();
    if (zero_points.dtype() == DType::kFloat32 && static_cast<size_t>(zero_points.elements()) == count)
      return {zero_points.data<float>().begin(), zero_points.data<float>().end()};
    const size_t column_bytes = (blocks * bits + 7) / 8;
    if (zero_points.dtype() != DType::kUint8 ||
        zero_points.bytes().size() != static_cast<size_t>(columns_) * column_bytes)
      ops::invalid("The zero point is " + std::string(name_of(zero_points.dtype())) + " of shape " +
                   zero_points.shape().text() + ", which does not fit the blocks.");
    std::vector<float> numbers;
    for (size_t k = 0; k < count; ++k)
      numbers.push_back(static_cast<float>(
          code_at(zero_points.bytes().subspan(k / blocks * column_bytes, column_bytes), k % blocks, bits)));
    return numbers;
  }

  /// Quantizes each block to int8, where the runtime does; scales[b] is then its step, and 1 else.
  void prepare_row(std::span<float> row, std::span<float> scales) const {
    std::fill(scales.begin(), scales.end(), 1.0f);
    if (!int8_activations_) return;
    const auto block = static_cast<size_t>(block_);
    for (size_t b = 0; b < scales.size(); ++b) {
      float most = 0;
      for (float value : row.subspan(b * block, block)) most = std::max(most, std::fabs(value));
      scales[b] = most / 127.0f;
      const float inverse = most == 0 ? 0.0f : 127.0f / most;
      for (float& value : row.subspan(b * block, block)) value = round_half_even(value * inverse);
    }
  }

  float dot(std::span<const float> row, std::span<const float> row_scales, size_t column) const {
    const auto block = static_cast<size_t>(block_);
    const size_t first = column * row_scales.size();
    float sum = 0;
    for (size_t b = 0; b < row_scales.size(); ++b) {
      const float* w = numbers_.data() + (first + b) * block;
      const float* x = row.data() + b * block;
      float part = 0;
      for (size_t k = 0; k < block; ++k) part += x[k] * w[k];
      sum += part * (row_scales[b] * scales_[first + b]);
    }
    return sum;
  }

  float bias_at(std::span<const Input> inputs, size_t column) const {
    if (inputs.size() < 6 || !inputs[5].present()) return 0;
    const auto bias = inputs[5].values<float>();
    return bias[bias.size() == 1 ? 0 : column];
  }

  int64_t depth_, columns_, block_, blocks_ = 0;
  bool int8_activations_;
  std::vector<float> numbers_;  // code - zero point, [column][block][number]
  std::vector<float> scales_;   // [column][block]
};

}  // namespace

std::unique_ptr<const ops::Kernel> prepare_matmul_nbits(Setup& setup, Profile profile) {
  ops::require_inputs(setup, 3, 6);
  return std::make_unique<MatMulNBits>(setup, profile);
}

}  // namespace tersor::simulate
