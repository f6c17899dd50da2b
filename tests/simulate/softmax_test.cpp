// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "core/simulate/runtime_softmax.h"
#include "tests/simulate/vectors.h"

using namespace tersor;
using namespace tersor::simulate;
using namespace tersor::test;

namespace {

constexpr size_t kLength = 37;  // two whole vectors of 16 lanes and a part of one

std::vector<float> row() {
  std::vector<float> x;
  for (int k = 0; k < static_cast<int>(kLength); ++k) x.push_back(static_cast<float>(k * 7919 % 101 - 50) * 0.125f);
  return x;
}

std::vector<uint32_t> bits_of_softmax(Profile profile) {
  std::vector<float> y(kLength);
  runtime_softmax(profile, row(), false, y);
  std::vector<uint32_t> bits(kLength);
  std::memcpy(bits.data(), y.data(), kLength * sizeof(float));
  return bits;
}

}  // namespace

TEST_CASE("softmax in float is the runtime's to the bit") {
  // onnxruntime 1.31.1 on x64 with AVX-512, and onnxruntime-web 1.30.0.
  REQUIRE(bits_of_softmax(Profile::kX64) ==
          std::vector<uint32_t>{0x3598f3ed, 0x3948f56d, 0x3d04040e, 0x3795895b, 0x3b44785c, 0x35de8b89, 0x39923253,
                                0x3d4014f8, 0x37d9930b, 0x3b8eee64, 0x3621e68c, 0x39d4b6fb, 0x3d8bbd20, 0x381e48d1,
                                0x3bcff6b3, 0x366b905f, 0x3a1abfc4, 0x3dcb5196, 0x38664d71, 0x3c174aed, 0x36ab5f2b,
                                0x3a612899, 0x3e13e9da, 0x38a78b49, 0x3c5c212a, 0x36f9582d, 0x3aa3cd4a, 0x3e57367d,
                                0x38f3c673, 0x3ca024af, 0x373565a3, 0x3aee5493, 0x3e9c9101, 0x3931586d, 0x3ce901d3,
                                0x3783f72e, 0x3b2d6262});
  REQUIRE(bits_of_softmax(Profile::kWasm) ==
          std::vector<uint32_t>{0x3598f3ec, 0x3948f56a, 0x3d04040d, 0x3795895b, 0x3b44785b, 0x35de8b87, 0x39923252,
                                0x3d4014f7, 0x37d9930b, 0x3b8eee62, 0x3621e68b, 0x39d4b6f9, 0x3d8bbd1f, 0x381e48d0,
                                0x3bcff6b2, 0x366b905d, 0x3a1abfc3, 0x3dcb5195, 0x38664d70, 0x3c174aec, 0x36ab5f2a,
                                0x3a612897, 0x3e13e9d9, 0x38a78b48, 0x3c5c2129, 0x36f9582c, 0x3aa3cd49, 0x3e57367c,
                                0x38f3c673, 0x3ca024ae, 0x373565a1, 0x3aee5492, 0x3e9c9100, 0x3931586c, 0x3ce901d3,
                                0x3783f72d, 0x3b2d6261});
}

TEST_CASE("softmax of every profile is a distribution, and logarithms are of that") {
  for (Profile profile : kAllProfiles)
    for (size_t length : {1, 3, 4, 5, 8, 9, 15, 16, 17, 33}) {
      const std::vector<float> x = row();
      std::vector<float> y(length), logarithms(length);
      runtime_softmax(profile, std::span(x).first(length), false, y);
      runtime_softmax(profile, std::span(x).first(length), true, logarithms);
      double sum = 0, most = x[0];
      for (size_t k = 0; k < length; ++k) most = std::max(most, static_cast<double>(x[k]));
      for (size_t k = 0; k < length; ++k) sum += std::exp(static_cast<double>(x[k]) - most);
      for (size_t k = 0; k < length; ++k) {
        const double wanted = std::exp(static_cast<double>(x[k]) - most) / sum;
        REQUIRE(y[k] == Approx(wanted).epsilon(1e-6));
        REQUIRE(logarithms[k] == Approx(std::log(wanted)).epsilon(1e-6).margin(1e-6));
      }
    }
}

TEST_CASE("softmax of far apart numbers, infinities and nothing") {
  for (Profile profile : kAllProfiles) {
    std::vector<float> y(3);
    runtime_softmax(profile, std::vector<float>{0.0f, -200.0f, -HUGE_VALF}, false, y);
    REQUIRE(y[0] == 1.0f);
    REQUIRE((y[1] >= 0 && y[1] < 1e-37f));
    REQUIRE((y[2] >= 0 && y[2] < 1e-37f));
    runtime_softmax(profile, {}, false, {});
  }
}
