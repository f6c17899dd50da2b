// SPDX-License-Identifier: Apache-2.0
// .npy: the samples of the model's only input. .npz: an array for each input.
#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/samples/format.h"
#include "core/samples/npy.h"
#include "core/samples/zip.h"

namespace tersor::samples {

namespace {

ReadRange reader_of(const FileGroup& group) {
  return [source = &group.source, file = group.files[0]](uint64_t offset, uint64_t length) {
    return source->read(file, offset, length);
  };
}

std::string quoted_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "\"" : ", \"") + name + "\"";
  return text;
}

std::string input_names(const ReadContext& context) {
  std::vector<std::string> names;
  for (const InputSpec& input : context.inputs) names.push_back(input.name);
  return quoted_names(names);
}

/// The array of one input and how it divides.
struct InputArray {
  size_t input = 0;
  NpyArray array;
  ArrayFit fit;
};

class ArrayFile : public SampleFile {
 public:
  ArrayFile(std::vector<InputArray> arrays, const ReadContext& context, std::optional<NpyArray> labels = std::nullopt)
      : arrays_(std::move(arrays)), labels_(std::move(labels)), context_(context) {}
  int64_t count() const override { return arrays_[0].fit.count; }
  std::vector<Tensor> load(int64_t index) override {
    std::vector<Tensor> tensors(context_.inputs.size());
    for (InputArray& one : arrays_)
      tensors[one.input] = to_input_type(one.array.part(index, one.fit.sample), context_.inputs[one.input]);
    for (size_t i = 0; i < tensors.size(); ++i)
      if (std::none_of(arrays_.begin(), arrays_.end(), [i](const InputArray& one) { return one.input == i; }))
        tensors[i] = empty_past(context_.inputs[i]);
    return tensors;
  }
  std::vector<std::string> labels() override {
    if (!labels_) return {};
    InputSpec spec;
    spec.name = "labels";
    spec.dtype = DType::kInt64;
    std::vector<std::string> found;
    for (const int64_t label : to_input_type(labels_->part(0, Shape{count()}), spec).to_int64s()) {
      if (label < 0)
        throw Error(
            ErrorCode::kInvalidSamples,
            "Label " + std::to_string(found.size()) + " is " + std::to_string(label) + "; classes are numbered from 0.",
            {}, "Number the classes anew, and leave out samples that have none.");
      found.push_back(std::to_string(label));
    }
    return found;
  }

 private:
  std::vector<InputArray> arrays_;
  std::optional<NpyArray> labels_;
  const ReadContext& context_;
};

/// As fit_array(); whole numbers in one row that fit nowhere are probably labels.
ArrayFit fit_samples(const NpyArray& array, const InputSpec& input) {
  try {
    return fit_array(array.shape(), input);
  } catch (const Error& error) {
    if (array.shape().rank() != 1 || !is_integer(array.header().dtype)) throw;
    throw Error(error.code, error.message, error.place,
                "If these are labels, give them as labels and not among the samples.");
  }
}

const ZipMember* find_array(const std::vector<ZipMember>& members, const ZipMember* labels, const InputSpec& input,
                            size_t inputs) {
  for (const ZipMember& member : members)
    if (member.name == input.name + ".npy") return &member;
  // With one input and one array there is nothing to mistake, whatever numpy named it.
  const size_t arrays = members.size() - (labels != nullptr ? 1 : 0);
  return inputs == 1 && arrays == 1 ? &members[labels == &members[0] ? 1 : 0] : nullptr;
}

/// The array of labels beside the samples: `y`, `label` and the like, where no input of the model is called so.
const ZipMember* find_labels(const std::vector<ZipMember>& members, const std::vector<InputSpec>& inputs) {
  constexpr std::string_view kNames[] = {"y.npy", "label.npy", "labels.npy", "target.npy", "targets.npy"};
  for (const ZipMember& member : members) {
    const bool is_named = std::find(std::begin(kNames), std::end(kNames), member.name) != std::end(kNames);
    const bool is_input = std::any_of(inputs.begin(), inputs.end(),
                                      [&](const InputSpec& input) { return member.name == input.name + ".npy"; });
    if (is_named && !is_input && members.size() > 1) return &member;
  }
  return nullptr;
}

/// One whole number for each sample; absent where the array is something else, such as the outputs that are wanted.
std::optional<NpyArray> open_labels(const ReadRange& read, const ZipMember& member, int64_t samples) {
  NpyArray array(open_member(read, member), member.size);
  const Shape& shape = array.shape();
  const bool is_column = shape.rank() == 1 || (shape.rank() == 2 && shape[1] == 1);
  const DType dtype = array.header().dtype;
  if (!is_column || shape[0] != samples || (!is_integer(dtype) && dtype != DType::kBool)) return std::nullopt;
  return array;
}

/// A free first axis is no batch where inputs beside it can have none: frames of a recording beside one state. Each
/// array is then its input whole.
bool is_one_sample(const std::vector<InputArray>& arrays, const std::vector<InputSpec>& inputs) {
  bool has_fixed = false, has_several = false;
  for (const InputArray& one : arrays) {
    const InputSpec& input = inputs[one.input];
    if (!fits_whole(one.array.shape(), input)) return false;
    const bool is_free = input.shape && !input.shape->empty() && !input.shape->front().fixed();
    if (is_free && one.fit.count > 1) has_several = true;
    if (!is_free && one.fit.count > 1) return false;
    if (!is_free) has_fixed = true;
  }
  return has_fixed && has_several;
}

}  // namespace

std::unique_ptr<SampleFile> open_npy(const FileGroup& group, const ReadContext& context) {
  if (context.inputs.size() != 1)
    throw Error(ErrorCode::kInvalidSamples,
                "An .npy file holds one array, and the model has " + std::to_string(context.inputs.size()) +
                    " inputs: " + input_names(context) + ".",
                {}, "Use an .npz file with an array for each input, under its name.");
  NpyArray array(reader_of(group), group.first().size);
  const ArrayFit fit = fit_samples(array, context.inputs[0]);
  std::vector<InputArray> arrays;
  arrays.push_back({0, std::move(array), fit});
  return std::make_unique<ArrayFile>(std::move(arrays), context);
}

std::unique_ptr<SampleFile> open_npz(const FileGroup& group, const ReadContext& context) {
  const ReadRange read = reader_of(group);
  const std::vector<ZipMember> members = read_zip(read, group.first().size);
  std::vector<std::string> found;
  for (const ZipMember& member : members)
    found.push_back(extension_of(member.name) == ".npy" ? member.name.substr(0, member.name.size() - 4) : member.name);
  std::vector<InputArray> arrays;
  const ZipMember* const labelled = find_labels(members, context.inputs);
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    const InputSpec& input = context.inputs[i];
    const ZipMember* member = find_array(members, labelled, input, context.inputs.size());
    if (member == nullptr && input.is_past()) continue;
    if (member == nullptr)
      throw Error(ErrorCode::kInvalidSamples,
                  "The input \"" + input.name + "\" is missing; the archive holds " +
                      (found.empty() ? "nothing" : quoted_names(found)) + ".",
                  {}, "Save an array for each input under its name: " + input_names(context) + ".");
    try {
      NpyArray array(open_member(read, *member), member->size);
      const ArrayFit fit = fit_array(array.shape(), input);
      arrays.push_back({i, std::move(array), fit});
    } catch (const Error& error) {
      throw Error(error.code, "The array \"" + member->name + "\": " + error.message, error.place, error.hint);
    }
  }
  if (is_one_sample(arrays, context.inputs))
    for (InputArray& one : arrays) one.fit = {1, one.array.shape()};
  for (size_t i = 1; i < arrays.size(); ++i)
    if (arrays[i].fit.count != arrays[0].fit.count)
      throw Error(ErrorCode::kInvalidSamples,
                  "There are " + std::to_string(arrays[0].fit.count) + " samples of the input \"" +
                      context.inputs[arrays[0].input].name + "\" and " + std::to_string(arrays[i].fit.count) +
                      " of \"" + context.inputs[arrays[i].input].name + "\".",
                  {}, "Save as many of each.");
  if (arrays.empty())
    throw Error(ErrorCode::kInvalidSamples, "The model has no inputs, so an archive gives it nothing.", {},
                "Run it without samples.");
  std::optional<NpyArray> labels;
  if (labelled != nullptr) labels = open_labels(read, *labelled, arrays[0].fit.count);
  return std::make_unique<ArrayFile>(std::move(arrays), context, std::move(labels));
}

}  // namespace tersor::samples
