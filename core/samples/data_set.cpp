// SPDX-License-Identifier: Apache-2.0
#include "core/samples/data_set.h"

#include <algorithm>
#include <new>
#include <utility>

#include "core/base/memory_hint.h"

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
  if (!skipped_.empty())
    message += " Of " + std::to_string(skipped_.size()) + " files none can be one, such as \"" + skipped_.front().path +
               "\" (" + skipped_.front().reason + ").";
  std::string known;
  for (const Format& format : samples::formats())
    if (!format.extension.empty()) known += (known.empty() ? "" : ", ") + std::string(format.extension);
  throw Error(
      ErrorCode::kInvalidSamples, message, "samples",
      "Samples are files of these kinds: " + known +
          ", .zip of these, or folders with input_0.pb. Convert pictures and sound of other formats to .png and .wav.");
}

namespace {

/// The tensor, whose first axis is 1, that many times along it.
Tensor repeated(const Tensor& row, int64_t times) {
  std::vector<int64_t> dims = row.shape().dims();
  dims[0] = times;
  Tensor batch = Tensor::make(row.dtype(), Shape(std::move(dims)));
  const auto bytes = row.bytes();
  const auto into = batch.mutable_bytes();
  for (size_t k = 0; k < static_cast<size_t>(times); ++k)
    std::copy(bytes.begin(), bytes.end(), into.begin() + static_cast<std::ptrdiff_t>(k * bytes.size()));
  return batch;
}

}  // namespace

std::vector<Tensor> SampleReader::load(int64_t sample) {
  if (data_->inputs().empty()) return {};
  const DataSet::Entry& entry = data_->entry_of(sample);
  try {
    if (opened_ != &entry) {
      opened_ = nullptr;
      file_ = entry.format->open({data_->source(), entry.files}, data_->context_);
      opened_ = &entry;
    }
    std::vector<Tensor> tensors = file_->load(sample - entry.first);
    for (size_t i = 0; i < tensors.size() && values_ == Values::kFinite; ++i)
      check_finite(tensors[i], data_->inputs()[i]);
    if (data_->batch() > 1)
      for (Tensor& tensor : tensors) tensor = repeated(tensor, data_->batch());
    return tensors;
  } catch (const Error& error) {
    throw error.within(data_->place(sample));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kOutOfMemory, "There is not enough memory to decode this sample.", data_->place(sample),
                kMoreMemory);
  }
}

}  // namespace tersor::samples
