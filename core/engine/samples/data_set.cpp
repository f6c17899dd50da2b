// SPDX-License-Identifier: Apache-2.0
#include "core/samples/data_set.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "core/base/memory_hint.h"
#include "core/samples/fixed_batch.h"

namespace tersor::samples {

const DataSet::Entry& DataSet::entry_of(int64_t sample) const {
  TERSOR_CHECK(sample >= 0 && sample < size_);
  const auto after = std::upper_bound(entries_.begin(), entries_.end(), sample,
                                      [](int64_t wanted, const Entry& entry) { return wanted < entry.first; });
  return *(after - 1);
}

std::string DataSet::name(int64_t sample) const {
  const Entry& entry = entry_of(sample);
  if (entry.count == 1) return entry.name;
  std::string number = std::to_string(sample - entry.first);
  if (number.size() < 4) number.insert(0, 4 - number.size(), '0');
  return entry.name + "." + number;
}

std::string DataSet::place(int64_t sample) const {
  return "samples[" + std::to_string(sample) + "] \"" + name(sample) + "\"";
}

const std::string& DataSet::path(int64_t sample) const {
  return entry_of(sample).path;
}

std::optional<size_t> DataSet::class_of(int64_t sample) const {
  if (classes_.empty()) return std::nullopt;
  if (label_source_ == LabelSource::kFiles) return class_of_sample_[static_cast<size_t>(sample)];
  return entry_of(sample).class_index;
}

std::map<std::string, int64_t> DataSet::formats() const {
  std::map<std::string, int64_t> counts;
  for (const Entry& entry : entries_)
    if (entry.format != nullptr) counts[std::string(entry.format->name)] += entry.count;
  return counts;
}

void DataSet::require_samples() const {
  if (!problems_.empty()) {
    const Problem& first = problems_.front();
    std::string hint = first.error.hint;
    if (problems_.size() > 1)
      hint += (hint.empty() ? "" : " ") + std::to_string(problems_.size() - 1) +
              " more of the files cannot be read either.";
    throw Error(first.error.code, first.error.message, "samples \"" + first.path + "\"", hint);
  }
  if (size_ > 0) return;
  std::string message = "There are no samples here.";
  if (!skipped_.empty()) {
    const std::string first = "\"" + skipped_.front().path + "\" (" + skipped_.front().reason + ")";
    message += skipped_.size() == 1 ? " The file " + first + " cannot be read as one."
                                    : " None of the " + std::to_string(skipped_.size()) +
                                          " files can be read as one; the first is " + first + ".";
  }
  std::string known;
  for (const Format& format : samples::formats())
    if (!format.extensions.empty())
      known += (known.empty() ? "" : ", ") + std::string(format.extensions.substr(0, format.extensions.find(' ')));
  throw Error(ErrorCode::kInvalidSamples, message, "samples",
              "Samples are files of these kinds: " + known +
                  ", .zip of these, or folders with input_0.pb. Convert what has another format: pictures to .png, "
                  "recordings to .wav, "
                  "arrays to .npy.");
}

namespace {

/// Zeros, or the value in every place.
Tensor constant(const InputSpec& input, const Shape& shape, double value) {
  if (is_integer(input.dtype) || input.dtype == DType::kBool) {
    if (std::floor(value) != value || std::fabs(value) > 9e15)
      throw Error(ErrorCode::kInvalidSamples,
                  "The input \"" + input.name + "\" takes whole numbers (" + std::string(name_of(input.dtype)) +
                      "), and the preprocessing gives it " + std::to_string(value) + ".",
                  {}, "Give it a whole number.");
    Tensor whole = Tensor::make(DType::kInt64, shape);
    for (int64_t& one : whole.mutable_data<int64_t>()) one = static_cast<int64_t>(value);
    return to_input_type({DType::kInt64, false, shape, {whole.bytes(), std::make_shared<Tensor>(whole)}}, input);
  }
  Tensor tensor = Tensor::make(DType::kFloat64, shape);
  for (double& one : tensor.mutable_data<double>()) one = value;
  return to_input_type({DType::kFloat64, false, tensor.shape(), {tensor.bytes(), std::make_shared<Tensor>(tensor)}},
                       input);
}

}  // namespace

std::vector<Tensor> DataSet::filled(Tensor main) const {
  std::vector<Tensor> tensors;
  // a free dimension is as long as the one of that name in the samples
  std::map<std::string, int64_t> sizes;
  const std::vector<Dim>* const known = inputs()[*main_input_].shape ? &*inputs()[*main_input_].shape : nullptr;
  for (size_t axis = 0; known != nullptr && axis < known->size(); ++axis)
    if (!(*known)[axis].symbol.empty()) sizes.emplace((*known)[axis].symbol, main.shape()[static_cast<int>(axis)]);
  for (size_t i = 0; i < inputs().size(); ++i) {
    if (i == *main_input_) {
      tensors.push_back(main);
      continue;
    }
    const InputSpec& input = inputs()[i];
    if (input.is_past()) {
      tensors.push_back(empty_past(input));
      continue;
    }
    std::vector<int64_t> dims;
    for (const Dim& dim : input.shape.value_or(std::vector<Dim>{})) {
      const auto found = sizes.find(dim.symbol);
      dims.push_back(dim.fixed() ? dim.value : found != sizes.end() ? found->second : 1);
    }
    const Shape shape(std::move(dims));
    constexpr int64_t kMostElements = int64_t{1} << 27;
    if (shape.elements() > kMostElements)
      throw Error(ErrorCode::kInvalidSamples,
                  "The input \"" + input.name + "\" would be filled with " + std::to_string(shape.elements()) +
                      " values, at most " + std::to_string(kMostElements) + " are.",
                  {}, "Use .npz files with an array for each input, under its name.");
    const auto number = preprocessing().inputs.find(input.name);
    tensors.push_back(constant(input, shape, number == preprocessing().inputs.end() ? 0 : number->second));
  }
  return tensors;
}

std::shared_ptr<const DataSet> DataSet::with(const Preprocessing& preprocessing) const {
  DataSetOptions options = options_;
  options.preprocessing = preprocessing;
  return open(source_, model_inputs_, options);
}

std::vector<Tensor> SampleReader::load_piece(int64_t index) {
  const auto filled = [&](int64_t piece) {
    std::vector<Tensor> tensors = file_->load(piece);
    if (data_->main_input_ && opened_->format->is_one_tensor) tensors = data_->filled(std::move(tensors[0]));
    for (size_t i = 0; i < states_.size(); ++i)
      if (data_->input_sources()[i] == InputSource::kState) tensors[i] = states_[i];
    return tensors;
  };
  const bool carries = data_->batch_ == 1 && data_->options_.make_run && data_->context_.keeps_state &&
                       data_->main_input_ && opened_->format->name == "wav" && opened_->count > 1;
  if (!carries) return filled(index);
  if (!run_) run_ = data_->options_.make_run();
  if (index < at_) {
    at_ = 0;
    states_.clear();
  }
  for (; at_ < index; ++at_) {
    const std::vector<Tensor> outputs = run_(filled(at_));
    states_.resize(data_->inputs().size());
    for (size_t i = 0; i < states_.size(); ++i)
      if (data_->input_sources()[i] == InputSource::kState) states_[i] = outputs[*data_->inputs()[i].next];
  }
  return filled(index);
}

std::vector<Tensor> SampleReader::load(int64_t sample) {
  if (data_->inputs().empty()) return {};
  const DataSet::Entry& entry = data_->entry_of(sample);
  try {
    if (opened_ != &entry) {
      opened_ = nullptr;
      file_ = entry.format->open({data_->source(), entry.files}, data_->context_for(*entry.format));
      opened_ = &entry;
      at_ = 0;
      states_.clear();
    }
    std::vector<Tensor> tensors = load_piece(sample - entry.first);
    for (size_t i = 0; i < tensors.size() && values_ == Values::kFinite; ++i)
      check_finite(tensors[i], data_->inputs()[i]);
    return fill_batch(std::move(tensors), data_->batch());
  } catch (const Error& error) {
    throw error.within(data_->place(sample));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kOutOfMemory, "There is not enough memory to decode this sample.", data_->place(sample),
                kMoreMemory);
  }
}

}  // namespace tersor::samples
