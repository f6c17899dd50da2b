// SPDX-License-Identifier: Apache-2.0
// Opening a data set: which files are samples, in which order, under which names and classes.
#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include "core/base/memory_hint.h"
#include "core/base/names.h"
#include "core/samples/data_set.h"
#include "core/samples/fixed_batch.h"
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
    const auto names = hidden_names();
    if (part.empty() || part[0] == '.' || std::find(names.begin(), names.end(), part) != names.end()) return true;
    start = slash + 1;
  }
  return false;
}

/// What models call an input that takes the sample rate in Hz.
constexpr std::string_view kRateNames[] = {"sr", "sample_rate", "sampling_rate", "samplerate"};

}  // namespace

class DataSetBuilder {
 public:
  DataSetBuilder(std::shared_ptr<const FileSource> source, std::vector<InputSpec> inputs, const DataSetOptions& options,
                 int64_t batch = 1)
      : set_(new DataSet()) {
    set_->source_ = std::move(source);
    set_->batch_ = batch;
    set_->options_ = options;
    set_->context_.inputs = batch == 1 ? inputs : of_one_row(inputs);
    set_->model_inputs_ = std::move(inputs);
    if (options.preprocessing) {
      set_->context_.preprocessing = *options.preprocessing;
      check(*options.preprocessing, "preprocessing");
    }
    divide_inputs();
    const std::vector<InputSpec>& all = set_->context_.inputs;
    if (!options.preprocessing && (all.size() == 1 || set_->main_input_)) {
      const InputSpec& input = all[set_->main_input_.value_or(0)];
      set_->guess_ = options.guess.value_or(guess_preset(input));
      set_->context_.preprocessing = preset(set_->guess_, input);
      set_->guessed_ = true;
    }
    if (set_->main_input_)
      set_->main_context_ = {{all[*set_->main_input_]}, set_->context_.preprocessing, set_->context_.keeps_state};
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
    take_rate();
    for (DataSet::Entry& entry : candidates_) open_entry(std::move(entry));
    settle_doubtful();
    std::sort(set_->problems_.begin(), set_->problems_.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    number_classes();
    return set_;
  }

 private:
  const std::string& path_of(size_t file) const { return set_->source_->files()[file].path; }

  /// Where one of several inputs is all that a file of one tensor can hold, the others are states, numbers that the
  /// preprocessing gives, or single values that it does not give yet.
  void divide_inputs() {
    const std::vector<InputSpec>& inputs = set_->context_.inputs;
    const std::map<std::string, double>& numbers = set_->context_.preprocessing.inputs;
    std::vector<std::string> names;
    for (const InputSpec& one : inputs) names.push_back(one.name);
    for (const auto& [name, value] : numbers) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      throw Error(ErrorCode::kInvalidConfig, "The model has no input \"" + name + "\".", "preprocessing.inputs",
                  suggestion(name, names) + "Its inputs are " + joined(names) + ".");
    }
    std::vector<InputSource>& sources = set_->input_sources_;
    std::vector<size_t> left, single;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const InputSpec& input = inputs[i];
      sources.push_back(numbers.contains(input.name) ? InputSource::kNumber
                        : input.is_state()           ? InputSource::kState
                                                     : InputSource::kSamples);
      set_->context_.keeps_state = set_->context_.keeps_state || input.is_state();
      if (sources[i] == InputSource::kSamples) (is_single(input) ? single : left).push_back(i);
    }
    if (left.empty() && single.size() == 1) left.swap(single);
    if (inputs.size() > 1 && left.size() == 1) {
      set_->main_input_ = left[0];
      for (size_t i : single) sources[i] = InputSource::kAsked;
    } else {
      std::fill(sources.begin(), sources.end(), InputSource::kSamples);
    }
  }

  /// One value, such as a sample rate or a switch.
  static bool is_single(const InputSpec& input) {
    return input.shape &&
           std::all_of(input.shape->begin(), input.shape->end(), [](const Dim& dim) { return dim.value == 1; });
  }

  /// A model that asks for the sample rate has that of the first recording, and all others must have it too.
  void take_rate() {
    for (size_t i = 0; i < set_->inputs().size(); ++i) {
      const std::string& name = set_->inputs()[i].name;
      if (set_->input_sources_[i] != InputSource::kAsked) continue;
      if (std::find(std::begin(kRateNames), std::end(kRateNames), name) == std::end(kRateNames)) continue;
      Preprocessing& how = set_->context_.preprocessing;
      if (!how.rate) how.rate = first_rate();
      if (!how.rate) continue;
      how.inputs[name] = static_cast<double>(*how.rate);
      set_->input_sources_[i] = InputSource::kNumber;
      set_->main_context_.preprocessing = how;
    }
  }

  std::optional<int64_t> first_rate() const {
    for (const DataSet::Entry& entry : candidates_) {
      if (entry.format->rate == nullptr) continue;
      try {
        return entry.format->rate({*set_->source_, entry.files});
      } catch (const Error&) {
        continue;  // said where it is opened
      }
    }
    return std::nullopt;
  }

  void require_numbers() const {
    for (size_t i = 0; i < set_->inputs().size(); ++i) {
      if (set_->input_sources_[i] != InputSource::kAsked) continue;
      const InputSpec& input = set_->inputs()[i];
      throw Error(ErrorCode::kInvalidSamples,
                  "The model also takes \"" + input.name + "\", one value (" + std::string(name_of(input.dtype)) +
                      "), which the file does not hold.",
                  {}, "Give it once for all samples, in the preprocessing: \"inputs\": {\"" + input.name + "\": ...}.");
    }
  }

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
      if (has_extension(format, extension)) {
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
      if (entry.format->is_one_tensor && set_->main_input_) require_numbers();
      const auto file = entry.format->open({*set_->source_, entry.files}, set_->context_for(*entry.format));
      entry.count = file->count();
      entry.first = set_->size_;
      set_->size_ += entry.count;
      entry.labels = file->labels();
      TERSOR_CHECK(entry.labels.empty() || static_cast<int64_t>(entry.labels.size()) == entry.count);
      for (size_t one : entry.files) set_->size_bytes_ += set_->source_->files()[one].size;
      set_->has_pictures_ = set_->has_pictures_ || entry.format->decode != nullptr;
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

  void number_classes() {
    if (!classes_of_folders() && !classes_of_files()) classes_of_names();
  }

  /// Folders are classes when every sample lies in one.
  bool classes_of_folders() {
    std::set<std::string> folders;
    for (const DataSet::Entry& entry : set_->entries_)
      if (!add_folder(entry.path, folders)) return false;
    for (const Problem& problem : set_->problems_)
      if (!add_folder(problem.path, folders)) return false;
    if (folders.size() < 2 && set_->class_names_.empty()) return false;
    const auto index = number(folders, "folder", "Add the name to labels.txt, or rename the folder.");
    for (DataSet::Entry& entry : set_->entries_) {
      entry.class_index = index.at(entry.path.substr(0, entry.path.find('/')));
      set_->classes_[entry.class_index].count += entry.count;
    }
    set_->label_source_ = LabelSource::kFolders;
    return true;
  }

  /// A column or an array of labels, where every file has one.
  bool classes_of_files() {
    std::set<std::string> written;
    const DataSet::Entry* without = nullptr;
    for (const DataSet::Entry& entry : set_->entries_) {
      if (entry.labels.empty()) without = &entry;
      written.insert(entry.labels.begin(), entry.labels.end());
    }
    if (written.empty()) return false;
    if (without != nullptr) {
      set_->problems_.push_back(
          {without->path, Error(ErrorCode::kInvalidSamples, "The file holds no labels, and other files here do.", {},
                                "Give every sample a label, or none; perhaps a column is missing or one too many.")});
      return false;
    }
    const auto index = number(written, "label", "Add it to labels.txt, or correct it.");
    for (DataSet::Entry& entry : set_->entries_) {
      for (const std::string& label : entry.labels) {
        set_->class_of_sample_.push_back(index.at(label));
        ++set_->classes_[index.at(label)].count;
      }
      entry.labels.clear();
    }
    set_->label_source_ = LabelSource::kFiles;
    return true;
  }

  /// `cat` in `cat_10.png`, where these are as many as the model's classes: names of cameras and the like are not.
  bool classes_of_names() {
    std::set<std::string> names;
    for (const DataSet::Entry& entry : set_->entries_) {
      const std::string name = class_in_name(entry.name);
      if (entry.count != 1 || name.empty()) return false;
      names.insert(name);
    }
    if (names.size() < 2 || set_->options_.classes != static_cast<int64_t>(names.size())) return false;
    const auto index = number(names, "name", "Add it to labels.txt, or rename the file.");
    for (DataSet::Entry& entry : set_->entries_) {
      entry.class_index = index.at(class_in_name(entry.name));
      ++set_->classes_[entry.class_index].count;
    }
    set_->label_source_ = LabelSource::kNames;
    return true;
  }

  /// What stands before a last number: "cat" of "cat_10", "cat.10", "cat (10)" and "cat10"; empty where there is none.
  static std::string class_in_name(std::string_view name) {
    constexpr std::string_view kDigits = "0123456789", kClosing = ")]", kBetween = " _-.([";
    const auto without = [](std::string_view text, std::string_view ending) {
      const size_t last = text.find_last_not_of(ending);
      return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
    };
    name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
    const std::string_view numbered = without(name, kClosing), before = without(numbered, kDigits);
    if (before.size() == numbered.size()) return {};
    const std::string_view own = without(before, kBetween);
    return own.find_first_not_of(kDigits) == std::string_view::npos ? std::string() : std::string(own);
  }

  /// Makes the classes, and gives the place of each among them. Whole numbers are themselves; names are numbered as
  /// labels.txt lists them, else bytewise.
  std::map<std::string, size_t> number(const std::set<std::string>& found, const std::string& what,
                                       const std::string& hint) {
    const std::vector<std::string> listed = set_->class_names_.empty() ? model_names(found) : set_->class_names_;
    const bool are_numbers = what == "label" && std::all_of(found.begin(), found.end(), [](const std::string& one) {
                               return one.find_first_not_of("0123456789") == std::string::npos;
                             });
    const int64_t offset = set_->preprocessing().label_offset;
    for (const std::string& name : found) {
      auto at = static_cast<int64_t>(set_->classes_.size());
      if (are_numbers) {
        at = std::stoll(name);
      } else if (!listed.empty()) {
        const auto place = std::find_if(listed.begin(), listed.end(), [&](const std::string& one) {
          return set_->class_names_.empty() ? plain(one) == plain(name) : one == name;
        });
        if (place == listed.end())
          throw Error(ErrorCode::kInvalidLabels,
                      "The " + what + " \"" + shortened(name) + "\" is not among the " + std::to_string(listed.size()) +
                          " classes that labels.txt names.",
                      "samples \"labels.txt\"", hint);
        at = place - listed.begin();
      }
      set_->classes_.push_back({name, at + offset, 0});
    }
    std::sort(set_->classes_.begin(), set_->classes_.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    std::map<std::string, size_t> index;
    for (size_t i = 0; i < set_->classes_.size(); ++i) index[set_->classes_[i].name] = i;
    return index;
  }

  /// "tabby cat" of "Tabby_cat".
  static std::string plain(std::string name) {
    for (char& c : name) c = c == '_' || c == '-' ? ' ' : static_cast<char>(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c);
    return name;
  }

  /// The model's names of its classes, where what was found is among them.
  std::vector<std::string> model_names(const std::set<std::string>& found) const {
    const std::vector<std::string>& names = set_->options_.class_names;
    std::set<std::string> known, wanted;
    for (const std::string& name : names) known.insert(plain(name));
    for (const std::string& name : found) wanted.insert(plain(name));
    const bool are_distinct = known.size() == names.size() && wanted.size() == found.size();
    const bool are_all = std::includes(known.begin(), known.end(), wanted.begin(), wanted.end());
    return are_distinct && are_all ? names : std::vector<std::string>();
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
  auto by_row = DataSetBuilder(std::move(source), std::move(inputs), options, batch).build();
  return by_row->size() > 0 ? by_row : whole;
}

}  // namespace tersor::samples
