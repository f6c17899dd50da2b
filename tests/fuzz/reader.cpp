// SPDX-License-Identifier: Apache-2.0
#include "core/graph/print.h"
#include "core/onnx/read.h"
#include "core/onnx/write.h"
#include "tests/fuzz/targets.h"

namespace tersor::fuzz {

void reader(Bytes bytes) {
  only_proper_errors([&] {
    const Model read = onnx::read(onnx::Source::of({bytes.begin(), bytes.end()}));
    const auto written = onnx::write(read);
    const Model again = onnx::read(onnx::Source::of(written));
    if (to_text(again.graph) != to_text(read.graph)) throw Finding("what was written reads as another graph");
    if (onnx::write(again) != written) throw Finding("writing twice gives other bytes");
  });
}

}  // namespace tersor::fuzz
