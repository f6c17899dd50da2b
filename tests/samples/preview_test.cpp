// SPDX-License-Identifier: Apache-2.0
#include "core/samples/preview.h"

#include "tests/catch.h"
#include "tests/samples/make_files.h"

using namespace tersor;
using namespace tersor::samples;
using namespace tersor::test;

TEST_CASE("a preview shows the file, the tensor and what the tensor looks like") {
  FileBytes rows(7);  // one row of two pixels: black and (255, 51, 102)
  rows[4] = std::byte{255}, rows[5] = std::byte{51}, rows[6] = std::byte{102};
  DataSetOptions options;
  options.preprocessing = preset("unit", input({1, 3, 1, 2}));
  const auto data = open_set({{"p/a.png", png_of({2, 1, 8, 2, 0, {}, rows})}}, {input({1, 3, 1, 2})}, options);
  const SamplePreview shown = preview(data, 0);
  REQUIRE(shown.name == "p/a");
  REQUIRE(shown.path == "p/a.png");
  REQUIRE(shown.picture);
  REQUIRE(shown.picture->width == 2);
  REQUIRE(shown.tensors.size() == 1);
  const TensorPreview& tensor = shown.tensors[0];
  REQUIRE(tensor.whole.min == 0);
  REQUIRE(tensor.whole.max == 1);
  REQUIRE(tensor.channels.size() == 3);
  REQUIRE(tensor.channels[1].max == Approx(0.2));
  REQUIRE(tensor.channels[1].mean == Approx(0.1));
  REQUIRE(tensor.picture);
  REQUIRE(tensor.picture->pixels == shown.picture->pixels);
}

TEST_CASE("a preview of an array has no picture of the file, and one of the tensor only where it is one") {
  const auto plain = preview(open_set({{"a.npy", npy<float>("<f4", "(1, 2)", {-1, 3})}}, {input({1, 2})}), 0);
  REQUIRE_FALSE(plain.picture);
  REQUIRE_FALSE(plain.tensors[0].picture);
  REQUIRE(plain.tensors[0].whole.mean == 1);
  const auto grey = preview(open_set({{"a.npy", npy<float>("<f4", "(1, 1, 1, 2)", {0, 1})}}, {input({1, 1, 1, 2})}), 0);
  REQUIRE(grey.tensors[0].picture);
  REQUIRE(grey.tensors[0].picture->pixels == std::vector<uint8_t>{0, 255});
}
