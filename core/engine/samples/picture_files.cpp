// SPDX-License-Identifier: Apache-2.0
// Files that hold one picture: one sample each.
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/samples/format.h"

namespace tersor::samples {

namespace {

class PictureFile : public SampleFile {
 public:
  PictureFile(const FileGroup& group, const ReadContext& context, DecodePicture decode)
      : source_(group.source), file_(group.files[0]), context_(context), decode_(decode) {}
  int64_t count() const override { return 1; }
  std::vector<Tensor> load(int64_t) override {
    return {picture_to_tensor(decode_(source_.read_all(file_).view), context_.preprocessing, context_.inputs[0])};
  }

 private:
  const FileSource& source_;
  size_t file_;
  const ReadContext& context_;
  DecodePicture decode_;
};

/// Headers are near the beginning, but a JPEG may carry a thumbnail and colour profiles before its own.
void check_header(const FileGroup& group, ReadPictureHeader read_header) {
  constexpr uint64_t kUsual = uint64_t{64} << 10;
  if (group.first().size > kUsual) {
    try {
      read_header(group.source.read_head(group.files[0], kUsual).view);
      return;
    } catch (const Error&) {
      // Either broken or longer; the whole file tells which.
    }
  }
  read_header(group.source.read_all(group.files[0]).view);
}

}  // namespace

std::unique_ptr<SampleFile> open_picture(const FileGroup& group, const ReadContext& context,
                                         ReadPictureHeader read_header, DecodePicture decode) {
  if (context.inputs.size() != 1)
    throw Error(ErrorCode::kInvalidSamples,
                "A picture is one tensor, and the model has " + std::to_string(context.inputs.size()) + " inputs.", {},
                "Use .npz files with an array for each input, under its name.");
  if (group.first().size > kMostPictureBytes)
    throw Error(ErrorCode::kInvalidSamples, "The picture file is " + std::to_string(group.first().size >> 20) +
                                                " MB long, at most " + std::to_string(kMostPictureBytes >> 20) +
                                                " MB are read.");
  if (!picture_input(context.inputs[0]))
    throw Error(ErrorCode::kInvalidSamples,
                "The input \"" + context.inputs[0].name + "\" takes " + context.inputs[0].shape_text() +
                    ", which is no picture of 1 or 3 channels.",
                {}, "Give the samples as .npy arrays.");
  check_header(group, read_header);
  return std::make_unique<PictureFile>(group, context, decode);
}

}  // namespace tersor::samples
