// SPDX-License-Identifier: Apache-2.0
// QLinearAdd and QLinearMul with broadcasting, the table operators, QLinearConcat, QLinearWhere, and the float forms of
// Sigmoid and Tanh.
#include <array>
#include <cstring>

#include "core/kernels/runtime_functions.h"
#include "core/ops/broadcast.h"
#include "core/ops/layouts.h"
#include "core/ops/refuse.h"
#include "core/simulate/operator_parts.h"
#include "core/simulate/qlinear_binary.h"
#include "core/simulate/qlinear_table.h"

namespace tersor::simulate {

namespace {

void absorb_all_but(Setup& setup, std::initializer_list<size_t> data) {
  for (size_t k = 0; k < setup.node.inputs.size(); ++k)
    if (std::find(data.begin(), data.end(), k) == data.end()) setup.absorb(k);
}

class QLinearBinary : public ops::Kernel {
 public:
  QLinearBinary(Setup& setup, BinaryKind kind, Profile profile)
      : kind_(kind), profile_(profile), a_(grid_at(setup, 1)), b_(grid_at(setup, 4)), y_(grid_at(setup, 6)) {
    absorb_all_but(setup, {0, 3});
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    std::vector<Form> forms = Kernel::forms(inputs);
    // Equal shapes are added place by place: any layout does, as long as it is the same for both.
    if (inputs[0].shape() == inputs[3].shape() && inputs[0].shape().rank() >= 3)
      forms[0].layout = forms[3].layout = inputs[0].type->layout;
    return forms;
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    check_type(inputs[0], a_);
    check_type(inputs[3], b_);
    return {{dtype_of_grid(y_), broadcast(inputs[0].shape(), inputs[3].shape()), inputs[0].type->layout}};
  }

  void run(const Call& call) const override {
    const auto a = raw_bytes(call.inputs[0]), b = raw_bytes(call.inputs[3]);
    const auto y = raw_bytes(call.outputs[0]);
    if (a.size() == y.size() && b.size() == y.size())
      return qlinear_binary(kind_, profile_, a, a_, b, b_, y, y_, InnerBroadcast::kNone);
    run_broadcast(call.inputs[0].shape(), a, call.inputs[3].shape(), b, call.outputs[0].shape(), y);
  }

 private:
  static int64_t dim_at(const Shape& shape, int axis, int rank) {
    const int own = axis - (rank - shape.rank());
    return own < 0 ? 1 : shape[own];
  }

  /// The inner loop runs over the trailing axes in which both run or one repeats a single value.
  void run_broadcast(const Shape& sa, std::span<const uint8_t> a, const Shape& sb, std::span<const uint8_t> b,
                     const Shape& out, std::span<uint8_t> y) const {
    const int rank = out.rank();
    int axis = rank - 1;
    while (axis > 0 && out[axis] == 1) --axis;
    const bool scalar_a = rank > 0 && dim_at(sa, axis, rank) == 1 && out[axis] != 1,
               scalar_b = rank > 0 && dim_at(sb, axis, rank) == 1 && out[axis] != 1;
    int first = axis;
    while (first > 0) {
      const int64_t da = dim_at(sa, first - 1, rank), db = dim_at(sb, first - 1, rank), d = out[first - 1];
      const bool runs_a = da == d && !(scalar_a && d != 1), runs_b = db == d && !(scalar_b && d != 1);
      const bool repeats_a = da == 1 && scalar_a, repeats_b = db == 1 && scalar_b;
      if (!((runs_a || repeats_a) && (runs_b || repeats_b))) break;
      --first;
    }
    const int64_t inner = out.elements(first, rank), outer = out.elements(0, first);
    const auto mode = scalar_a ? InnerBroadcast::kScalarA : scalar_b ? InnerBroadcast::kScalarB : InnerBroadcast::kNone;
    for (int64_t i = 0; i < outer; ++i) {
      const auto at_a = static_cast<size_t>(offset(i, sa, out, first)),
                 at_b = static_cast<size_t>(offset(i, sb, out, first));
      const auto count = static_cast<size_t>(inner);
      qlinear_binary(kind_, profile_, a.subspan(at_a, scalar_a ? 1 : count), a_, b.subspan(at_b, scalar_b ? 1 : count),
                     b_, y.subspan(static_cast<size_t>(i) * count, count), y_, mode);
    }
  }

  /// Where operand `shape` starts in outer step `i` of the axes before `first`.
  static int64_t offset(int64_t i, const Shape& shape, const Shape& out, int first) {
    const int rank = out.rank();
    int64_t place = 0, factor = 1;
    for (int axis = rank - 1; axis >= first; --axis) factor *= dim_at(shape, axis, rank);
    for (int axis = first - 1; axis >= 0; --axis) {
      const int64_t own = dim_at(shape, axis, rank);
      if (own != 1) place += (i % out[axis]) * factor;
      i /= out[axis];
      factor *= own;
    }
    return place;
  }

  BinaryKind kind_;
  Profile profile_;
  Grid a_, b_, y_;
};

/// One input and a table; any layout.
class TableKernel : public ops::AnyLayoutKernel {
 public:
  TableKernel(Setup& setup, Grid x, Grid y, Table table) : x_(x), y_(y), table_(table) { absorb_all_but(setup, {0}); }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    check_type(inputs[0], x_);
    return {{dtype_of_grid(y_), inputs[0].shape(), inputs[0].type->layout}};
  }
  void run(const Call& call) const override {
    const auto x = raw_bytes(call.inputs[0]);
    const auto y = raw_bytes(call.outputs[0]);
    for (size_t i = 0; i < y.size(); ++i) y[i] = table_[x[i]];
  }

 private:
  Grid x_, y_;
  Table table_;
};

/// Each part through its table, then copied into place along the axis.
class QLinearConcat : public ops::Kernel {
 public:
  explicit QLinearConcat(Setup& setup) : y_(grid_at(setup, 0)), axis_(setup.node.int_or("axis", 0)) {
    for (size_t k = 2; k + 2 < setup.node.inputs.size(); k += 3) {
      require_present(setup, {k});
      parts_.push_back(grid_at(setup, k + 1));
      tables_.push_back(requantize_table(parts_.back(), y_));
      setup.absorb(k + 1);
      setup.absorb(k + 2);
    }
    setup.absorb(0);
    setup.absorb(1);
    if (parts_.empty()) throw Error(ErrorCode::kInvalidModel, "A concatenation without parts.");
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    std::vector<int64_t> dims = inputs[2].shape().dims();
    const int axis = normalize_axis(axis_, inputs[2].shape().rank());
    dims[static_cast<size_t>(axis)] = 0;
    for (size_t p = 0; p < parts_.size(); ++p) {
      const Input& part = inputs[2 + 3 * p];
      check_type(part, parts_[p]);
      for (int i = 0; i < part.shape().rank() || i < static_cast<int>(dims.size()); ++i)
        if (part.shape().rank() != static_cast<int>(dims.size()) ||
            (i != axis && part.shape()[i] != dims[static_cast<size_t>(i)]))
          throw Error(ErrorCode::kInvalidModel, "A part of shape " + part.shape().text() + " does not fit the others.");
      dims[static_cast<size_t>(axis)] += part.shape()[axis];
    }
    return {{dtype_of_grid(y_), Shape(dims), Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Shape& out = call.outputs[0].shape();
    const int axis = normalize_axis(axis_, out.rank());
    const auto outer = static_cast<size_t>(out.elements(0, axis)),
               row = static_cast<size_t>(out.elements(axis, out.rank()));
    const auto y = raw_bytes(call.outputs[0]);
    size_t at = 0;
    for (size_t p = 0; p < parts_.size(); ++p) {
      const auto x = raw_bytes(call.inputs[2 + 3 * p]);
      const size_t width = outer == 0 ? 0 : x.size() / outer;
      for (size_t o = 0; o < outer; ++o)
        for (size_t i = 0; i < width; ++i) y[o * row + at + i] = tables_[p][x[o * width + i]];
      at += width;
    }
  }

 private:
  Grid y_;
  int64_t axis_;
  std::vector<Grid> parts_;
  std::vector<Table> tables_;
};

/// Each place from one of two inputs, through its table.
class QLinearWhere : public ops::Kernel {
 public:
  explicit QLinearWhere(Setup& setup)
      : x_(grid_at(setup, 2)),
        y_(grid_at(setup, 5)),
        z_(grid_at(setup, 7)),
        of_x_(requantize_table(x_, z_)),
        of_y_(requantize_table(y_, z_)) {
    absorb_all_but(setup, {0, 1, 4});
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    ops::require_type(inputs[0], {DType::kBool}, "condition");
    check_type(inputs[1], x_);
    check_type(inputs[4], y_);
    return {ops::broadcast_type(chosen_from(inputs), dtype_of_grid(z_))};
  }

  void run(const Call& call) const override {
    const auto from = chosen_from(call.inputs);
    const ops::BroadcastLoop loops(from, *call.outputs[0].type);
    const auto condition = raw_bytes(from[0]), x = raw_bytes(from[1]), y = raw_bytes(from[2]);
    const auto z = raw_bytes(call.outputs[0]);
    loops.for_each_run([&](const int64_t* offsets, int64_t output) {
      const auto at = [&](size_t input, int64_t k) {
        return static_cast<size_t>(offsets[input] + (loops.moves(input) ? k : 0));
      };
      for (int64_t k = 0; k < loops.inner(); ++k)
        z[static_cast<size_t>(output + k)] = condition[at(0, k)] != 0 ? of_x_[x[at(1, k)]] : of_y_[y[at(2, k)]];
    });
  }

 private:
  static std::array<Input, 3> chosen_from(std::span<const Input> inputs) { return {inputs[0], inputs[1], inputs[4]}; }

  Grid x_, y_, z_;
  Table of_x_, of_y_;
};

/// A float function of one input that a runtime computes by its own polynomial.
class FloatFunction : public ops::Kernel {
 public:
  using Function = void (*)(const float*, size_t, bool, float*);

  FloatFunction(Function function, Profile profile) : function_(function), profile_(profile) {}

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    return {{inputs[0].type->layout, inputs[0].shape().rank()}};
  }
  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    if (inputs[0].dtype() != DType::kFloat32)
      throw Error(ErrorCode::kUnsupportedModel,
                  "The input is " + std::string(name_of(inputs[0].dtype())) + ", not float32.");
    return {*inputs[0].type};
  }
  void run(const Call& call) const override {
    const auto x = call.inputs[0].values<float>();
    const auto y = call.outputs[0].values<float>();
    function_(x.data(), y.size(), fuses(profile_), y.data());
  }

 private:
  Function function_;
  Profile profile_;
};

}  // namespace

std::unique_ptr<const ops::Kernel> prepare_qlinear_add(Setup& setup, Profile profile) {
  require_present(setup, {0, 1, 3, 4, 6});
  return std::make_unique<QLinearBinary>(setup, BinaryKind::kAdd, profile);
}
std::unique_ptr<const ops::Kernel> prepare_qlinear_mul(Setup& setup, Profile profile) {
  require_present(setup, {0, 1, 3, 4, 6});
  return std::make_unique<QLinearBinary>(setup, BinaryKind::kMul, profile);
}
std::unique_ptr<const ops::Kernel> prepare_qlinear_sigmoid(Setup& setup, Profile profile) {
  require_present(setup, {0, 1, 3});
  const Grid x = grid_at(setup, 1), y = grid_at(setup, 3);
  return std::make_unique<TableKernel>(setup, x, y, sigmoid_table(x, y, profile));
}
std::unique_ptr<const ops::Kernel> prepare_qlinear_leaky_relu(Setup& setup, Profile) {
  require_present(setup, {0, 1, 3});
  const Grid x = grid_at(setup, 1), y = grid_at(setup, 3);
  return std::make_unique<TableKernel>(setup, x, y, leaky_relu_table(x, y, setup.node.float_or("alpha", 0.01f)));
}
std::unique_ptr<const ops::Kernel> prepare_qlinear_concat(Setup& setup, Profile) {
  return std::make_unique<QLinearConcat>(setup);
}
std::unique_ptr<const ops::Kernel> prepare_qlinear_where(Setup& setup, Profile) {
  require_present(setup, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  return std::make_unique<QLinearWhere>(setup);
}
std::unique_ptr<const ops::Kernel> prepare_sigmoid(Setup& setup, Profile profile) {
  ops::require_inputs(setup, 1, 1);
  return std::make_unique<FloatFunction>(kernels::runtime_sigmoid, profile);
}
std::unique_ptr<const ops::Kernel> prepare_tanh(Setup& setup, Profile profile) {
  ops::require_inputs(setup, 1, 1);
  return std::make_unique<FloatFunction>(kernels::runtime_tanh, profile);
}

}  // namespace tersor::simulate
