// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/defer.h"

#include <cstring>
#include <memory>

namespace tersor::onnx {

namespace {

class Deferring {
 public:
  Deferring(std::span<const std::byte> file, const ReadAgain& again, size_t at_least)
      : file_(file), again_(again), at_least_(at_least) {}

  void change(Graph& graph) const {
    std::vector<std::pair<ValueId, Tensor>> changed;
    for (const auto& [id, tensor] : graph.initializers())
      if (lies_inside(tensor)) changed.emplace_back(id, let_go(tensor));
    for (auto& [id, tensor] : changed) graph.set_initializer(id, std::move(tensor));
    for (Node& node : graph.nodes())
      for (auto& [key, attribute] : node.attributes) change(attribute);
  }

 private:
  void change(Attribute& attribute) const {
    if (auto* const tensor = std::get_if<Tensor>(&attribute)) change(*tensor);
    if (auto* const tensors = std::get_if<std::vector<Tensor>>(&attribute))
      for (Tensor& tensor : *tensors) change(tensor);
    if (auto* const graph = std::get_if<std::shared_ptr<const Graph>>(&attribute)) change(*graph);
    if (auto* const graphs = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute))
      for (auto& graph : *graphs) change(graph);
  }
  void change(Tensor& tensor) const {
    if (lies_inside(tensor)) tensor = let_go(tensor);
  }
  void change(std::shared_ptr<const Graph>& graph) const {
    auto changed = std::make_shared<Graph>(*graph);
    change(*changed);
    graph = std::move(changed);
  }

  bool lies_inside(const Tensor& tensor) const { return !tensor.is_deferred() && lies_in(file_, tensor); }

  Tensor let_go(const Tensor& tensor) const {
    const size_t size = tensor.byte_count();
    if (size < at_least_) {
      Tensor copy = Tensor::make_unset(tensor.dtype(), tensor.shape());
      std::memcpy(copy.mutable_bytes().data(), tensor.bytes().data(), size);
      return copy;
    }
    const auto offset = static_cast<uint64_t>(tensor.bytes().data() - file_.data());
    return Tensor::deferred(tensor.dtype(), tensor.shape(),
                            [again = again_, offset, size, dtype = tensor.dtype(), shape = tensor.shape()] {
                              const Source source = again(offset, size);
                              return Tensor::alias(dtype, shape, source.bytes, source.owner);
                            });
  }

  const std::span<const std::byte> file_;
  const ReadAgain& again_;
  const size_t at_least_;
};

}  // namespace

void defer_tensors(Model& model, std::span<const std::byte> file, const ReadAgain& again, size_t at_least) {
  Deferring(file, again, at_least).change(model.graph);
}

}  // namespace tersor::onnx
