// SPDX-License-Identifier: Apache-2.0
// What the integer operators share: reading their parameters from a node's constants, and handing tensors to the
// kernels.
#pragma once

#include <limits>
#include <vector>

#include "core/ops/op.h"
#include "core/simulate/arithmetic.h"
#include "core/simulate/pair_saturation.h"
#include "core/simulate/profile.h"

namespace tersor::simulate {

// What kernels are made of, which each file here writes often.
using ops::Call;
using ops::Form;
using ops::Input;
using ops::Layout;
using ops::Output;
using ops::Setup;
using ops::TensorType;

/// Scale at input `k` and zero point at input `k + 1`, both constant scalars.
Grid grid_at(const ops::Setup& setup, size_t scale, size_t zero_point);
inline Grid grid_at(const ops::Setup& setup, size_t scale) {
  return grid_at(setup, scale, scale + 1);
}

/// The constant at input `k`. Error kUnsupportedModel naming `role` when it is none.
const Tensor& constant_at(const ops::Setup& setup, size_t k, const char* role);

/// uint8 or int8.
inline bool is_code(DType dtype) {
  return dtype == DType::kUint8 || dtype == DType::kInt8;
}

/// Error kInvalidModel unless every scale is a float32 above 0, and finite.
void check_scales(const Tensor& scales);

/// The elements of an integer tensor, as int32.
std::vector<int32_t> numbers_of(const Tensor& tensor);

// Of parameters that a kernel reads in infer() and run(), constant or not.

/// The position of an input that the operator does not have.
constexpr size_t kNoInput = std::numeric_limits<size_t>::max();

inline bool has(std::span<const ops::Input> inputs, size_t k) {
  return k < inputs.size() && inputs[k].present();
}

/// Error kInvalidModel unless input `k` is absent or of one of `types`, with one element or `most`.
void check_parameter(std::span<const ops::Input> inputs, size_t k, std::initializer_list<DType> types, int64_t most,
                     std::string_view name);
/// The scales at input `k`. Error kInvalidModel unless they are above 0 and finite.
std::span<const float> scales_of(std::span<const ops::Input> inputs, size_t k);
/// The 8-bit zero points at input `k`; none where it is absent.
std::vector<int32_t> codes_of(std::span<const ops::Input> inputs, size_t k);
/// The first of them, or 0.
int32_t first_code(std::span<const ops::Input> inputs, size_t k);

inline std::span<const uint8_t> raw_bytes(const ops::Input& input) {
  return {reinterpret_cast<const uint8_t*>(input.data), static_cast<size_t>(input.elements())};
}
inline std::span<uint8_t> raw_bytes(const ops::Output& output) {
  return {reinterpret_cast<uint8_t*>(output.data), static_cast<size_t>(output.elements())};
}

inline DType dtype_of_grid(const Grid& grid) {
  return grid.is_signed ? DType::kInt8 : DType::kUint8;
}

/// Error kInvalidModel unless the node names the inputs `needed`.
void require_present(const ops::Setup& setup, std::initializer_list<size_t> needed);

/// Refuses an input that is not of the grid's type.
void check_type(const ops::Input& input, const Grid& grid);

/// They are counted where the node has an output for it.
inline Pairs pairs_of(const Node& node, Profile profile) {
  if (profile == Profile::kAvx2) return Pairs::kSaturating;
  return node.outputs.size() > 1 ? Pairs::kCounted : Pairs::kExact;
}
/// Output 1 of the operators whose pairs of products may saturate: in how many sums one does, and the number of sums.
inline ops::TensorType saturation_type() {
  return {DType::kInt64, Shape{2}, ops::Layout::kPlain};
}
void give_saturation(const ops::Call& call, int64_t saturated);

using PrepareFunction = std::unique_ptr<const ops::Kernel> (*)(ops::Setup&, Profile);

std::unique_ptr<const ops::Kernel> prepare_qlinear_conv(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_qlinear_matmul(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_matmul_integer_to_float(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_dynamic_quantize_matmul(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_matmul_integer(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_conv_integer(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_dynamic_quantize_linear(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_qgemm(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_qlinear_add(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_qlinear_mul(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_qlinear_sigmoid(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_qlinear_leaky_relu(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_qlinear_softmax(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_qlinear_concat(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_qlinear_where(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_qlinear_average_pool(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_qlinear_global_average_pool(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_integer_max_pool(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_sigmoid(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_tanh(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_softmax(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_quantize_linear(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_resize(ops::Setup& setup, Profile profile);
std::unique_ptr<const ops::Kernel> prepare_matmul_nbits(ops::Setup& setup, Profile profile);

}  // namespace tersor::simulate
