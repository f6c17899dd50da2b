// SPDX-License-Identifier: Apache-2.0
#include "core/samples/preprocessing.h"

#include "core/base/json.h"
#include "core/samples/resize.h"
#include "tests/catch.h"
#include "tests/samples/make_files.h"
#include "tests/samples/material.h"

using namespace tersor;
using namespace tersor::samples;
using namespace tersor::test;
using Catch::Matchers::Contains;

namespace {

Picture two_pixels() {
  return {2, 1, 3, {0, 100, 255, 50, 150, 200}};
}

std::vector<float> values(const Tensor& tensor) {
  return {tensor.data<float>().begin(), tensor.data<float>().end()};
}

}  // namespace

TEST_CASE("resizing equals the antialiased triangle filter in double") {
  const Picture from{17, 13, 3, {std::begin(material::kResizeFrom), std::end(material::kResizeFrom)}};
  const Picture small = resize(from, 5, 7), large = resize(from, 29, 20);
  REQUIRE(small.pixels == std::vector<uint8_t>(std::begin(material::kResizeTo5x7), std::end(material::kResizeTo5x7)));
  REQUIRE(large.pixels ==
          std::vector<uint8_t>(std::begin(material::kResizeTo29x20), std::end(material::kResizeTo29x20)));
  REQUIRE(resize(from, 17, 13).pixels == from.pixels);
}

TEST_CASE("resizing keeps an even picture even and reaches every pixel") {
  const Picture even{9, 7, 1, std::vector<uint8_t>(63, 200)};
  REQUIRE(resize(even, 2, 3).pixels == std::vector<uint8_t>(6, 200));
  REQUIRE(resize(even, 40, 50).pixels == std::vector<uint8_t>(2000, 200));
  Picture dot{100, 1, 1, std::vector<uint8_t>(100, 0)};
  dot.pixels[37] = 255;
  const Picture reduced = resize(dot, 4, 1);
  REQUIRE(reduced.pixels[1] > 0);
}

TEST_CASE("a picture becomes a tensor in both layouts and channel orders") {
  Preprocessing how;
  REQUIRE(values(picture_to_tensor(two_pixels(), how, input({1, 3, 1, 2}))) ==
          std::vector<float>{0, 50, 100, 150, 255, 200});
  how.channels = Channels::kBgr;
  REQUIRE(values(picture_to_tensor(two_pixels(), how, input({1, 3, 1, 2}))) ==
          std::vector<float>{255, 200, 100, 150, 0, 50});
  how.layout = PictureLayout::kNhwc;
  REQUIRE(values(picture_to_tensor(two_pixels(), how, input({1, 1, 2, 3}))) ==
          std::vector<float>{255, 100, 0, 200, 150, 50});
  how.channels = Channels::kGray;
  REQUIRE(values(picture_to_tensor(two_pixels(), how, input({1, 1, 2, 1}))) == std::vector<float>{88, 126});
  const Picture grey{2, 1, 1, {7, 9}};
  REQUIRE(values(picture_to_tensor(grey, Preprocessing{}, input({1, 3, 1, 2}))) ==
          std::vector<float>{7, 9, 7, 9, 7, 9});
}

TEST_CASE("inputs without batch or channel axis take pictures too") {
  const Picture grey{2, 1, 1, {7, 9}};
  Preprocessing how;
  how.channels = Channels::kGray;
  REQUIRE(picture_to_tensor(grey, how, input({-1, 1, 2})).shape() == Shape{1, 1, 2});
  REQUIRE(picture_to_tensor(two_pixels(), Preprocessing{}, input({3, 1, 2})).shape() == Shape{3, 1, 2});
}

TEST_CASE("the presets give the numbers of their name") {
  const InputSpec small = input({1, 3, 1, 2});
  const auto first = [&](const char* name) {
    return values(picture_to_tensor(two_pixels(), preset(name, small), small));
  };
  REQUIRE(first("raw") == std::vector<float>{0, 50, 100, 150, 255, 200});
  REQUIRE(first("unit")[4] == 1.0f);
  REQUIRE(first("unit")[1] == static_cast<float>(50 * (1.0 / 255)));
  REQUIRE(first("signed") == std::vector<float>{-1, static_cast<float>(-77.5 / 127.5),
                                                static_cast<float>(-27.5 / 127.5), static_cast<float>(22.5 / 127.5), 1,
                                                static_cast<float>(72.5 / 127.5)});
  REQUIRE(first("imagenet")[0] == static_cast<float>((0.0 - 0.485) / 0.229));
  REQUIRE(first("imagenet")[4] == static_cast<float>((255 * (1.0 / 255) - 0.406) / 0.225));
  REQUIRE_THAT(error_of([&] { preset("imagnet", small); }), Contains("imagenet, unit, signed, raw"));
}

TEST_CASE("a preset takes size, channels and layout from the input and leaves a fitting picture alone") {
  const Preprocessing tall = preset("unit", input({-1, 3, 32, 32}));
  REQUIRE(tall.resize.mode == ResizeMode::kShortSide);
  REQUIRE(tall.resize.size == std::vector<int64_t>{32, 32});
  REQUIRE(tall.crop == Crop::kCenter);
  const Preprocessing grey = preset("imagenet", input({-1, 49, 10, 1}));
  REQUIRE(grey.channels == Channels::kGray);
  REQUIRE(grey.layout == PictureLayout::kNhwc);
  REQUIRE(grey.mean.size() == 1);
  const Preprocessing open = preset("unit", input({1, 3, -1, -1}));
  REQUIRE(open.resize.mode == ResizeMode::kMultiple);
  REQUIRE(open.resize.size == std::vector<int64_t>{32, 32});
}

TEST_CASE("short_side scales the shorter side, rounds the other, and the crop takes the middle") {
  Picture stripes{8, 4, 1, {}};
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 8; ++x) stripes.pixels.push_back(static_cast<uint8_t>(x * 10));
  Preprocessing how = preset("raw", input({1, 1, 4, 4}));
  REQUIRE(values(picture_to_tensor(stripes, how, input({1, 1, 4, 4})))[0] == 20);
  how.crop = Crop::kNone;
  REQUIRE(picture_to_tensor(stripes, how, input({1, 1, -1, -1})).shape() == Shape{1, 1, 4, 8});
  how.resize.size = {3, 3};
  REQUIRE(picture_to_tensor(stripes, how, input({1, 1, -1, -1})).shape() == Shape{1, 1, 3, 6});
  const Picture odd{7, 4, 1, std::vector<uint8_t>(28, 1)};
  how.resize.size = {2, 2};  // 3.5 is rounded up
  REQUIRE(picture_to_tensor(odd, how, input({1, 1, -1, -1})).shape() == Shape{1, 1, 2, 4});
}

TEST_CASE("sides that the input leaves open become multiples, beside a fixed one in proportion") {
  Preprocessing how;
  how.channels = Channels::kGray;
  how.resize = {ResizeMode::kMultiple, {4, 8}, ResizeFilter::kBilinear};
  const auto size_of = [&](int64_t width, int64_t height, int64_t wanted_height, int64_t wanted_width) {
    const Picture picture{width, height, 1, std::vector<uint8_t>(static_cast<size_t>(width * height), 9)};
    return picture_to_tensor(picture, how, input({1, 1, wanted_height, wanted_width})).shape();
  };
  REQUIRE(size_of(16, 8, -1, -1) == Shape{1, 1, 8, 16});
  REQUIRE(size_of(13, 5, -1, -1) == Shape{1, 1, 4, 16});
  REQUIRE(size_of(3, 1, -1, -1) == Shape{1, 1, 4, 8});
  REQUIRE(size_of(100, 20, 6, -1) == Shape{1, 1, 6, 32});  // 30 in proportion
  REQUIRE(size_of(20, 100, -1, 6) == Shape{1, 1, 32, 6});
  REQUIRE(size_of(7, 9, 5, 6) == Shape{1, 1, 5, 6});
}

TEST_CASE("fit keeps the proportions and fills with 114") {
  Preprocessing how;
  how.channels = Channels::kGray;
  how.resize = {ResizeMode::kFit, {4, 4}, ResizeFilter::kBilinear};
  const Picture wide{8, 4, 1, std::vector<uint8_t>(32, 200)};
  REQUIRE(values(picture_to_tensor(wide, how, input({1, 1, 4, 4}))) ==
          std::vector<float>{114, 114, 114, 114, 200, 200, 200, 200, 200, 200, 200, 200, 114, 114, 114, 114});
}

TEST_CASE("what does not fit the input is refused with both shapes and a fix") {
  REQUIRE_THAT(
      error_of([] {
        picture_to_tensor(two_pixels(), Preprocessing{}, input({1, 3, 224, 224}));
      }),
      Contains("After preprocessing: The shape is 1x3x1x2, the input \"x\" takes 1x3x224x224. | Resize to 224x224."));
  Preprocessing how;
  how.crop = Crop::kCenter;
  REQUIRE_THAT(error_of([&] {
                 picture_to_tensor(two_pixels(), how, input({1, 3, 4, 4}));
               }),
               Contains("4x4 cannot be cut out of a picture of 1x2"));
  const InputSpec bytes = input({1, 3, 1, 2}, DType::kUint8);
  REQUIRE(picture_to_tensor(two_pixels(), Preprocessing{}, bytes).dtype() == DType::kUint8);
  REQUIRE_THAT(error_of([&] { picture_to_tensor(two_pixels(), preset("unit", bytes), bytes); }),
               Contains("preset raw"));
}

TEST_CASE("a description survives the way through JSON and names its faults") {
  const InputSpec spec = input({-1, 3, 32, 32});
  const Preprocessing how = preset("imagenet", spec);
  const std::string text = to_text(to_json(how), false);
  REQUIRE(
      text ==
      R"({"resize":{"mode":"short_side","size":[32,32],"filter":"bilinear"},"crop":"center","channels":"RGB","layout":"NCHW",)"
      R"("scale":0.00392156862745098,"mean":[0.485,0.456,0.406],"std":[0.229,0.224,0.225],"label_offset":0})");
  REQUIRE(to_text(to_json(read_preprocessing(text, spec, "p")), false) == text);
  REQUIRE(to_text(to_json(read_preprocessing("imagenet", spec, "p")), false) == text);
  REQUIRE(
      to_text(to_json(read_preprocessing("{}", input({1, 8, 8, 1}), "p")), false) ==
      R"({"resize":{"mode":"none","filter":"bilinear"},"crop":"none","channels":"GRAY","layout":"NHWC","scale":1.0,)"
      R"("mean":[0.0],"std":[1.0],"label_offset":0})");
  const auto fault = [&](const char* json) { return error_of([&] { read_preprocessing(json, spec, "p"); }); };
  REQUIRE_THAT(fault(R"({"resize": {"mode": "shrink"}})"),
               Contains("p.resize.mode | \"shrink\" is not a way to resize."));
  REQUIRE_THAT(fault(R"({"resize": {"mode": "fit"}})"), Contains("p.resize.size"));
  REQUIRE_THAT(fault(R"({"mean": [1, 2]})"),
               Contains("p.mean | There are 2 numbers for 3 channels; give one for each, or one for all."));
  REQUIRE_THAT(fault(R"({"std": [0]})"), Contains("not 0"));
  REQUIRE_THAT(fault(R"({"scale": 0})"), Contains("p.scale"));
  REQUIRE_THAT(fault(R"({"resize": {"mode": "stretch", "size": [70000, 1]}})"), Contains("65535"));
  REQUIRE_THAT(fault(R"({"resize": {"mode": "stretch", "size": [60000, 60000]}})"), Contains("million"));
}

TEST_CASE("a tensor turns back into the picture that it came from") {
  for (const char* name : {"imagenet", "unit", "signed", "raw"})
    for (Channels channels : {Channels::kRgb, Channels::kBgr})
      for (PictureLayout layout : {PictureLayout::kNchw, PictureLayout::kNhwc}) {
        const InputSpec spec = layout == PictureLayout::kNchw ? input({1, 3, 1, 2}) : input({1, 1, 2, 3});
        Preprocessing how = preset(name, spec);
        how.channels = channels;
        const auto back = tensor_to_picture(picture_to_tensor(two_pixels(), how, spec), how);
        REQUIRE(back);
        REQUIRE(back->pixels == two_pixels().pixels);
      }
  REQUIRE_FALSE(tensor_to_picture(Tensor::of<float>({1, 5}, {1, 2, 3, 4, 5}), Preprocessing{}));
}

TEST_CASE("the guess follows the input's type, layout and size") {
  REQUIRE(guess_preset(input({-1, 3, 224, 224})) == "imagenet");
  REQUIRE(guess_preset(input({-1, 224, 224, 3})) == "signed");
  REQUIRE(guess_preset(input({-1, 32, 32, 3})) == "unit");
  REQUIRE(guess_preset(input({-1, 1, 28, 28})) == "unit");
  REQUIRE(guess_preset(input({-1, 224, 224, 3}, DType::kUint8)) == "raw");
}
