// SPDX-License-Identifier: Apache-2.0
// Einsum: the operands are joined two at a time from left to right, each pair as one batch of matrix products over the
// indices that nothing later needs.
#include <algorithm>
#include <array>
#include <utility>

#include "core/kernels/gemm.h"
#include "core/kernels/moments.h"
#include "core/ops/families.h"
#include "core/ops/refuse.h"
#include "core/ops/strided.h"

namespace tersor::ops {

namespace {

/// Letters are 0 ... 51, capitals first; the axes of an ellipsis follow, counted from the last one backwards.
using Labels = std::vector<int>;
constexpr int kLetters = 52, kMostAxes = 16;

int label_of(char letter) {
  return letter <= 'Z' ? letter - 'A' : letter - 'a' + 26;
}

bool has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// The equation "ij,jk->ik" in parts; an ellipsis reads as a dot.
struct Equation {
  std::vector<std::string> terms;
  std::optional<std::string> output;
};

Equation equation_of(const Setup& setup) {
  const auto* text = setup.node.attribute<std::string>("equation");
  if (text == nullptr) invalid("The attribute equation is missing.");
  const auto refuse = [&] { invalid("The equation \"" + *text + "\" cannot be read."); };
  Equation equation;
  std::string part;
  bool behind_arrow = false;
  for (size_t k = 0; k < text->size(); ++k) {
    const char c = (*text)[k];
    const auto ahead = [&](std::string_view word) { return text->compare(k, word.size(), word) == 0; };
    if (c == ' ') continue;
    if (ahead("...")) {
      if (part.find('.') != std::string::npos) refuse();
      part += '.';
      k += 2;
    } else if (ahead("->") && !behind_arrow) {
      equation.terms.push_back(std::exchange(part, {}));
      behind_arrow = true;
      ++k;
    } else if (c == ',' && !behind_arrow) {
      equation.terms.push_back(std::exchange(part, {}));
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      part += c;
    } else {
      refuse();
    }
  }
  if (behind_arrow)
    equation.output = part;
  else
    equation.terms.push_back(part);
  for (size_t k = 0; equation.output && k < part.size(); ++k)
    if (part.find(part[k], k + 1) != std::string::npos) refuse();
  return equation;
}

/// The labels of a term whose ellipsis stands for `dots` axes.
Labels labels_of(const std::string& term, int dots) {
  Labels labels;
  for (const char c : term) {
    if (c != '.') labels.push_back(label_of(c));
    for (int k = dots; c == '.' && k-- > 0;) labels.push_back(kLetters + k);
  }
  return labels;
}

/// An operand: row-major, with a label for each axis. No data while sizes are only being counted.
struct Operand {
  Labels labels;
  std::vector<int64_t> dims;
  const float* data = nullptr;
};

/// Runs an equation, or, without memory, only counts what it would take.
class Contraction {
 public:
  Contraction(const Equation& equation, std::span<const Input> inputs, float* memory) : memory_(memory) {
    int most = 0;
    for (size_t k = 0; k < inputs.size(); ++k) {
      const std::string& term = equation.terms[k];
      const bool dotted = term.find('.') != std::string::npos;
      const int rank = inputs[k].shape().rank(), dots = rank - static_cast<int>(term.size()) + (dotted ? 1 : 0);
      if (dots < 0 || dots > kMostAxes || (!dotted && dots != 0))
        invalid("The input " + std::to_string(k) + " has the shape " + inputs[k].shape().text() +
                ", which does not fit the term \"" + term + "\" of the equation.");
      if (dotted) most = std::max(most, dots);
      operands_.push_back({labels_of(term, dots), inputs[k].shape().dims(),
                           memory == nullptr ? nullptr : inputs[k].values<float>().data()});
      measure(operands_.back());
    }
    find_output(equation, most);
  }

  Shape shape() const { return Shape(dims_of(output_)); }
  /// Floats of memory.
  int64_t used() const { return used_; }

  /// `to` holds the output; null where only sizes are counted.
  void run(float* to) {
    Operand joined = without(operands_[0], Labels{}, 1);
    for (size_t k = 1; k < operands_.size(); ++k)
      joined = join(joined, without(operands_[k], joined.labels, k + 1), k + 1);
    if (to != nullptr) arrange(joined, output_, to);
  }

 private:
  void measure(const Operand& operand) {
    for (size_t k = 0; k < operand.labels.size(); ++k) {
      int64_t& size = sizes_[static_cast<size_t>(operand.labels[k])];
      const int64_t dim = operand.dims[k];
      if (size == -1 || size == 1)
        size = dim;
      else if (dim != 1 && dim != size)
        invalid("An index of the equation is " + std::to_string(size) + " long in one input and " +
                std::to_string(dim) + " in another.");
    }
  }

  void find_output(const Equation& equation, int dots) {
    if (equation.output) {
      const bool dotted = equation.output->find('.') != std::string::npos;
      if (!dotted && dots > 0) invalid("The equation's output has no ellipsis, but an input has.");
      output_ = labels_of(*equation.output, dots);
    } else {
      for (int k = dots; k-- > 0;) output_.push_back(kLetters + k);
      for (int label = 0; label < kLetters; ++label) {
        int64_t count = 0;
        for (const Operand& operand : operands_)
          count += std::count(operand.labels.begin(), operand.labels.end(), label);
        if (count == 1) output_.push_back(label);
      }
    }
    for (const int label : output_)
      if (sizes_[static_cast<size_t>(label)] < 0) invalid("The equation's output has an index that no input has.");
  }

  std::vector<int64_t> dims_of(const Labels& labels) const {
    std::vector<int64_t> dims;
    for (const int label : labels) dims.push_back(sizes_[static_cast<size_t>(label)]);
    return dims;
  }
  int64_t elements_of(const Labels& labels) const { return Shape(dims_of(labels)).elements(); }

  float* allocate(int64_t count) {
    float* place = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ = Shape{used_ + count}.elements();  // refuses what is too much
    return place;
  }

  /// An operand from `next` on, or the output, has the label.
  bool is_needed(int label, size_t next) const {
    for (size_t k = next; k < operands_.size(); ++k)
      if (has(operands_[k].labels, label)) return true;
    return has(output_, label);
  }

  /// Copies an operand so that its axes are `order`, each of full length; a label twice is a diagonal.
  void arrange(const Operand& from, const Labels& order, float* to) const {
    const std::vector<int64_t> steps = row_major_strides(from.dims), dims = dims_of(order),
                               targets = row_major_strides(dims);
    std::vector<CopyAxis> axes;
    for (size_t k = 0; k < order.size(); ++k) {
      CopyAxis axis{dims[k], 0, targets[k]};
      for (size_t own = 0; own < from.labels.size(); ++own)
        if (from.labels[own] == order[k] && from.dims[own] != 1) axis.source += steps[own];
      axes.push_back(axis);
    }
    copy_strided(from.data, to, axes, sizeof(float));
  }

  /// Sums over the labels that neither `others` nor anything from operand `next` on has.
  Operand without(const Operand& from, const Labels& others, size_t next) {
    Labels kept, summed;
    for (const int label : from.labels) {
      Labels& list = has(others, label) || is_needed(label, next) ? kept : summed;
      if (!has(list, label)) list.push_back(label);
    }
    if (summed.empty()) return from;
    Labels order = kept;
    order.insert(order.end(), summed.begin(), summed.end());
    const int64_t rows = elements_of(kept), length = elements_of(summed);
    float* lines = allocate(Shape(dims_of(order)).elements());
    float* sums = allocate(rows);
    if (memory_ != nullptr) {
      arrange(from, order, lines);
      for (int64_t row = 0; row < rows; ++row)
        sums[row] = static_cast<float>(kernels::sum_shifted(lines + row * length, static_cast<size_t>(length), 0));
    }
    return {kept, dims_of(kept), sums};
  }

  Operand join(const Operand& a, const Operand& b, size_t next) {
    Labels batch, summed, only_a, only_b;
    for (const int label : a.labels) {
      Labels& list = !has(b.labels, label) ? only_a : is_needed(label, next) ? batch : summed;
      if (!has(list, label)) list.push_back(label);
    }
    for (const int label : b.labels)
      if (!has(a.labels, label) && !has(only_b, label)) only_b.push_back(label);
    const int64_t count = elements_of(batch), depth = elements_of(summed);
    const int64_t rows = elements_of(only_a), columns = elements_of(only_b);
    const auto joined = [](const Labels& x, const Labels& y, const Labels& z) {
      Labels all = x;
      all.insert(all.end(), y.begin(), y.end());
      all.insert(all.end(), z.begin(), z.end());
      return all;
    };
    const Labels order_a = joined(batch, only_a, summed), order_b = joined(batch, summed, only_b);
    const Labels order = joined(batch, only_a, only_b);
    float* left = allocate(elements_of(order_a));
    float* right = allocate(elements_of(order_b));
    float* product = allocate(elements_of(order));
    if (memory_ != nullptr && count * rows * columns != 0) {
      arrange(a, order_a, left);
      arrange(b, order_b, right);
      for (int64_t k = 0; k < count; ++k) {
        float* y = product + k * rows * columns;
        if (depth == 0)
          std::fill_n(y, rows * columns, 0.0f);
        else
          kernels::gemm(left + k * rows * depth, rows,
                        kernels::pack_matrix(right + k * depth * columns, depth, columns, false), {}, y);
      }
    }
    return {order, dims_of(order), product};
  }

  float* memory_;
  int64_t used_ = 0;
  std::vector<Operand> operands_;
  Labels output_;
  std::array<int64_t, kLetters + kMostAxes> sizes_ = [] {
    std::array<int64_t, kLetters + kMostAxes> unknown{};
    unknown.fill(-1);
    return unknown;
  }();
};

class Einsum : public Kernel {
 public:
  explicit Einsum(const Setup& setup) : equation_(equation_of(setup)) {
    require_inputs(setup, 1, kAnyNumber);
    if (equation_.terms.size() != setup.node.inputs.size())
      invalid("The equation has " + std::to_string(equation_.terms.size()) + " terms for " +
              std::to_string(setup.node.inputs.size()) + " inputs.");
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    for (const Input& input : inputs) require_type(input, {DType::kFloat32}, "of Einsum");
    return {{DType::kFloat32, Contraction(equation_, inputs, nullptr).shape(), Layout::kPlain}};
  }

  /// One float more than is used, so that there is memory even where none is.
  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    Contraction counted(equation_, inputs, nullptr);
    counted.run(nullptr);
    return (counted.used() + 1) * 4;
  }

  void run(const Call& call) const override {
    if (call.outputs[0].elements() == 0) return;
    Contraction(equation_, call.inputs, reinterpret_cast<float*>(call.scratch.data()))
        .run(call.outputs[0].values<float>().data());
  }

 private:
  Equation equation_;
};

}  // namespace

std::vector<Op> einsum_ops() {
  return {{.domain = "", .type = "Einsum", .since = 12, .prepare = make_kernel<Einsum>}};
}

}  // namespace tersor::ops
