// SPDX-License-Identifier: Apache-2.0
// Folders with input_0.pb, input_1.pb, ...: one sample each, as in the test_data_set_* of ONNX models.
#include <utility>

#include "core/base/error.h"
#include "core/onnx/read_tensor.h"
#include "core/samples/format.h"

namespace tersor::samples {

namespace {

constexpr const char* kAgain = "Write this sample again, or leave it out.";

class TensorProtoFolder : public SampleFile {
 public:
  TensorProtoFolder(const FileGroup& group, const ReadContext& context) : group_(group), context_(context) {}
  int64_t count() const override { return 1; }
  std::vector<Tensor> load(int64_t) override {
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < group_.files.size(); ++i) tensors.push_back(read(i));
    return tensors;
  }

 private:
  Tensor read(size_t i) const {
    const InputSpec& input = context_.inputs[i];
    const Bytes file = group_.source.read_all(group_.files[i]);
    try {
      const onnx::ExternalData no_file = [](const std::string& location) -> onnx::Source {
        throw Error(ErrorCode::kInvalidSamples,
                    "The values lie in the file \"" + location + "\"; samples hold their own.", {}, kAgain);
      };
      onnx::ExternalFiles external(no_file);
      const std::string_view message(reinterpret_cast<const char*>(file.view.data()), file.view.size());
      const Tensor tensor = onnx::read_tensor(message, {file.owner, file.view}, external).tensor;
      if (!fits_whole(tensor.shape(), input)) refuse_shape(tensor.shape(), input);
      return to_input_type({tensor.dtype(), false, tensor.shape(), {tensor.bytes(), std::make_shared<Tensor>(tensor)}},
                           input);
    } catch (const Error& error) {
      // What the reader of models advises is about a model.
      throw Error(ErrorCode::kInvalidSamples, "input_" + std::to_string(i) + ".pb: " + error.message, error.place,
                  error.code == ErrorCode::kInvalidSamples ? error.hint : kAgain);
    }
  }

  FileGroup group_;
  const ReadContext& context_;
};

/// k of "input_k.pb"; absent for other names.
std::optional<size_t> input_number(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  constexpr std::string_view kStart = "input_", kEnd = ".pb";
  if (name.size() <= kStart.size() + kEnd.size() || name.size() > 20 || name.substr(0, kStart.size()) != kStart ||
      name.substr(name.size() - kEnd.size()) != kEnd)
    return std::nullopt;
  size_t number = 0;
  for (char c : name.substr(kStart.size(), name.size() - kStart.size() - kEnd.size())) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<size_t>(c - '0');
  }
  return number;
}

}  // namespace

bool is_input_proto(std::string_view path, std::span<const std::byte>) {
  return input_number(path).has_value();
}

std::unique_ptr<SampleFile> open_tensor_protos(const FileGroup& group, const ReadContext& context) {
  const std::vector<InputSpec>& inputs = context.inputs;
  std::vector<std::optional<size_t>> by_number(inputs.size());
  for (size_t file : group.files) {
    const size_t number = *input_number(group.source.files()[file].path);
    if (number >= inputs.size())
      throw Error(ErrorCode::kInvalidSamples,
                  "There is an input_" + std::to_string(number) + ".pb, and the model has " +
                      std::to_string(inputs.size()) + (inputs.size() == 1 ? " input." : " inputs."),
                  {}, "Leave it out, or choose the model that it was made for.");
    by_number[number] = file;
  }
  FileGroup ordered{group.source, {}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!by_number[i])
      throw Error(ErrorCode::kInvalidSamples,
                  "input_" + std::to_string(i) + ".pb is missing: the model's input \"" + inputs[i].name + "\".", {},
                  "Put a file for each input of the model into the folder.");
    ordered.files.push_back(*by_number[i]);
  }
  return std::make_unique<TensorProtoFolder>(ordered, context);
}

}  // namespace tersor::samples
