// SPDX-License-Identifier: Apache-2.0
#include "core/samples/sample_digest.h"

#include "core/base/digest.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::samples;

TEST_CASE("a sample's digest covers type, shape and bytes of every tensor") {
  const std::vector<Tensor> sample = {Tensor::of<uint8_t>({1, 2}, {65, 66}), Tensor::of<uint8_t>({}, {67})};
  Sha256 wanted;
  wanted.update(std::string_view("uint8 1x2\nABuint8 scalar\nC"));
  REQUIRE(sample_digest(sample) == wanted.hex());
  REQUIRE(sample_digest({}) == sha256_hex({}));
}

TEST_CASE("digests of two samples taken at once are those of each") {
  const auto sample = [](float value, size_t count) {
    const Shape shape{static_cast<int64_t>(count)};
    return std::vector<Tensor>{Tensor::of<float>(shape, std::vector<float>(count, value)),
                               Tensor::of<uint8_t>({}, {67})};
  };
  const std::vector<std::vector<Tensor>> both = {sample(1, 100), sample(2, 77)};
  REQUIRE(sample_digests(both) == std::vector{sample_digest(both[0]), sample_digest(both[1])});
  REQUIRE(sample_digests(std::span(both).first(1)) == std::vector{sample_digest(both[0])});
  REQUIRE(sample_digests({}).empty());
}

TEST_CASE("a data set's digest depends on the samples and their order") {
  const std::vector<std::string> forth = {"aa", "bb"}, back = {"bb", "aa"};
  Sha256 wanted;
  wanted.update(std::string_view("aa\nbb\n"));
  REQUIRE(data_set_digest(forth) == wanted.hex());
  REQUIRE(data_set_digest(back) != data_set_digest(forth));
}
