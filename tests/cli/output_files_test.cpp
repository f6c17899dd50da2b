// SPDX-License-Identifier: Apache-2.0
#include "core/cli/output_files.h"

#include "core/base/error.h"
#include "tests/catch.h"

using namespace tersor;

TEST_CASE("names become file names that stay inside the folder and differ") {
  const std::vector<std::string> names{"a/b", "a:b", "a_b", "..", "", "x.npy", "\xc3", "a_b~2"};
  const std::vector<std::string> wanted{"a_b", "a_b~2", "a_b~3", "_", "_~2", "x.npy", "_~3", "a_b_2"};
  REQUIRE(cli::file_names(names) == wanted);
  const std::vector<std::string> cut = cli::file_names({std::string(300, 'a'), std::string(301, 'a')});
  REQUIRE(cut == std::vector<std::string>{std::string(200, 'a'), std::string(200, 'a') + "~2"});
}

TEST_CASE("file names keep the letters of any script, and nothing that is unseen or no UTF-8") {
  const std::string letters = "\u65e5\u672c-\u00fc\U0001f600";
  REQUIRE(cli::file_names({letters}) == std::vector<std::string>{letters});
  // A slash in too many bytes, half a pair, beyond Unicode, cut short; a control, a mark that turns the text, no space.
  const std::vector<std::string> unsafe{"\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe6\x97",
                                        "\xc2\x85", "\xe2\x80\xae", "\xef\xbb\xbf"};
  for (const std::string& one : unsafe)
    REQUIRE(cli::file_names({one}) == std::vector<std::string>{std::string(one.size(), '_')});
  // No letter is cut in two.
  std::string many = "a";
  for (int k = 0; k < 100; ++k) many += "\u65e5";
  REQUIRE(cli::file_names({many})[0].size() == 199);
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
