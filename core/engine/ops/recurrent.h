// SPDX-License-Identifier: Apache-2.0
// What LSTM, GRU and RNN have in common: the walk over directions and time steps, the products with the input and
// recurrent weights, and everything about shapes. An operator adds what one step does with the products.
//
// With T steps, N samples, I inputs, H hidden units, D directions and G gates (the attribute layout moves N to the
// front of X, Y and the states):
//   X [T, N, I]   W [D, G H, I]   R [D, G H, H]   B [D, 2 G H]   sequence_lens [N]   initial_h, initial_c [D, N, H]
//   P [D, 3 H]    Y [T, D, N, H]  Y_h, Y_c [D, N, H]
#pragma once

#include <limits>
#include <vector>

#include "core/kernels/gemm.h"
#include "core/ops/activation.h"

namespace tersor::ops {

/// The weights of one direction, laid out for products.
struct RecurrentWeights {
  kernels::Panels input;   // W of all gates
  kernels::Panels first;   // R of the gates whose products with the state are taken first
  kernels::Panels second;  // R of the last gate where it waits for the others (GRU)
};

/// One time step of the samples that are not at their end.
struct RecurrentStep {
  int64_t direction;
  int64_t hidden;
  int64_t count;                    // of samples
  const RecurrentWeights* weights;  // of the direction
  const float* const* x;            // per sample: G H products of its input with W, the bias added
  float* const* h;                  // per sample: H numbers of the state; the step replaces them
  float* const* c;                  // the same for the cell of an LSTM
  float* products;                  // room for G H numbers per sample
  float* const* more;               // per sample: room for H numbers
  const float* late_bias;           // H numbers or none: what a GRU adds before it resets
  const float* peepholes;           // 3 H numbers or none
};

class Recurrent : public Kernel {
 public:
  std::vector<TensorType> infer(std::span<const Input> inputs) const override;
  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType> outputs) const override;
  int64_t macs(std::span<const Input> inputs, std::span<const TensorType> outputs) const override;
  void run(const Call& call) const override;

 protected:
  /// What distinguishes one operator from another, besides its step.
  struct Rule {
    int64_t gates;
    int64_t first_gates;                        // whose products with the state are taken first
    bool has_cell;                              // an LSTM's further inputs and output
    bool has_late_bias;                         // the recurrent bias of the last gate stays apart
    std::vector<std::string_view> activations;  // of one direction
  };

  Recurrent(Setup& setup, Rule rule);

  virtual void step(const RecurrentStep& step) const = 0;

  /// Cuts `n` numbers to the range of the attribute clip and applies function `index` of the direction.
  void activate(int64_t direction, size_t index, float* x, int64_t n) const;
  /// The function alone.
  void apply(int64_t direction, size_t index, float* x, int64_t n) const;

 private:
  struct Sizes {
    int64_t steps, samples, inputs, hidden;
  };
  class Walk;

  Sizes sizes(std::span<const Input> inputs) const;
  void check_shape(std::span<const Input> inputs, size_t k, const Shape& wanted, std::string_view name) const;
  Shape state_shape(const Sizes& s) const;
  kernels::Panels pack_input(const Shape& shape, const float* w, int64_t direction) const;
  void pack_recurrent(const Shape& shape, const float* r, int64_t direction, RecurrentWeights& to) const;

  Rule rule_;
  int64_t directions_ = 1;
  bool first_is_reverse_ = false;
  bool samples_first_ = false;
  std::optional<int64_t> hidden_size_;
  float clip_ = std::numeric_limits<float>::infinity();
  std::vector<Activation> activations_;
  std::vector<RecurrentWeights> packed_;  // per direction; a part is empty where its weight is no constant
};

}  // namespace tersor::ops
