// SPDX-License-Identifier: Apache-2.0
#include "core/samples/sample_digest.h"

#include <cstring>

#include "core/base/digest.h"
#include "core/base/error.h"

namespace tersor::samples {

namespace {

std::string head_of(const Tensor& tensor) {
  return std::string(name_of(tensor.dtype())) + " " + tensor.shape().text() + "\n";
}

}  // namespace

ByteBuffer digested_bytes(std::span<const Tensor> sample) {
  ByteBuffer all;
  for (const Tensor& tensor : sample) {
    const std::string line = head_of(tensor);
    const auto values = tensor.bytes();
    std::byte* to = all.more(line.size() + values.size());
    std::memcpy(to, line.data(), line.size());
    if (!values.empty()) std::memcpy(to + line.size(), values.data(), values.size());
  }
  return all;
}

std::string sample_digest(std::span<const Tensor> sample) {
  Sha256 digest;
  for (const Tensor& tensor : sample) {
    digest.update(head_of(tensor));
    digest.update(tensor.bytes());
  }
  return digest.hex();
}

std::vector<std::string> sample_digests(std::span<const std::vector<Tensor>> samples) {
  if (samples.empty()) return {};
  if (samples.size() == 1) return {sample_digest(samples[0])};
  TERSOR_CHECK(samples.size() == 2 && samples[0].size() == samples[1].size());
  Sha256 first, second;
  for (size_t k = 0; k < samples[0].size(); ++k) {
    first.update(head_of(samples[0][k])), second.update(head_of(samples[1][k]));
    Sha256::update(first, samples[0][k].bytes(), second, samples[1][k].bytes());
  }
  return {first.hex(), second.hex()};
}

std::string data_set_digest(std::span<const std::string> sample_digests) {
  Sha256 digest;
  for (const std::string& one : sample_digests) digest.update(one + "\n");
  return digest.hex();
}

}  // namespace tersor::samples
