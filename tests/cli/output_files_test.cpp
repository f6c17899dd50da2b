// SPDX-License-Identifier: Apache-2.0
#include "core/cli/output_files.h"

#include "core/base/error.h"
#include "tests/catch.h"

using namespace tersor;

TEST_CASE("names become file names that stay inside the folder and differ") {
  const std::vector<std::string> names{"a/b", "a:b", "a_b", "..", "", "x.npy", "\xc3\xa9", "a_b~2"};
  const std::vector<std::string> wanted{"a_b", "a_b~2", "a_b~3", "_", "_~2", "x.npy", "\xc3\xa9", "a_b_2"};
  REQUIRE(cli::file_names(names) == wanted);
  const std::vector<std::string> cut = cli::file_names({std::string(300, 'a'), std::string(301, 'a')});
  REQUIRE(cut == std::vector<std::string>{std::string(200, 'a'), std::string(200, 'a') + "~2"});
}

TEST_CASE("a tensor is written as numpy reads it") {
  const std::vector<std::byte> file = cli::npy_file(Tensor::of<float>({2, 1}, {1.5f, -2}));
  const std::string text(reinterpret_cast<const char*>(file.data()), file.size());
  REQUIRE(text.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  REQUIRE(text.find("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }") == 10);
  REQUIRE((file.size() - 8) % 64 == 0);
  const float* data = reinterpret_cast<const float*>(file.data() + file.size() - 8);
  REQUIRE(data[0] == 1.5f);
  REQUIRE(data[1] == -2);
  const auto header_of = [](const Tensor& tensor) {
    const auto bytes = cli::npy_file(tensor);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  REQUIRE(header_of(Tensor::of<int64_t>({3}, {1, 2, 3})).find("'shape': (3,), }") != std::string::npos);
  REQUIRE(header_of(Tensor::scalar(1.0f)).find("'shape': (), }") != std::string::npos);
  REQUIRE_THROWS_AS(cli::npy_file(Tensor::make(DType::kInt4, {2})), Error);
}
