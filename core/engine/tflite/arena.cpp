// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/arena.h"

#include <algorithm>
#include <vector>

#include "core/tflite/lstm.h"

namespace tersor::tflite {

namespace {

constexpr int64_t kAlignment = 16;
constexpr int64_t kFixed = 488;  // the interpreter's, allocator's, planner's and recorder's own

int64_t aligned(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

int64_t elements_of(const NetworkTensor& tensor) {
  return tensor.full_shape().elements();
}

int64_t bytes_of(const NetworkTensor& tensor) {
  return elements_of(tensor) * bits_of(tensor.dtype) / 8;
}

/// What a kernel keeps: the struct of its options, and its own data.
struct KernelBytes {
  Code code;
  int16_t options, data;
};

constexpr KernelBytes kKernels[] = {{Code::kConv2d, 28, 80},
                                    {Code::kDepthwiseConv2d, 28, 80},
                                    {Code::kFullyConnected, 32, 72},
                                    {Code::kAdd, 8, 60},
                                    {Code::kSub, 8, 52},
                                    {Code::kMul, 4, 36},
                                    {Code::kAveragePool2d, 40, 32},
                                    {Code::kMaxPool2d, 40, 32},
                                    {Code::kMean, 1, 44},
                                    {Code::kReduceMax, 1, 44},
                                    {Code::kReduceMin, 1, 44},
                                    {Code::kReshape, 36, 0},
                                    {Code::kSoftmax, 4, 80},
                                    {Code::kLogistic, 0, 16},
                                    {Code::kTanh, 0, 16},
                                    {Code::kRelu, 0, 28},
                                    {Code::kRelu6, 0, 8},
                                    {Code::kLeakyRelu, 4, 24},
                                    {Code::kHardSwish, 0, 20},
                                    {Code::kPrelu, 0, 28},
                                    {Code::kPad, 0, 56},
                                    {Code::kPadV2, 0, 56},
                                    {Code::kConcatenation, 8, 80},
                                    {Code::kResizeNearestNeighbor, 2, 0},
                                    {Code::kResizeBilinear, 2, 0},
                                    {Code::kTransposeConv, 20, 88},
                                    {Code::kTranspose, 0, 0},
                                    {Code::kStridedSlice, 24, 84},
                                    {Code::kMaximum, 0, 0},
                                    {Code::kMinimum, 0, 0},
                                    {Code::kBatchMatmul, 3, 32},
                                    {Code::kQuantize, 0, 32},
                                    {Code::kDequantize, 0, 32},
                                    {Code::kDepthToSpace, 4, 0},
                                    {Code::kSpaceToDepth, 4, 0},
                                    {Code::kArgMax, 4, 0},
                                    {Code::kUnidirectionalSequenceLstm, 16, 688}};

const KernelBytes* kernel_bytes(Code code) {
  const auto* found =
      std::find_if(std::begin(kKernels), std::end(kKernels), [&](const KernelBytes& one) { return one.code == code; });
  return found == std::end(kKernels) ? nullptr : found;
}

class Planner {
 public:
  explicit Planner(const Network& network) : network_(network) {
    for (const Operator& op : network.operators) {
      scratch_.emplace_back();
      const auto rank = static_cast<int64_t>(in(op, 0).shape.size());
      const bool averages = op.code == Code::kMean,
                 reduces = op.code == Code::kReduceMax || op.code == Code::kReduceMin;
      if (op.code == Code::kTransposeConv)
        scratch_.back().push_back((out(op).dtype == DType::kInt16 ? 8 : 4) * elements_of(out(op)));
      if (averages) scratch_.back().push_back(4 * elements_of(out(op)));
      if (averages || reduces) {
        scratch_.back().push_back(4 * rank);
        scratch_.back().push_back(4 * elements_of(in(op, 1)));
      }
      if (op.code == Code::kUnidirectionalSequenceLstm)
        scratch_.back().assign(kLstmGates, bits_of(in(op, kLstmCell).dtype) / 8 * elements_of(in(op, kLstmState)));
      requests_ += static_cast<int64_t>(scratch_.back().size());
    }
  }

  Arena arena() {
    Arena result{head(), tail(true), 0};
    const auto tensors = static_cast<int64_t>(network_.tensors.size());
    const auto planned = static_cast<int64_t>(buffers_.size());
    const int64_t planning = tail(false) + 8 + 40 * (tensors + requests_) + 40 * planned + 24 * requests_;
    result.needed = std::max({result.total(), planning, preparation()}) + kAlignment - 1;
    return result;
  }

 private:
  struct Buffer {
    int64_t bytes;
    int first, last;  // times, both included
    int64_t offset = 0;
  };

  const NetworkTensor& in(const Operator& op, size_t k) const {
    return network_.tensors[static_cast<size_t>(op.inputs[k])];
  }
  const NetworkTensor& out(const Operator& op) const { return network_.tensors[static_cast<size_t>(op.outputs[0])]; }

  /// Inputs of the graph live from time 0, the outputs of operator k from k + 1, outputs of the graph to the end.
  void find_buffers() {
    struct Life {
      int first = -1, last = -1;
    };
    std::vector<Life> lives(network_.tensors.size());
    const auto see = [&](int32_t tensor, int time, bool born) {
      if (tensor < 0) return;
      Life& life = lives[static_cast<size_t>(tensor)];
      if (life.first < 0 && born) life.first = time;
      life.last = time;
    };
    for (const int32_t input : network_.inputs) see(input, 0, true);
    std::vector<Buffer> scratch;
    int time = 0;
    for (const Operator& op : network_.operators) {
      ++time;
      for (const int32_t output : op.outputs) see(output, time, true);
      for (const int32_t input : op.inputs) see(input, time, false);
      for (const int64_t bytes : scratch_[static_cast<size_t>(time) - 1])
        scratch.push_back({aligned(bytes), time, time});
    }
    for (const int32_t output : network_.outputs) see(output, time, true);
    for (size_t k = 0; k < lives.size(); ++k)
      if (const NetworkTensor& tensor = network_.tensors[k];
          !tensor.data && !tensor.is_variable && bytes_of(tensor) > 0)
        buffers_.push_back({aligned(bytes_of(tensor)), lives[k].first, lives[k].last});
    buffers_.insert(buffers_.end(), scratch.begin(), scratch.end());
  }

  /// The largest first, of equal ones the later; each at the lowest gap among those that live at the same time.
  int64_t head() {
    find_buffers();
    std::vector<Buffer*> order;
    for (size_t k = buffers_.size(); k-- > 0;) order.push_back(&buffers_[k]);
    std::stable_sort(order.begin(), order.end(), [](const Buffer* a, const Buffer* b) { return a->bytes > b->bytes; });
    std::vector<const Buffer*> placed;  // by offset
    int64_t height = 0;
    for (Buffer* const one : order) {
      for (const Buffer* other : placed) {
        if (other->first > one->last || one->first > other->last) continue;
        if (other->offset - one->offset >= one->bytes) break;
        one->offset = std::max(one->offset, other->offset + other->bytes);
      }
      const auto after = [&](const Buffer* other) { return other->offset > one->offset; };
      placed.insert(std::find_if(placed.begin(), placed.end(), after), one);
      height = std::max(height, one->offset + one->bytes);
    }
    return height;
  }

  /// Bytes that are taken from the arena's end downward.
  struct Stack {
    int64_t end = kFixed;
    void operator()(int64_t bytes, int64_t alignment = kAlignment) {
      end = (end + bytes + alignment - 1) / alignment * alignment;
    }
  };

  /// What is taken before the first kernel prepares itself.
  Stack structures() const {
    Stack take;
    take(24 * static_cast<int64_t>(network_.tensors.size()), 8);
    take(64 * static_cast<int64_t>(network_.operators.size()), 8);
    for (const Operator& op : network_.operators)
      if (const int64_t bytes = kernel_bytes(op.code)->options; bytes > 0)
        take(bytes, op.code == Code::kFullyConnected ? 8 : bytes >= 4 ? 4 : 1);
    for (const Operator& op : network_.operators)
      if (const int64_t bytes = kernel_bytes(op.code)->data; bytes > 0) take(bytes);
    return take;
  }

  /// The structures of its tensors, which a kernel borrows while it prepares itself. Convolutions have all but their
  /// bias twice; the shape that a transposed one is given is not among them.
  int64_t borrowed(const Operator& op) const {
    const bool back = op.code == Code::kTransposeConv,
               twice = back || op.code == Code::kConv2d || op.code == Code::kDepthwiseConv2d;
    std::vector<int32_t> tensors(op.inputs.begin() + (back ? 1 : 0), op.inputs.end());
    int64_t bytes = 0;
    const auto add = [&](int32_t k, int copies) {
      if (k < 0) return;
      const auto scales = static_cast<int64_t>(network_.tensors[static_cast<size_t>(k)].quantization.scale.size());
      bytes += copies * (64 + (scales > 0 ? 24 + (4 + 4 * scales + 7) / 8 * 8 : 0));
    };
    for (size_t k = 0; k < tensors.size(); ++k) add(tensors[k], twice && k < 2 ? 2 : 1);
    for (const int32_t output : op.outputs) add(output, twice ? 2 : 1);
    return bytes;
  }

  /// The most that is taken while kernels prepare themselves, one after the other.
  int64_t preparation() const {
    Stack take = structures();
    int64_t most = 0, requests = 12;  // there is room for so many of the next kernel
    for (size_t k = 0; k < network_.operators.size(); ++k) {
      take_for_channels(network_.operators[k], take);
      requests += static_cast<int64_t>(scratch_[k].size());
      most = std::max(most, take.end + 16 * requests + borrowed(network_.operators[k]));
    }
    return most;
  }

  /// In the interpreter's order.
  int64_t tail(bool with_edges) const {
    Stack take = structures();
    for (const Operator& op : network_.operators) take_for_channels(op, take);
    if (requests_ > 0) take(8 * requests_, 8);
    for (const NetworkTensor& tensor : network_.tensors)
      if (tensor.is_variable) take(bytes_of(tensor));
    for (const std::vector<int32_t>* edges : {&network_.inputs, &network_.outputs}) {
      const auto count = with_edges ? static_cast<int64_t>(edges->size()) : 0;
      take(8 * count);
      for (int64_t k = 0; k < count; ++k) {
        const NetworkTensor& tensor = network_.tensors[static_cast<size_t>((*edges)[static_cast<size_t>(k)])];
        take(64, 8);
        if (tensor.quantization.scale.empty()) continue;
        take(24, 8);
        take(4 + 4 * static_cast<int64_t>(tensor.quantization.scale.size()), 4);
      }
    }
    return take.end;
  }

  void take_for_channels(const Operator& op, Stack& take) const {
    const auto rank = static_cast<int64_t>(out(op).shape.size());
    int64_t channels = 0;
    switch (op.code) {
      case Code::kConv2d:
      case Code::kTransposeConv:
        channels = in(op, 1).shape[0];
        break;
      case Code::kDepthwiseConv2d:
        channels = in(op, 1).shape[3];
        break;
      case Code::kFullyConnected:
        if (in(op, 1).quantization.scale.size() > 1)
          channels = static_cast<int64_t>(in(op, 1).quantization.scale.size());
        break;
      case Code::kSoftmax:  // two tables of the kernel on int16
        for (int table = 0; table < 2 && out(op).dtype == DType::kInt16; ++table) take(2 * 513);
        return;
      case Code::kDepthToSpace:
      case Code::kSpaceToDepth:
        take(4 + 4 * rank);
        return;
      case Code::kBatchMatmul:
        take(28);
        for (const auto& [copies, k] : {std::pair{op.options.adj_x != 0, 0}, {op.options.adj_y == 0, 1}}) {
          if (!copies) continue;
          const NetworkTensor& operand = in(op, static_cast<size_t>(k));
          take(24);
          take(4 + 4 * static_cast<int64_t>(operand.shape.size()));
          take(bytes_of(operand));
        }
        take(4 + 4 * rank);
        return;
      default:
        return;
    }
    if (channels == 0) return;
    take(4 * channels);
    take(4 * channels);
  }

  const Network& network_;
  std::vector<std::vector<int64_t>> scratch_;  // by operator
  int64_t requests_ = 0;
  std::vector<Buffer> buffers_;
};

}  // namespace

std::optional<Arena> plan_arena(const Network& network) {
  for (const Operator& op : network.operators)
    if (kernel_bytes(op.code) == nullptr) return std::nullopt;
  return Planner(network).arena();
}

}  // namespace tersor::tflite
