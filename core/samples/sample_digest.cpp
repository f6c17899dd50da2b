// SPDX-License-Identifier: Apache-2.0
#include "core/samples/sample_digest.h"

#include "core/base/digest.h"

namespace tersor::samples {

std::string sample_digest(std::span<const Tensor> sample) {
  Sha256 digest;
  for (const Tensor& tensor : sample) {
    digest.update(std::string(name_of(tensor.dtype())) + " " + tensor.shape().text() + "\n");
    digest.update(tensor.bytes());
  }
  return digest.hex();
}

std::string data_set_digest(std::span<const std::string> sample_digests) {
  Sha256 digest;
  for (const std::string& one : sample_digests) digest.update(one + "\n");
  return digest.hex();
}

}  // namespace tersor::samples
