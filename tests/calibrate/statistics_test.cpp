// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::calibrate;

namespace {

/// The statistics of one sample of a tensor with three channels, and of a tensor without channels.
Statistics of_sample(uint64_t index) {
  std::mt19937 random(static_cast<uint32_t>(index * 7919 + 1));
  Statistics statistics;
  statistics.provenance = {sha256_hex({}), std::string(64, 'a'), R"({"platform":"ort-cpu"})", "null"};
  SampleRecord sample{index, {}};
  Sha256 sha;
  sha.update(std::to_string(index));
  sample.digest = sha.hex();
  statistics.samples = {sample};
  TensorStatistics wide, plain;
  wide.name = "conv";
  wide.channel_axis = 1;
  wide.shape = Shape{1, 3, 5};
  wide.channels.resize(3);
  const float scale = std::ldexp(1.0f, static_cast<int>(random() % 12));
  for (ChannelStatistics& channel : wide.channels) {
    std::vector<float> values(5);
    for (float& x : values) x = (static_cast<float>(random() % 2001) - 1000.0f) / 777.0f * scale;
    channel.min = *std::min_element(values.begin(), values.end());
    channel.max = *std::max_element(values.begin(), values.end());
    channel.sum.add(std::accumulate(values.begin(), values.end(), 0.0));
    double squares = 0;
    for (float x : values) squares += static_cast<double>(x) * x;
    channel.sum_of_squares.add(squares);
    wide.histogram.add(values);
  }
  plain.name = "logits";
  plain.shape = index % 5 == 3 ? Shape{1, 2} : Shape{1, 1};
  const float one = -static_cast<float>(random() % 100);
  plain.histogram.add({&one, 1});
  for (TensorStatistics* tensor : {&wide, &plain})
    tensor->extremes.add(tensor->histogram.min(), tensor->histogram.max());
  wide.elements = wide.histogram.total();
  plain.elements = plain.histogram.total();
  statistics.tensors = {wide, plain};
  return statistics;
}

Statistics merged(const std::vector<Statistics>& parts) {
  Statistics all = parts[0];
  for (size_t k = 1; k < parts.size(); ++k) merge(all, parts[k]);
  return all;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.message;
  }
  return "no error";
}

}  // namespace

TEST_CASE("statistics merged in any partition and order give equal files") {
  std::vector<Statistics> samples;
  for (uint64_t k = 0; k < 40; ++k) samples.push_back(of_sample(k));
  const auto expected = write(merged(samples));
  std::mt19937 random(3);
  for (int round = 0; round < 25; ++round) {
    std::vector<Statistics> parts = samples;
    std::shuffle(parts.begin(), parts.end(), random);
    while (parts.size() > 1) {  // merge two at random until one is left
      const size_t a = random() % parts.size();
      std::swap(parts[a], parts.back());
      const Statistics taken = std::move(parts.back());
      parts.pop_back();
      merge(parts[random() % parts.size()], taken);
    }
    REQUIRE(write(parts[0]) == expected);
  }
}

TEST_CASE("a statistics file gives back what was written") {
  const Statistics all = merged({of_sample(0), of_sample(1), of_sample(2), of_sample(3)});
  REQUIRE(read(write(all)) == all);
  Statistics nothing_seen = of_sample(0);
  nothing_seen.samples.clear();
  for (TensorStatistics& tensor : nothing_seen.tensors)
    tensor = {tensor.name, 0, {}, tensor.channel_axis, {}, {}, false};
  REQUIRE(read(write(nothing_seen)) == nothing_seen);
}

TEST_CASE("sums of every sign and size survive the file") {
  Statistics statistics = of_sample(0);
  for (double x : {0.0, -1.0, -3e30, 5e-40, -std::ldexp(1.0, -160), std::ldexp(1.0, 300), -7e80}) {
    statistics.tensors[0].channels[1].sum = {};
    statistics.tensors[0].channels[1].sum.add(x);
    statistics.tensors[0].channels[2].sum = {};
    REQUIRE(read(write(statistics)) == statistics);
  }
}

TEST_CASE("every cut and every flipped byte of a statistics file is refused") {
  const auto bytes = write(merged({of_sample(0), of_sample(1)}));
  for (size_t size = 0; size < bytes.size(); size += 13) REQUIRE_THROWS_AS(read(std::span(bytes).first(size)), Error);
  for (size_t at = 0; at < bytes.size(); at += 97) {
    std::vector<std::byte> broken(bytes.begin(), bytes.end());
    broken[at] ^= std::byte{0x10};
    REQUIRE_THROWS_AS(read(broken), Error);
  }
  const std::string text = "something else altogether";
  REQUIRE(message_of([&] { read(std::as_bytes(std::span(text))); }) == "This is not a statistics file of Tersor.");
}

TEST_CASE("statistics of another model, of other settings, or of the same sample twice do not merge") {
  const Statistics mine = of_sample(0);
  Statistics into = mine, other = of_sample(1);
  other.provenance.model_digest = std::string(64, 'b');
  REQUIRE(message_of([&] { merge(into, other); }).find("another model") != std::string::npos);
  other = of_sample(1);
  other.provenance.settings = "{}";
  REQUIRE(message_of([&] { merge(into, other); }).find("other settings") != std::string::npos);
  REQUIRE(message_of([&] { merge(into, mine); }).find("Sample 0 was counted in both") == 0);
  REQUIRE(into == mine);
}

TEST_CASE("mean extremes are those of the samples, whatever the order they are merged in, and survive the file") {
  const std::vector<Statistics> parts{of_sample(1), of_sample(2), of_sample(3), of_sample(4)};
  double low = 0, high = 0;
  for (const Statistics& part : parts) {
    low += part.tensors[0].histogram.min();
    high += part.tensors[0].histogram.max();
  }
  const Statistics all = merged(parts), turned = merged({parts[3], parts[1], parts[0], parts[2]});
  const quant::Range mean = all.tensors[0].mean_extremes();
  REQUIRE(mean.low == Approx(low / 4));
  REQUIRE(mean.high == Approx(high / 4));
  REQUIRE(turned.tensors[0].extremes == all.tensors[0].extremes);
  REQUIRE(read(write(all)).tensors[0].extremes == all.tensors[0].extremes);
  TensorStatistics rescaled = all.tensors[0];
  rescaled.extremes = {};
  REQUIRE(rescaled.mean_extremes() == quant::Range{rescaled.histogram.min(), rescaled.histogram.max()});
}

TEST_CASE("means are those of the elements") {
  const Statistics all = merged({of_sample(0), of_sample(1), of_sample(2)});
  double sum = 0, squares = 0;
  for (uint64_t k = 0; k < 3; ++k) {
    const TensorStatistics tensor = of_sample(k).tensors[0];
    sum += tensor.channels[1].sum.value();
    squares += tensor.channels[1].sum_of_squares.value();
  }
  const TensorStatistics& tensor = all.tensors[0];
  REQUIRE(tensor.channel_mean(1) == Approx(sum / 15).epsilon(1e-14));
  REQUIRE(tensor.channel_mean_square(1) == Approx(squares / 15).epsilon(1e-14));
}
