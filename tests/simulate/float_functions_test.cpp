// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/catch.h"
#include "tests/simulate/builder.h"

using namespace tersor;
using namespace tersor::simulate;
using namespace tersor::test;

TEST_CASE("Softsign is the runtime's to the bit") {
  // onnxruntime 1.20.1 and 1.32.0; the third is a last bit from the quotient.
  const std::vector<float> x{-2.75f, -0.4375f, 0.1875f, 0.3125f, 0.6875f, 1.4375f, 3.0625f, 7.5f, 20.125f};
  const std::vector<uint32_t> bits{0xbf3bbbbc, 0xbe9bd37b, 0x3e21af28, 0x3e73cf3d, 0x3ed097b4,
                                   0x3f16f970, 0x3f40fc10, 0x3f61e1e2, 0x3f73e1b4};
  Builder b;
  const ValueId fed = b.graph().add_value("x", DType::kFloat32);
  b.graph().inputs = {fed};
  b.feeds = {Tensor::of<float>(Shape{static_cast<int64_t>(x.size())}, x)};
  b.graph().outputs = {b.node("Softsign", {fed})};
  for (const Profile profile : {Profile::kX64, Profile::kWasm, Profile::kArm64, Profile::kAvx2}) {
    run::Runner runner(run::Program::compile(b.model, registry(profile)));
    const Tensor y = runner.run(b.feeds)[0];
    std::vector<uint32_t> got(x.size());
    std::memcpy(got.data(), y.data<float>().data(), got.size() * sizeof(float));
    REQUIRE(got == bits);
  }
}

TEST_CASE("QuantizeLinear of NaN is the lowest code, and in WebAssembly the code 0") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const DType type : {DType::kUint8, DType::kInt8}) {
    Tensor zero = Tensor::make(type, Shape{});
    zero.mutable_bytes()[0] = std::byte{5};
    Builder b;
    const ValueId fed = b.graph().add_value("x", DType::kFloat32);
    b.graph().inputs = {fed};
    b.feeds = {Tensor::of<float>(Shape{3}, {1, nan, -1})};
    b.graph().outputs = {b.node("QuantizeLinear", {fed, b.constant(Tensor::scalar(0.5f)), b.constant(zero)})};
    for (const Profile profile : {Profile::kX64, Profile::kWasm, Profile::kArm64, Profile::kAvx2}) {
      run::Runner runner(run::Program::compile(b.model, registry(profile)));
      const Tensor y = runner.run(b.feeds)[0];
      const auto lowest = type == DType::kInt8 ? std::byte{0x80} : std::byte{0};
      REQUIRE(y.bytes()[0] == std::byte{7});
      REQUIRE(y.bytes()[1] == (profile == Profile::kWasm ? std::byte{0} : lowest));
      REQUIRE(y.bytes()[2] == std::byte{3});
    }
  }
}
