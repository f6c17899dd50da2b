// SPDX-License-Identifier: Apache-2.0
#include "core/ops/recurrent.h"

#include <algorithm>
#include <cstring>

#include "core/kernels/elementwise.h"
#include "core/ops/refuse.h"

namespace tersor::ops {

namespace {

enum Slot : size_t { kX, kW, kR, kB, kSequenceLens, kInitialH, kInitialC, kP };

const float* floats_of(std::span<const Input> inputs, size_t k) {
  return is_present(inputs, k) ? inputs[k].values<float>().data() : nullptr;
}

const Tensor* weight(const Setup& setup, size_t k) {
  const Tensor* tensor = setup.constant(k);
  const bool fits = tensor != nullptr && tensor->dtype() == DType::kFloat32 && tensor->shape().rank() == 3;
  return fits && tensor->elements() > 0 ? tensor : nullptr;
}

/// The scratch memory, handed out piece by piece; with no memory it only counts.
class Room {
 public:
  explicit Room(std::byte* memory) : memory_(reinterpret_cast<float*>(memory)) {}
  /// Error kInvalidModel where the product of `dims` is beyond all memory.
  float* take(std::initializer_list<int64_t> dims) {
    float* piece = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += (Shape(dims).elements() + 15) / 16 * 16;
    return piece;
  }
  int64_t bytes() const { return used_ * 4; }

 private:
  float* memory_;
  int64_t used_ = 0;
};

}  // namespace

Recurrent::Recurrent(Setup& setup, Rule rule) : rule_(std::move(rule)) {
  require_inputs(setup, 3, rule_.has_cell ? 8 : 6);
  const std::string direction = setup.node.string_or("direction", "forward");
  if (direction == "bidirectional")
    directions_ = 2;
  else if (direction == "reverse")
    first_is_reverse_ = true;
  else if (direction != "forward")
    invalid("The attribute direction is \"" + direction + "\"; it must be forward, reverse or bidirectional.");
  const int64_t layout = setup.node.int_or("layout", 0);
  if (layout != 0 && layout != 1) invalid("The attribute layout is " + std::to_string(layout) + "; it must be 0 or 1.");
  samples_first_ = layout == 1;
  if (const auto* hidden = setup.node.attribute<int64_t>("hidden_size")) hidden_size_ = *hidden;
  if (const auto* clip = setup.node.attribute<float>("clip"); clip != nullptr && *clip > 0) clip_ = *clip;
  activations_ = activations_of(setup, directions_, rule_.activations);
  packed_.resize(static_cast<size_t>(directions_));
  const auto for_each_direction = [&](const Tensor* tensor, size_t slot, auto pack) {
    if (tensor == nullptr || tensor->shape()[0] != directions_) return;
    const Tensor aligned = tensor->aligned();
    for (int64_t d = 0; d < directions_; ++d) pack(aligned.data<float>().data(), d);
    setup.absorb(slot);
  };
  const Tensor *w = weight(setup, kW), *r = weight(setup, kR);
  for_each_direction(w, kW, [&](const float* values, int64_t d) {
    packed_[static_cast<size_t>(d)].input = pack_input(w->shape(), values, d);
  });
  if (r != nullptr && r->shape()[1] == rule_.gates * r->shape()[2])
    for_each_direction(r, kR, [&](const float* values, int64_t d) {
      pack_recurrent(r->shape(), values, d, packed_[static_cast<size_t>(d)]);
    });
}

kernels::Panels Recurrent::pack_input(const Shape& shape, const float* w, int64_t direction) const {
  return kernels::pack_matrix(w + direction * shape[1] * shape[2], shape[2], shape[1], true);
}

void Recurrent::pack_recurrent(const Shape& shape, const float* r, int64_t direction, RecurrentWeights& to) const {
  const int64_t hidden = shape[2], first = rule_.first_gates * hidden;
  const float* matrix = r + direction * shape[1] * hidden;
  to.first = kernels::pack_matrix(matrix, hidden, first, true);
  if (first < shape[1]) to.second = kernels::pack_matrix(matrix + first * hidden, hidden, shape[1] - first, true);
}

void Recurrent::check_shape(std::span<const Input> inputs, size_t k, const Shape& wanted, std::string_view name) const {
  if (!is_present(inputs, k)) return;
  require_type(inputs[k], {k == kSequenceLens ? DType::kInt32 : DType::kFloat32}, name);
  if (inputs[k].shape() == wanted) return;
  invalid("The input " + std::string(name) + " has the shape " + inputs[k].shape().text() +
          "; the other inputs ask for " + wanted.text() + ".");
}

Shape Recurrent::state_shape(const Sizes& s) const {
  return samples_first_ ? Shape{s.samples, directions_, s.hidden} : Shape{directions_, s.samples, s.hidden};
}

Recurrent::Sizes Recurrent::sizes(std::span<const Input> inputs) const {
  require_type(inputs[kX], {DType::kFloat32}, "X");
  require_rank(inputs[kX], 3, "X");
  require_rank(inputs[kR], 3, "R");
  const Shape& x = inputs[kX].shape();
  const Sizes s{x[samples_first_ ? 1 : 0], x[samples_first_ ? 0 : 1], x[2], inputs[kR].shape()[2]};
  if (s.hidden == 0) invalid("The input R has the shape " + inputs[kR].shape().text() + ", which has no hidden units.");
  if (hidden_size_ && *hidden_size_ != s.hidden)
    invalid("The attribute hidden_size is " + std::to_string(*hidden_size_) + "; the input R is for " +
            std::to_string(s.hidden) + ".");
  // The type of R first: its hidden size is bounded by its memory only when the rest of its shape fits.
  if (inputs[kR].shape()[1] % rule_.gates != 0 || inputs[kR].shape()[1] / rule_.gates != s.hidden)
    invalid("The input R has the shape " + inputs[kR].shape().text() + "; its second axis must be " +
            std::to_string(rule_.gates) + " times its third.");
  const int64_t all = rule_.gates * s.hidden;
  check_shape(inputs, kR, Shape{directions_, all, s.hidden}, "R");
  check_shape(inputs, kW, Shape{directions_, all, s.inputs}, "W");
  check_shape(inputs, kB, Shape{directions_, 2 * all}, "B");
  check_shape(inputs, kSequenceLens, Shape{s.samples}, "sequence_lens");
  check_shape(inputs, kInitialH, state_shape(s), "initial_h");
  check_shape(inputs, kInitialC, state_shape(s), "initial_c");
  check_shape(inputs, kP, Shape{directions_, 3 * s.hidden}, "P");
  return s;
}

std::vector<TensorType> Recurrent::infer(std::span<const Input> inputs) const {
  const Sizes s = sizes(inputs);
  const Shape y = samples_first_ ? Shape{s.samples, s.steps, directions_, s.hidden}
                                 : Shape{s.steps, directions_, s.samples, s.hidden};
  const TensorType state{DType::kFloat32, state_shape(s), Layout::kPlain};
  std::vector<TensorType> types{{DType::kFloat32, y, Layout::kPlain}, state};
  if (rule_.has_cell) types.push_back(state);
  return types;
}

int64_t Recurrent::macs(std::span<const Input> inputs, std::span<const TensorType>) const {
  const Sizes s = sizes(inputs);
  return s.steps * s.samples * directions_ * rule_.gates * s.hidden * (s.inputs + s.hidden);
}

void Recurrent::activate(int64_t direction, size_t index, float* x, int64_t n) const {
  if (clip_ < std::numeric_limits<float>::infinity()) kernels::clamp(x, static_cast<size_t>(n), {-clip_, clip_}, x);
  apply(direction, index, x, n);
}

void Recurrent::apply(int64_t direction, size_t index, float* x, int64_t n) const {
  activations_[static_cast<size_t>(direction) * rule_.activations.size() + index].apply(x, static_cast<size_t>(n));
}

/// One run: where everything lies, and the loops.
class Recurrent::Walk {
 public:
  Walk(const Recurrent& of, const Sizes& sizes, std::byte* scratch) : of_(of), s_(sizes), room_(scratch) {
    const int64_t all = of.rule_.gates * s_.hidden;
    products_of_x_ = room_.take({s_.steps, s_.samples, all});
    bias_ = room_.take({all + s_.hidden});
    products_ = room_.take({s_.samples, all});
    more_ = room_.take({s_.samples, s_.hidden});
    h_ = room_.take({s_.samples, s_.hidden});
    c_ = room_.take({s_.samples, s_.hidden});
  }

  int64_t bytes() const { return room_.bytes(); }

  void run(const Call& call) {
    read_lengths(call.inputs);
    if (has(call, 0) && is_present(call.inputs, kSequenceLens)) {
      const auto y = call.outputs[0].values<float>();
      std::fill(y.begin(), y.end(), 0.0f);
    }
    for (int64_t d = 0; d < of_.directions_; ++d) run_direction(call, d);
  }

 private:
  static bool has(const Call& call, size_t k) { return k < call.outputs.size() && call.outputs[k].present(); }

  void read_lengths(std::span<const Input> inputs) {
    lengths_.assign(static_cast<size_t>(s_.samples), s_.steps);
    if (!is_present(inputs, kSequenceLens)) return;
    lengths_ = integers_of(inputs[kSequenceLens], "sequence_lens");
    for (const int64_t length : lengths_)
      if (length < 0 || length > s_.steps)
        invalid("The input sequence_lens has the length " + std::to_string(length) + "; X has " +
                std::to_string(s_.steps) + " steps.");
  }

  /// The bias of the products with X (all of it but what comes late), or none.
  const float* add_biases(const Call& call, int64_t d, const float*& late) {
    const float* b = floats_of(call.inputs, kB);
    late = nullptr;
    if (b == nullptr) return nullptr;
    const int64_t all = of_.rule_.gates * s_.hidden, early = of_.rule_.has_late_bias ? all - s_.hidden : all;
    const float *of_w = b + d * 2 * all, *of_r = of_w + all;
    for (int64_t k = 0; k < all; ++k) bias_[k] = k < early ? of_w[k] + of_r[k] : of_w[k];
    if (early < all) late = static_cast<float*>(std::memcpy(bias_ + all, of_r + early, bytes_of_state()));
    return bias_;
  }

  size_t bytes_of_state() const { return static_cast<size_t>(s_.hidden) * sizeof(float); }
  int64_t row_of_x(int64_t t, int64_t n) const { return of_.samples_first_ ? n * s_.steps + t : t * s_.samples + n; }
  int64_t state_at(int64_t d, int64_t n) const {
    return (of_.samples_first_ ? n * of_.directions_ + d : d * s_.samples + n) * s_.hidden;
  }
  int64_t y_at(int64_t t, int64_t d, int64_t n) const {
    const int64_t row =
        of_.samples_first_ ? (n * s_.steps + t) * of_.directions_ + d : (t * of_.directions_ + d) * s_.samples + n;
    return row * s_.hidden;
  }

  void load_state(const float* from, int64_t d, float* to) const {
    for (int64_t n = 0; n < s_.samples; ++n) {
      if (from == nullptr)
        std::memset(to + n * s_.hidden, 0, bytes_of_state());
      else
        std::memcpy(to + n * s_.hidden, from + state_at(d, n), bytes_of_state());
    }
  }

  void store_state(const Call& call, size_t output, const float* from, int64_t d) const {
    if (!has(call, output)) return;
    float* to = call.outputs[output].values<float>().data();
    for (int64_t n = 0; n < s_.samples; ++n) std::memcpy(to + state_at(d, n), from + n * s_.hidden, bytes_of_state());
  }

  RecurrentWeights weights_of(const Call& call, int64_t d) const {
    RecurrentWeights weights = of_.packed_[static_cast<size_t>(d)];
    if (weights.input.empty())
      weights.input = of_.pack_input(call.inputs[kW].shape(), call.inputs[kW].values<float>().data(), d);
    if (weights.first.empty())
      of_.pack_recurrent(call.inputs[kR].shape(), call.inputs[kR].values<float>().data(), d, weights);
    return weights;
  }

  void run_direction(const Call& call, int64_t d) {
    const RecurrentWeights weights = weights_of(call, d);
    const float* late = nullptr;
    kernels::Epilogue epilogue;
    epilogue.bias = add_biases(call, d, late);
    kernels::gemm(call.inputs[kX].values<float>().data(), s_.steps * s_.samples, weights.input, epilogue,
                  products_of_x_);
    load_state(floats_of(call.inputs, kInitialH), d, h_);
    load_state(floats_of(call.inputs, kInitialC), d, c_);
    RecurrentStep step{d, s_.hidden, 0, &weights, nullptr, nullptr, nullptr, products_, nullptr, late, nullptr};
    if (const float* p = floats_of(call.inputs, kP)) step.peepholes = p + d * 3 * s_.hidden;
    const int64_t last = lengths_.empty() ? 0 : *std::max_element(lengths_.begin(), lengths_.end());
    for (int64_t k = 0; k < last; ++k) run_step(call, step, k);
    store_state(call, 1, h_, d);
    if (of_.rule_.has_cell) store_state(call, 2, c_, d);
  }

  /// The k-th step of each sample that has one, from its own end where the direction is backwards.
  void run_step(const Call& call, RecurrentStep& step, int64_t k) {
    const bool backwards = of_.first_is_reverse_ || step.direction == 1;
    x_rows_.clear(), h_rows_.clear(), c_rows_.clear(), more_rows_.clear(), times_.clear();
    float* y = has(call, 0) ? call.outputs[0].values<float>().data() : nullptr;
    for (int64_t n = 0; n < s_.samples; ++n) {
      const int64_t length = lengths_[static_cast<size_t>(n)];
      if (k >= length) continue;
      const int64_t t = backwards ? length - 1 - k : k;
      x_rows_.push_back(products_of_x_ + row_of_x(t, n) * of_.rule_.gates * s_.hidden);
      more_rows_.push_back(more_ + static_cast<int64_t>(x_rows_.size() - 1) * s_.hidden);
      h_rows_.push_back(h_ + n * s_.hidden);
      c_rows_.push_back(c_ + n * s_.hidden);
      times_.push_back(y_at(t, step.direction, n));
    }
    step.count = static_cast<int64_t>(x_rows_.size());
    step.x = x_rows_.data(), step.h = h_rows_.data(), step.c = c_rows_.data(), step.more = more_rows_.data();
    of_.step(step);
    if (y == nullptr) return;
    for (size_t n = 0; n < times_.size(); ++n) std::memcpy(y + times_[n], h_rows_[n], bytes_of_state());
  }

  const Recurrent& of_;
  Sizes s_;
  Room room_;
  float *products_of_x_, *bias_, *products_, *more_, *h_, *c_;
  std::vector<int64_t> lengths_;  // of each sample
  std::vector<const float*> x_rows_;
  std::vector<float*> h_rows_, c_rows_, more_rows_;
  std::vector<int64_t> times_;  // where the state goes in Y
};

int64_t Recurrent::scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const {
  return Walk(*this, sizes(inputs), nullptr).bytes();
}

void Recurrent::run(const Call& call) const {
  Walk(*this, sizes(call.inputs), call.scratch.data()).run(call);
}

}  // namespace tersor::ops
