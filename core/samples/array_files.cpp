// SPDX-License-Identifier: Apache-2.0
// .npy: the samples of the model's only input. .npz: an array for each input.
#include <algorithm>
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
  NpyArray array;
  ArrayFit fit;
};

class ArrayFile : public SampleFile {
 public:
  ArrayFile(std::vector<InputArray> arrays, const ReadContext& context)
      : arrays_(std::move(arrays)), context_(context) {}
  int64_t count() const override { return arrays_[0].fit.count; }
  std::vector<Tensor> load(int64_t index) override {
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < arrays_.size(); ++i)
      tensors.push_back(to_input_type(arrays_[i].array.part(index, arrays_[i].fit.sample), context_.inputs[i]));
    return tensors;
  }

 private:
  std::vector<InputArray> arrays_;
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

const ZipMember* find_array(const std::vector<ZipMember>& members, const InputSpec& input, size_t inputs) {
  for (const ZipMember& member : members)
    if (member.name == input.name + ".npy") return &member;
  // With one input and one array there is nothing to mistake, whatever numpy named it.
  return inputs == 1 && members.size() == 1 ? &members[0] : nullptr;
}

/// A free first axis is no batch where inputs beside it can have none: frames of a recording beside one state. Each
/// array is then its input whole.
bool is_one_sample(const std::vector<InputArray>& arrays, const std::vector<InputSpec>& inputs) {
  bool has_fixed = false, has_several = false;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!fits_whole(arrays[i].array.shape(), inputs[i])) return false;
    const bool is_free = inputs[i].shape && !inputs[i].shape->empty() && !inputs[i].shape->front().fixed();
    if (is_free && arrays[i].fit.count > 1) has_several = true;
    if (!is_free && arrays[i].fit.count > 1) return false;
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
  arrays.push_back({std::move(array), fit});
  return std::make_unique<ArrayFile>(std::move(arrays), context);
}

std::unique_ptr<SampleFile> open_npz(const FileGroup& group, const ReadContext& context) {
  const ReadRange read = reader_of(group);
  const std::vector<ZipMember> members = read_zip(read, group.first().size);
  std::vector<std::string> found;
  for (const ZipMember& member : members)
    found.push_back(extension_of(member.name) == ".npy" ? member.name.substr(0, member.name.size() - 4) : member.name);
  std::vector<InputArray> arrays;
  for (const InputSpec& input : context.inputs) {
    const ZipMember* member = find_array(members, input, context.inputs.size());
    if (member == nullptr)
      throw Error(ErrorCode::kInvalidSamples,
                  "The input \"" + input.name + "\" is missing; the archive holds " +
                      (found.empty() ? "nothing" : quoted_names(found)) + ".",
                  {}, "Save an array for each input under its name: " + input_names(context) + ".");
    try {
      NpyArray array(open_member(read, *member), member->size);
      const ArrayFit fit = fit_array(array.shape(), input);
      arrays.push_back({std::move(array), fit});
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
                      context.inputs[0].name + "\" and " + std::to_string(arrays[i].fit.count) + " of \"" +
                      context.inputs[i].name + "\".",
                  {}, "Save as many of each.");
  if (arrays.empty())
    throw Error(ErrorCode::kInvalidSamples, "The model has no inputs, so an archive gives it nothing.", {},
                "Run it without samples.");
  return std::make_unique<ArrayFile>(std::move(arrays), context);
}

}  // namespace tersor::samples
