// SPDX-License-Identifier: Apache-2.0
// A data set: an ordered list of samples, decoded when asked for. Order and names are the same everywhere
// (docs/data-sets.md): bytewise by relative path, inside an array by index; a name is the path without its extension,
// element k of an array file adds
// ".000k".
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/samples/format.h"

namespace tersor::samples {

/// A file that cannot be a sample of this model, and why.
struct Problem {
  std::string path;
  Error error;
};

/// A file that is no sample at all.
struct Skipped {
  std::string path;
  std::string reason;
};

/// One of the classes that the data set's own labels tell apart.
struct SampleClass {
  std::string name;
  int64_t number = 0;  // output index, label_offset included
  int64_t count = 0;   // samples
};

using RunModel = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

struct DataSetOptions {
  /// Absent: a guess from the model's input, which is_guess() tells.
  std::optional<Preprocessing> preprocessing;
  /// The preset to guess with, of preset_of_graph(); absent: guess_preset().
  std::optional<std::string_view> guess = std::nullopt;
  /// How many classes the model tells apart, where it does; as many in the files' names are then labels.
  std::optional<int64_t> classes = std::nullopt;
  /// The model's names of these, in order. They stand for a labels.txt where all folders (labels, names) are among
  /// them, but for case, hyphens and underscores.
  std::vector<std::string> class_names = {};
  /// Makes a function of its own for each reader that runs the float model: inputs to outputs, in graph order. Pieces
  /// of a recording then get the state that the pieces before them leave; absent: every one starts at zero.
  std::function<RunModel()> make_run = {};
};

/// Where the data set's own labels stand: the first folder of each path; `cat` in `cat_10.png`; a column of a table or
/// an array beside the samples.
enum class LabelSource { kNone, kFolders, kNames, kFiles };

/// How an input of the model comes to its values.
enum class InputSource {
  kSamples,  // the files hold it
  kState,    // it starts at zero, and goes from one piece of a recording to the next
  kNumber,   // the preprocessing's `inputs` fill it
  kAsked,    // a number is missing there
};

/// Immutable once open, and shared between threads; each thread reads through a SampleReader of its own.
class DataSet : public std::enable_shared_from_this<DataSet> {
 public:
  /// Reads the listing and the head of every file. A file that cannot be a sample is a problem(), one of no known
  /// format is skipped(). Where the inputs have one fixed batch, and samples of one row are there but none of the whole
  /// batch, each sample fills all rows (batch()), so that samples, names and labels are the same as for batch 1. Error
  /// kInvalidLabels when labels.txt and the folders do not agree, kInvalidConfig for the preprocessing.
  static std::shared_ptr<const DataSet> open(std::shared_ptr<const FileSource> source, std::vector<InputSpec> inputs,
                                             const DataSetOptions& options = {});
  /// The same files, read with another preprocessing.
  std::shared_ptr<const DataSet> with(const Preprocessing& preprocessing) const;

  /// Error kInvalidSamples: the first problem, or that there is no sample.
  void require_samples() const;

  int64_t size() const { return size_; }
  std::string name(int64_t sample) const;
  /// `samples[3] "cat/0004"`, for errors.
  std::string place(int64_t sample) const;
  /// The path of the file that holds the sample; a folder for a test_data_set.
  const std::string& path(int64_t sample) const;

  /// In the order of their numbers. Folders are classes when every sample lies in one, and when there are two or a
  /// labels.txt; else what the files say of every sample is; else the files' names are where they give as many classes
  /// as the model tells apart. Empty where there are none.
  const std::vector<SampleClass>& classes() const { return classes_; }
  LabelSource label_source() const { return label_source_; }
  /// Index into classes(); absent without classes.
  std::optional<size_t> class_of(int64_t sample) const;
  /// The names in labels.txt; empty where there is none.
  const std::vector<std::string>& class_names() const { return class_names_; }

  const std::vector<Problem>& problems() const { return problems_; }
  const std::vector<Skipped>& skipped() const { return skipped_; }
  /// Samples by format name.
  std::map<std::string, int64_t> formats() const;
  /// Of the files that hold samples.
  uint64_t size_bytes() const { return size_bytes_; }
  bool has_pictures() const { return has_pictures_; }
  /// Whether preprocessing() has a say in the samples: some are pictures, or recordings of a given rate or length.
  bool is_preprocessed() const {
    return has_pictures_ || (has_recordings_ && names_recordings()) || !preprocessing().inputs.empty();
  }
  const Preprocessing& preprocessing() const { return context_.preprocessing; }
  /// True when pictures are read with a preprocessing that nobody gave.
  bool is_guess() const { return guessed_ && has_pictures_; }
  /// The name of the preset that was guessed; empty where somebody gave the preprocessing.
  std::string_view guess() const { return guess_; }
  /// What one sample is read for: where the model has a fixed batch that samples of one row fill, with a batch of 1.
  const std::vector<InputSpec>& inputs() const { return context_.inputs; }
  /// Of each input; all kSamples where the files hold every input, or where more than one input is theirs.
  const std::vector<InputSource>& input_sources() const { return input_sources_; }
  /// How many times a sample is repeated along the first axis, for first_rows() of what the model makes of it; 1 unless
  /// the model has a fixed batch.
  int64_t batch() const { return batch_; }
  const FileSource& source() const { return *source_; }
  const std::shared_ptr<const FileSource>& shared_source() const { return source_; }

 private:
  friend class SampleReader;
  friend class DataSetBuilder;
  struct Entry {
    const Format* format = nullptr;
    std::vector<size_t> files;
    std::string path;  // of the file; of the folder for a group
    std::string name;
    int64_t first = 0;  // number of its first sample
    int64_t count = 0;
    size_t class_index = 0;                // into classes_, where there are any and label_source_ is not kFiles
    std::vector<std::string> labels = {};  // as written, where the file holds them
  };
  DataSet() = default;
  const Entry& entry_of(int64_t sample) const;
  bool names_recordings() const {
    const Preprocessing& how = context_.preprocessing;
    return how.rate || how.length || how.windows;
  }
  const ReadContext& context_for(const Format& format) const {
    return format.is_one_tensor && main_input_ ? main_context_ : context_;
  }
  /// Every input's tensor, from that of the main input; states at zero.
  std::vector<Tensor> filled(Tensor main) const;

  std::shared_ptr<const FileSource> source_;
  DataSetOptions options_;
  ReadContext context_;
  std::vector<InputSpec> model_inputs_;
  ReadContext main_context_;          // of the main input alone
  std::optional<size_t> main_input_;  // the one of several that samples hold
  std::vector<InputSource> input_sources_;
  int64_t batch_ = 1;
  bool guessed_ = false;
  std::string_view guess_;
  bool has_pictures_ = false;
  bool has_recordings_ = false;
  std::vector<Entry> entries_;
  int64_t size_ = 0;
  uint64_t size_bytes_ = 0;
  std::vector<SampleClass> classes_;
  LabelSource label_source_ = LabelSource::kNone;
  std::vector<size_t> class_of_sample_;  // into classes_, where files hold the labels
  std::vector<std::string> class_names_;
  std::vector<Problem> problems_;
  std::vector<Skipped> skipped_;
};

/// Loads samples of a data set; keeps the last file open, so that going through in order is fastest. One per thread.
class SampleReader {
 public:
  /// Values that statistics are made of must be finite; a model that is only run takes what it is given.
  enum class Values : uint8_t { kFinite, kAny };
  explicit SampleReader(std::shared_ptr<const DataSet> data, Values values = Values::kFinite)
      : data_(std::move(data)), values_(values) {}
  /// One tensor for each model input, batch 1 or the fixed batch of the model. Error kInvalidSamples (or kIo) with the
  /// sample's place.
  std::vector<Tensor> load(int64_t sample);

 private:
  /// The tensors of piece `index` of the open recording, after the states of the pieces before it.
  std::vector<Tensor> load_piece(int64_t index);

  std::shared_ptr<const DataSet> data_;
  Values values_;
  const DataSet::Entry* opened_ = nullptr;
  std::unique_ptr<SampleFile> file_;
  RunModel run_;
  int64_t at_ = 0;              // the piece whose states states_ are
  std::vector<Tensor> states_;  // by input; empty: zeros
};

}  // namespace tersor::samples

template <>
struct tersor::EnumWords<tersor::samples::LabelSource> {
  using E = tersor::samples::LabelSource;
  static constexpr const char* kind = "place of labels";
  static constexpr std::pair<E, std::string_view> words[] = {
      {E::kNone, "none"}, {E::kFolders, "folders"}, {E::kNames, "names"}, {E::kFiles, "files"}};
};
template <>
struct tersor::EnumWords<tersor::samples::InputSource> {
  using E = tersor::samples::InputSource;
  static constexpr const char* kind = "source of an input";
  static constexpr std::pair<E, std::string_view> words[] = {
      {E::kSamples, "samples"}, {E::kState, "state"}, {E::kNumber, "number"}, {E::kAsked, "asked"}};
};
