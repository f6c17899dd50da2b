// SPDX-License-Identifier: Apache-2.0
#include "core/samples/fixed_batch.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tersor::samples {

namespace {

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

Tensor first_row(const Tensor& batch) {
  std::vector<int64_t> dims = batch.shape().dims();
  dims[0] = 1;
  Tensor row = Tensor::make(batch.dtype(), Shape(std::move(dims)));
  const auto into = row.mutable_bytes();
  const auto bytes = batch.bytes().first(into.size());
  std::copy(bytes.begin(), bytes.end(), into.begin());
  return row;
}

}  // namespace

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

std::vector<InputSpec> of_one_row(std::vector<InputSpec> inputs) {
  for (InputSpec& input : inputs) input.shape->front().value = 1;
  return inputs;
}

std::vector<Tensor> fill_batch(std::vector<Tensor> rows, int64_t batch) {
  if (batch == 1) return rows;
  for (Tensor& row : rows) row = repeated(row, batch);
  return rows;
}

std::vector<Tensor> first_rows(std::vector<Tensor> tensors, int64_t batch) {
  if (batch == 1) return tensors;
  for (Tensor& tensor : tensors)
    if (tensor.shape().rank() > 0 && tensor.shape()[0] == batch && bits_of(tensor.dtype()) >= 8)
      tensor = first_row(tensor);
  return tensors;
}

}  // namespace tersor::samples
