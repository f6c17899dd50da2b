// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "core/base/json.h"
#include "core/samples/preprocessing.h"
#include "tests/catch.h"
#include "tests/samples/make_files.h"

using namespace tersor;
using namespace tersor::samples;
using namespace tersor::test;
using Catch::Matchers::Contains;

namespace {

void put(FileBytes& out, uint32_t value, int width) {
  for (int i = 0; i < width; ++i) out.push_back(static_cast<std::byte>(value >> 8 * i));
}
void put(FileBytes& out, const FileBytes& bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

struct Wav {
  uint32_t kind = 1, channels = 1, rate = 16000, bits = 16;
  FileBytes sound = {};
  FileBytes before = {};                        // chunks before the sound
  std::optional<uint32_t> says = std::nullopt;  // length that the data chunk claims
  bool extensible = false;
};

FileBytes file_of(const Wav& wav) {
  FileBytes form;
  const uint32_t frame = wav.channels * wav.bits / 8;
  put(form, wav.extensible ? 0xfffe : wav.kind, 2);
  put(form, wav.channels, 2);
  put(form, wav.rate, 4);
  put(form, wav.rate * frame, 4);
  put(form, frame, 2);
  put(form, wav.bits, 2);
  if (wav.extensible) {
    put(form, 22, 2);
    put(form, wav.bits, 2);
    put(form, 0, 4);
    put(form, wav.kind, 2);
    put(form, FileBytes(14));
  }
  FileBytes out = bytes_of("RIFF");
  put(out, static_cast<uint32_t>(28 + form.size() + wav.sound.size()), 4);
  put(out, bytes_of("WAVEfmt "));
  put(out, static_cast<uint32_t>(form.size()), 4);
  put(out, form);
  put(out, wav.before);
  put(out, bytes_of("data"));
  put(out, wav.says.value_or(static_cast<uint32_t>(wav.sound.size())), 4);
  put(out, wav.sound);
  return out;
}

FileBytes sound16(std::vector<int16_t> values) {
  return bytes_of(values);
}

DataSetOptions with(std::optional<int64_t> rate, std::optional<int64_t> length) {
  DataSetOptions options;
  options.preprocessing.emplace();
  options.preprocessing->rate = rate;
  options.preprocessing->length = length;
  return options;
}

Tensor load(const Wav& wav, const InputSpec& spec, const DataSetOptions& options = {}) {
  const auto data = open_set({{"a.wav", file_of(wav)}}, {spec}, options);
  data->require_samples();
  return SampleReader(data).load(0)[0];
}

std::string refusal(const Wav& wav, const InputSpec& spec, const DataSetOptions& options = {}) {
  return error_of([&] { load(wav, spec, options); });
}

}  // namespace

TEST_CASE("PCM of every width and float become values from -1 to 1") {
  const InputSpec two = input({1, 2});
  REQUIRE(load({1, 1, 8000, 8, bytes_of(std::vector<uint8_t>{0, 192})}, two) == Tensor::of<float>({1, 2}, {-1, 0.5f}));
  REQUIRE(load({1, 1, 8000, 16, sound16({-32768, 16384})}, two) == Tensor::of<float>({1, 2}, {-1, 0.5f}));
  REQUIRE(load({1, 1, 8000, 24, bytes_of(std::vector<uint8_t>{0, 0, 0x80, 0xff, 0xff, 0x7f})}, two) ==
          Tensor::of<float>({1, 2}, {-1, 8388607.0f / 8388608.0f}));
  REQUIRE(load({1, 1, 8000, 32, bytes_of(std::vector<int32_t>{INT32_MIN, 1 << 30})}, two) ==
          Tensor::of<float>({1, 2}, {-1, 0.5f}));
  REQUIRE(load({3, 1, 8000, 32, bytes_of(std::vector<float>{-0.25f, 0.75f})}, two) ==
          Tensor::of<float>({1, 2}, {-0.25f, 0.75f}));
  Wav extensible{1, 1, 8000, 16, sound16({8192, -8192})};
  extensible.extensible = true;
  REQUIRE(load(extensible, two) == Tensor::of<float>({1, 2}, {0.25f, -0.25f}));
}

TEST_CASE("channels are averaged, other parts passed over, odd ones with their padding") {
  Wav stereo{1, 2, 8000, 16, sound16({16384, 0, -16384, 8192})};
  stereo.before = bytes_of("LIST");
  put(stereo.before, 3, 4);
  put(stereo.before, bytes_of(std::string_view("abc\0", 4)));
  REQUIRE(load(stereo, input({1, 2})) == Tensor::of<float>({1, 2}, {0.25f, -0.125f}));
  stereo.says = 0xffffffff;  // as a streaming writer leaves it
  REQUIRE(load(stereo, input({1, 2})) == Tensor::of<float>({1, 2}, {0.25f, -0.125f}));
}

TEST_CASE("the length crops at the end or pads with zeros") {
  const Wav wav{1, 1, 16000, 16, sound16({8192, 16384, -8192})};
  REQUIRE(load(wav, input({1, 1, 2}), with(16000, 2)) == Tensor::of<float>({1, 1, 2}, {0.25f, 0.5f}));
  REQUIRE(load(wav, input({1, 5}), with({}, 5)) == Tensor::of<float>({1, 5}, {0.25f, 0.5f, -0.25f, 0, 0}));
  REQUIRE(load(wav, input({1, -1})).shape() == Shape{1, 3});
  REQUIRE(load(wav, input({-1})).shape() == Shape{3});
}

TEST_CASE("an input of one sequence says the length itself") {
  const Wav wav{1, 1, 16000, 16, sound16({8192, 16384, -8192})};
  REQUIRE(load(wav, input({1, 2})) == Tensor::of<float>({1, 2}, {0.25f, 0.5f}));
  REQUIRE(load(wav, input({-1, 4, 1})) == Tensor::of<float>({1, 4, 1}, {0.25f, 0.5f, -0.25f, 0}));
}

TEST_CASE("a recording is cut into pieces where that is said, or where the model keeps a state") {
  const Wav wav{1, 1, 16000, 16, sound16({8192, 16384, -8192, 0, 4096})};
  DataSetOptions options = with({}, {});
  options.preprocessing->windows = true;
  const auto cut = open_set({{"a.wav", file_of(wav)}}, {input({1, 2})}, options);
  REQUIRE(cut->size() == 2);
  REQUIRE(cut->name(1) == "a.0001");
  REQUIRE(SampleReader(cut).load(1)[0] == Tensor::of<float>({1, 2}, {-0.25f, 0}));

  InputSpec sound = input({-1, -1}), state = input({2, -1, 3}, DType::kFloat32, "state"),
            rate = input({}, DType::kInt64, "sr");
  state.next = 1;
  sound.shape->at(0).symbol = state.shape->at(1).symbol = "batch";
  const std::vector<InputSpec> inputs = {sound, state, rate};
  const auto open = [&](const DataSetOptions& how) {
    const auto data = open_set({{"a.wav", file_of(wav)}}, inputs, how);
    data->require_samples();
    return data;
  };
  DataSetOptions given = with({}, {});
  given.preprocessing->inputs["sr"] = 16000;
  REQUIRE_THAT(error_of([&] { open(given); }), Contains("does not say how long one is"));
  given.preprocessing->length = 2;
  const auto data = open(given);
  REQUIRE(data->input_sources() == std::vector{InputSource::kSamples, InputSource::kState, InputSource::kNumber});
  REQUIRE(data->size() == 2);
  const std::vector<Tensor> tensors = SampleReader(data).load(1);
  REQUIRE(tensors[0] == Tensor::of<float>({1, 2}, {-0.25f, 0}));
  REQUIRE(tensors[1] == Tensor::of<float>({2, 1, 3}, {0, 0, 0, 0, 0, 0}));
  REQUIRE(tensors[2] == Tensor::scalar<int64_t>(16000));
  // the state of a piece is what the model makes of the pieces before it: here one more than before
  given.make_run = [] {
    return [](const std::vector<Tensor>& in) {
      std::vector<float> next;
      for (const double value : in[1].to_doubles()) next.push_back(static_cast<float>(value) + 1);
      return std::vector<Tensor>{in[0], Tensor::of<float>({2, 1, 3}, next)};
    };
  };
  const auto carried = open(given);
  SampleReader reader(carried);
  REQUIRE(reader.load(1)[1] == Tensor::of<float>({2, 1, 3}, {1, 1, 1, 1, 1, 1}));
  REQUIRE(reader.load(0)[1] == Tensor::of<float>({2, 1, 3}, {0, 0, 0, 0, 0, 0}));
  REQUIRE(reader.load(1)[0] == Tensor::of<float>({1, 2}, {-0.25f, 0}));
  given.preprocessing->inputs["rate"] = 1;
  REQUIRE_THAT(error_of([&] { open(given); }), Contains("preprocessing.inputs | The model has no input \"rate\"."));
}

TEST_CASE("an input that takes the sample rate has the recordings', and others are asked for") {
  const Wav wav{1, 1, 8000, 16, sound16({8192, 16384})}, faster{1, 1, 16000, 16, sound16({8192, 16384})};
  const auto open = [](const Wav& first, const Wav& second, const char* name, std::optional<int64_t> rate = {}) {
    const auto data = open_set({{"a.wav", file_of(first)}, {"b.wav", file_of(second)}},
                               {input({1, 2}), input({}, DType::kInt64, name)}, with(rate, {}));
    data->require_samples();
    return data;
  };
  const auto data = open(wav, wav, "sample_rate");
  REQUIRE(SampleReader(data).load(1)[1] == Tensor::scalar<int64_t>(8000));
  REQUIRE(data->preprocessing().rate == 8000);
  REQUIRE(data->preprocessing().inputs.at("sample_rate") == 8000);
  REQUIRE(data->is_preprocessed());
  REQUIRE_THAT(error_of([&] { open(wav, faster, "sr"); }), Contains("16000 Hz; the preprocessing says 8000 Hz"));
  REQUIRE_THAT(error_of([&] { open(wav, wav, "sr", 16000); }), Contains("8000 Hz; the preprocessing says 16000 Hz"));
  REQUIRE_THAT(error_of([&] { open(wav, wav, "gain"); }),
               Contains("\"gain\"") && Contains("\"inputs\": {\"gain\": ...}"));
}

TEST_CASE("a recording longer than one part is read whole") {
  std::vector<int16_t> values(200000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int16_t>(i % 30000);
  const Tensor tensor = load({1, 1, 16000, 16, sound16(values)}, input({1, 200000}));
  bool right = true;
  for (size_t i = 0; i < values.size(); ++i)
    right = right && tensor.data<float>()[i] == static_cast<float>(values[i]) / 32768.0f;
  REQUIRE(right);
}

TEST_CASE("recordings that cannot be samples say why and what to do") {
  const InputSpec two = input({1, 2});
  const Wav good{1, 1, 8000, 16, sound16({1, 2})};
  REQUIRE_THAT(refusal(good, two, with(16000, {})),
               Contains("The sample rate is 8000 Hz; the preprocessing says 16000 Hz."));
  REQUIRE_THAT(refusal(good, input({1, 40, 50})),
               Contains("has 2 values; the input \"x\" takes 1x40x50") && Contains("Set \"length\": 2000"));
  REQUIRE_THAT(refusal({1, 1, 8000, 16, {}}, two), Contains("The recording is empty."));
  REQUIRE_THAT(refusal({2, 1, 8000, 16, sound16({1, 2})}, two), Contains("compressed sound (format 2)"));
  REQUIRE_THAT(refusal({1, 1, 8000, 12, sound16({1, 2})}, two), Contains("PCM of 12 bits"));
  REQUIRE_THAT(refusal({3, 1, 8000, 64, FileBytes(16)}, two), Contains("float of 64 bits"));
  REQUIRE_THAT(refusal({1, 0, 8000, 16, sound16({1, 2})}, two), Contains("it has no channel"));
  REQUIRE_THAT(refusal({1, 1, 0, 16, sound16({1, 2})}, two), Contains("its sample rate is 0"));
  Wav cut = good;
  cut.says = 5;
  REQUIRE_THAT(refusal(cut, two), Contains("its sound has 5 bytes and 4 are there"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  REQUIRE_THAT(refusal({3, 1, 8000, 32, bytes_of(std::vector<float>{0, nan})}, two), Contains("not a number (NaN)"));
  REQUIRE_THAT(refusal(good, input({1, 2}, DType::kInt64)), Contains("takes int64"));
  REQUIRE_THAT(error_of([&] {
                 open_set({{"a.wav", file_of(good)}}, {two, input({1, 2}, DType::kFloat32, "z")})->require_samples();
               }),
               Contains("the model has 2 inputs"));
  REQUIRE_THAT(error_of([&] {
                 open_set({{"a.wav", bytes_of("ID3")}}, {two})->require_samples();
               }),
               Contains("The file is named .wav and is"));
}

TEST_CASE("a length without bound costs nothing before it is refused") {
  Wav wav{1, 1, 8000, 16, sound16({1, 2})};
  REQUIRE_THAT(refusal(wav, input({1, -1}), with({}, int64_t{1} << 40)), Contains("preprocessing.length"));
  wav.before = bytes_of("junk");
  put(wav.before, 0xfffffff0, 4);
  REQUIRE_THAT(refusal(wav, input({1, 2})), Contains("it is cut short inside its part \"junk\""));
}

TEST_CASE("a description leaves out rate and length where it has none, and reads them back") {
  Preprocessing how;
  REQUIRE_THAT(to_text(to_json(how), false), !Contains("rate") && !Contains("length"));
  how.rate = 16000;
  how.length = 400;
  const Preprocessing again = read_preprocessing(to_text(to_json(how), false), input({1, 400}), "p");
  REQUIRE(again.rate == 16000);
  REQUIRE(again.length == 400);
  REQUIRE_THAT(error_of([] { read_preprocessing("{\"rate\": 0}", input({1, 4}), "p"); }), Contains("p.rate"));
  const Wav wav{1, 1, 8000, 16, sound16({1, 2})};
  REQUIRE_FALSE(open_set({{"a.wav", file_of(wav)}}, {input({1, 2})})->is_preprocessed());
  REQUIRE(open_set({{"a.wav", file_of(wav)}}, {input({1, 2})}, with(8000, {}))->is_preprocessed());
}

TEST_CASE("bytes changed in a recording are read or refused, never worse") {
  const FileBytes good = file_of({1, 2, 8000, 24, FileBytes(24)});
  int read = 0, refused = 0;
  for (size_t at = 0; at < good.size(); ++at)
    for (int flip : {1, 0x80, 0xff}) {
      FileBytes bad = good;
      bad[at] ^= static_cast<std::byte>(flip);
      const std::string error = error_of([&] {
        const auto data = open_set({{"a.wav", bad}}, {input({1, -1})});
        data->require_samples();
        SampleReader(data).load(0);
      });
      (error == "no error" ? read : refused) += 1;
    }
  for (size_t length = 0; length < good.size(); ++length) {
    const FileBytes bad(good.begin(), good.begin() + static_cast<ptrdiff_t>(length));
    REQUIRE(error_of([&] { open_set({{"a.wav", bad}}, {input({1, -1})})->require_samples(); }) != "no error");
  }
  REQUIRE(read > 0);
  REQUIRE(refused > 0);
}
