// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/late_operator.h"

#include "core/ops/refuse.h"

namespace tersor::simulate {

namespace {

class LateKernel : public ops::Kernel {
 public:
  LateKernel(const IntegerOperator& op, const Setup& setup, Profile profile)
      : op_(op), node_(setup.node), opset_(setup.opset), profile_(profile) {}

  std::vector<size_t> value_inputs() const override {
    std::vector<size_t> wanted;
    for (size_t k = 0; k < node_.inputs.size(); ++k)
      if (node_.inputs[k].valid() && !op_.is_data(k)) wanted.push_back(k);
    return wanted;
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const auto kernel = prepared(inputs);
    Formed formed(*kernel, inputs);
    std::vector<TensorType> types = kernel->infer(formed.inputs);
    for (TensorType& type : types) type.layout = Layout::kPlain;
    return types;
  }

  void run(const Call& call) const override {
    const auto kernel = prepared(call.inputs);
    Formed formed(*kernel, call.inputs);
    formed.convert(call.inputs);
    const std::vector<TensorType> types = kernel->infer(formed.inputs);
    std::vector<Output> outputs(call.outputs.begin(), call.outputs.end());
    std::vector<Tensor> turned(outputs.size());
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (!outputs[k].present()) continue;
      if (types[k].layout != Layout::kPlain) {
        turned[k] = Tensor::make(types[k].dtype, types[k].shape);
        outputs[k].data = turned[k].mutable_bytes().data();
      }
      outputs[k].type = &types[k];
    }
    Tensor scratch = Tensor::make(DType::kUint8, Shape{kernel->scratch_bytes(formed.inputs, types) + kAlignment});
    kernel->run({formed.inputs, outputs, aligned(scratch.mutable_bytes())});
    for (size_t k = 0; k < outputs.size(); ++k)
      if (!turned[k].empty())
        ops::convert_layout(types[k], turned[k].bytes().data(), Layout::kPlain, call.outputs[k].data);
  }

 private:
  static constexpr int64_t kAlignment = 64;

  static std::span<std::byte> aligned(std::span<std::byte> bytes) {
    const auto past = static_cast<int64_t>(reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment);
    return bytes.subspan(static_cast<size_t>(past == 0 ? 0 : kAlignment - past));
  }

  /// The inputs in the forms that a kernel asks for.
  struct Formed {
    Formed(const ops::Kernel& kernel, std::span<const Input> given)
        : inputs(given.begin(), given.end()), types(given.size()), tensors(given.size()) {
      const std::vector<Form> forms = kernel.forms(given);
      for (size_t k = 0; k < given.size(); ++k) {
        if (!given[k].present() || forms[k].layout == given[k].type->layout) continue;
        if (forms[k].rank != given[k].shape().rank())
          ops::invalid("Input " + std::to_string(k) + " has the shape " + given[k].shape().text() + "; " +
                       std::to_string(forms[k].rank) + " axes are needed.");
        types[k] = *given[k].type;
        types[k].layout = forms[k].layout;
        inputs[k].type = &types[k];
      }
    }
    void convert(std::span<const Input> given) {
      for (size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k].type == given[k].type) continue;
        tensors[k] = Tensor::make(types[k].dtype, types[k].shape);
        ops::convert_layout(*given[k].type, given[k].data, types[k].layout, tensors[k].mutable_bytes().data());
        inputs[k].data = tensors[k].bytes().data();
      }
    }
    std::vector<Input> inputs;
    std::vector<TensorType> types;
    std::vector<Tensor> tensors;
  };

  std::unique_ptr<const ops::Kernel> prepared(std::span<const Input> inputs) const {
    std::vector<Tensor> tensors(inputs.size());
    for (size_t k = 0; k < inputs.size(); ++k)
      if (inputs[k].present() && !op_.is_data(k))
        tensors[k] = Tensor::alias(inputs[k].dtype(), inputs[k].shape(),
                                   {inputs[k].data, static_cast<size_t>(inputs[k].type->bytes())}, nullptr);
    for (size_t zero : op_.zero_points) {
      if (zero == 0 || (zero < inputs.size() && inputs[zero].present())) continue;
      const size_t like = op_.is_data(zero - 2) ? zero - 2 : 0;
      if (like >= inputs.size() || !inputs[like].present())
        ops::invalid("Input " + std::to_string(like) + " is missing.");
      if (tensors.size() <= zero) tensors.resize(zero + 1);
      tensors[zero] = Tensor::make(inputs[like].dtype(), Shape{});
    }
    std::vector<const Tensor*> known;
    for (const Tensor& tensor : tensors) known.push_back(tensor.empty() ? nullptr : &tensor);
    Setup setup(node_, opset_, known);
    return op_.prepare(setup, profile_);
  }

  const IntegerOperator& op_;
  Node node_;
  int64_t opset_;
  Profile profile_;
};

}  // namespace

std::unique_ptr<const ops::Kernel> prepare_now_or_later(const IntegerOperator& op, Setup& setup, Profile profile) {
  if (op.is_data == nullptr) return op.prepare(setup, profile);
  bool known = true;
  for (size_t k = 0; k < setup.node.inputs.size(); ++k)
    known = known && (op.is_data(k) || !setup.has_input(k) || setup.constant(k) != nullptr);
  for (size_t zero : op.zero_points) known = known && (zero == 0 || setup.has_input(zero));
  if (known) return op.prepare(setup, profile);
  return std::make_unique<LateKernel>(op, setup, profile);
}

}  // namespace tersor::simulate
