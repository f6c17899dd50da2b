// SPDX-License-Identifier: Apache-2.0
// Opening a data set: which files are samples, in which order, under which names and classes.
#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include "core/base/memory_hint.h"
#include "core/samples/data_set.h"
#include "core/samples/labels.h"

namespace tersor::samples {

namespace {

std::string_view folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

/// Files that systems leave lying about, never meant as samples.
bool is_hidden(std::string_view path) {
  for (size_t start = 0; start <= path.size();) {
    const size_t slash = std::min(path.find('/', start), path.size());
    const std::string_view part = path.substr(start, slash - start);
    if (part.empty() || part[0] == '.' || part == "__MACOSX" || part == "Thumbs.db" || part == "desktop.ini")
      return true;
    start = slash + 1;
  }
  return false;
}

/// The first dimension that all inputs have, where it is fixed and more than 1; else 1.
int64_t fixed_batch(const std::vector<InputSpec>& inputs) {
  int64_t batch = 0;
  for (const InputSpec& input : inputs) {
    if (!input.shape || input.shape->empty()) return 1;
    const int64_t first = input.shape->front().value;
    if (first < 2 || (batch != 0 && batch != first)) return 1;
    batch = first;
  }
  return std::max<int64_t>(batch, 1);
}

}  // namespace

class DataSetBuilder {
 public:
  DataSetBuilder(std::shared_ptr<const FileSource> source, std::vector<InputSpec> inputs, const DataSetOptions& options,
                 int64_t batch = 1)
      : set_(new DataSet()) {
    set_->source_ = std::move(source);
    set_->batch_ = batch;
    set_->context_.inputs = std::move(inputs);
    if (options.preprocessing) {
      set_->context_.preprocessing = *options.preprocessing;
      check(*options.preprocessing, "preprocessing");
    } else if (set_->context_.inputs.size() == 1) {
      const InputSpec& input = set_->context_.inputs[0];
      set_->guess_ = options.guess.value_or(guess_preset(input));
      set_->context_.preprocessing = preset(set_->guess_, input);
      set_->guessed_ = true;
    }
  }

  std::shared_ptr<const DataSet> build() {
    if (set_->inputs().empty()) {
      // A model that takes nothing runs once.
      set_->entries_.push_back({nullptr, {}, "", "sample"});
      set_->entries_[0].count = 1;
      set_->size_ = 1;
      return set_;
    }
    for (size_t file : sorted_files()) add_file(file);
    for (DataSet::Entry& entry : candidates_) open_entry(std::move(entry));
    settle_doubtful();
    std::sort(set_->problems_.begin(), set_->problems_.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    number_classes();
    return set_;
  }

 private:
  const std::string& path_of(size_t file) const { return set_->source_->files()[file].path; }

  std::vector<size_t> sorted_files() const {
    std::vector<size_t> order(set_->source_->files().size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    // std::string compares bytes as unsigned, which for UTF-8 is also the order of code points.
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return path_of(a) < path_of(b); });
    return order;
  }

  void add_file(size_t file) {
    const std::string& path = path_of(file);
    if (is_hidden(path)) {
      set_->skipped_.push_back({path, "hidden"});
      return;
    }
    if (const char* instead = set_->source_->files()[file].instead) {
      add_stranger(path, instead);
      return;
    }
    if (path == "labels.txt") {
      set_->class_names_ = read_class_names(set_->source_->read_all(file));
      set_->skipped_.push_back({path, "the names of the classes"});
      return;
    }
    const Bytes head = set_->source_->read_head(file, kHeadBytes);
    const Format* format = find_format(path, head.view);
    if (format == nullptr) {
      add_stranger(path, describe_file(path, head.view));
      return;
    }
    if (format->by_folder) {
      add_to_folder(*format, file);
      return;
    }
    const std::string extension = extension_of(path);
    candidates_.push_back({format, {file}, path, path.substr(0, path.size() - extension.size())});
  }

  void add_stranger(const std::string& path, const std::string& kind) {
    const std::string extension = extension_of(path);
    for (const Format& format : formats())
      if ((!extension.empty() && extension == format.extension) || (extension == ".jpeg" && format.name == "jpeg")) {
        set_->problems_.push_back(
            {path, Error(ErrorCode::kInvalidSamples, "The file is named " + extension + " and is " + kind + ".", {},
                         "Convert it, or leave it out.")});
        return;
      }
    set_->skipped_.push_back({path, kind});
  }

  void add_to_folder(const Format& format, size_t file) {
    const std::string folder(folder_of(path_of(file)));
    const auto [position, fresh] = folders_.try_emplace(folder, candidates_.size());
    if (fresh) {
      candidates_.push_back({&format, {file}, folder, folder.empty() ? set_->source_->folder_name() : folder});
    } else {
      candidates_[position->second].files.push_back(file);
    }
  }

  void open_entry(DataSet::Entry entry) {
    try {
      const auto file = entry.format->open({*set_->source_, entry.files}, set_->context_);
      entry.count = file->count();
      entry.first = set_->size_;
      set_->size_ += entry.count;
      for (size_t one : entry.files) set_->size_bytes_ += set_->source_->files()[one].size;
      set_->has_pictures_ = set_->has_pictures_ || entry.format->name == "png" || entry.format->name == "jpeg";
      set_->has_recordings_ = set_->has_recordings_ || entry.format->name == "wav";
      set_->entries_.push_back(std::move(entry));
    } catch (const Error& error) {
      if (entry.format->may_be_other)
        doubtful_.push_back({entry.path, error});
      else
        set_->problems_.push_back({entry.path, error});
    } catch (const std::bad_alloc&) {
      set_->problems_.push_back({entry.path, Error(ErrorCode::kOutOfMemory,
                                                   "There is not enough memory to open this file.", {}, kMoreMemory)});
    }
  }

  /// A table that cannot be samples is a fault among tables that can, and where nothing else is a sample; beside
  /// samples of other kinds it is most likely a list of labels or the like.
  void settle_doubtful() {
    bool others = false, alike = false;
    for (const DataSet::Entry& entry : set_->entries_) (entry.format->may_be_other ? alike : others) = true;
    for (Problem& one : doubtful_) {
      if (others && !alike)
        set_->skipped_.push_back({one.path, "no table of samples: " + one.error.message});
      else
        set_->problems_.push_back(std::move(one));
    }
    std::sort(set_->skipped_.begin(), set_->skipped_.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
  }

  /// Folders are classes when every sample lies in one. Numbered bytewise, or as labels.txt lists them.
  void number_classes() {
    std::set<std::string> folders;
    for (const DataSet::Entry& entry : set_->entries_)
      if (!add_folder(entry.path, folders)) return;
    for (const Problem& problem : set_->problems_)
      if (!add_folder(problem.path, folders)) return;
    const std::vector<std::string>& names = set_->class_names_;
    if (folders.size() < 2 && names.empty()) return;
    const int64_t offset = set_->preprocessing().label_offset;
    for (const std::string& folder : folders) {
      int64_t number = static_cast<int64_t>(set_->classes_.size());
      if (!names.empty()) {
        const auto found = std::find(names.begin(), names.end(), folder);
        if (found == names.end())
          throw Error(ErrorCode::kInvalidLabels,
                      "The folder \"" + folder + "\" is not among the " + std::to_string(names.size()) +
                          " classes that labels.txt names.",
                      "samples \"labels.txt\"", "Add the name to labels.txt, or rename the folder.");
        number = found - names.begin();
      }
      set_->classes_.push_back({folder, number + offset, 0});
    }
    std::sort(set_->classes_.begin(), set_->classes_.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    std::map<std::string, size_t> index;
    for (size_t i = 0; i < set_->classes_.size(); ++i) index[set_->classes_[i].name] = i;
    for (DataSet::Entry& entry : set_->entries_) {
      entry.class_index = index[entry.path.substr(0, entry.path.find('/'))];
      set_->classes_[entry.class_index].count += entry.count;
    }
  }

  static bool add_folder(const std::string& path, std::set<std::string>& folders) {
    const size_t slash = path.find('/');
    if (slash == std::string::npos) return false;
    folders.insert(path.substr(0, slash));
    return true;
  }

  std::shared_ptr<DataSet> set_;
  std::vector<DataSet::Entry> candidates_;
  std::vector<Problem> doubtful_;
  std::map<std::string, size_t> folders_;  // candidates that are folders
};

std::shared_ptr<const DataSet> DataSet::open(std::shared_ptr<const FileSource> source, std::vector<InputSpec> inputs,
                                             const DataSetOptions& options) {
  const int64_t batch = fixed_batch(inputs);
  auto whole = DataSetBuilder(source, inputs, options).build();
  if (batch == 1 || whole->size() > 0) return whole;
  for (InputSpec& input : inputs) input.shape->front().value = 1;
  auto by_row = DataSetBuilder(std::move(source), std::move(inputs), options, batch).build();
  return by_row->size() > 0 ? by_row : whole;
}

}  // namespace tersor::samples
