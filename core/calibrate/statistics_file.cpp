// SPDX-License-Identifier: Apache-2.0
// The .tstats format, described in docs/statistics.md: magic, version, length of the header, header (JSON), arrays,
// SHA-256 of all that. Of the words of exact sums only those are written that some channel of the tensor needs.
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/calibrate/statistics.h"

namespace tersor::calibrate {

namespace {

constexpr std::string_view kMagic = "tersorst";
constexpr uint32_t kVersion = 4;
constexpr size_t kDigestBytes = 32;
constexpr size_t kMostTensors = 1 << 20;

struct WordRange {
  size_t first = 0, count = 0;
};

std::vector<const ExactSum*> sums_of(const std::vector<ChannelStatistics>& channels,
                                     ExactSum ChannelStatistics::*member) {
  std::vector<const ExactSum*> sums;
  for (const ChannelStatistics& channel : channels) sums.push_back(&(channel.*member));
  return sums;
}

std::vector<const ExactSum*> sums_of(const ExtremeSums& extremes) {
  if (extremes.times == 0) return {};
  return {&extremes.low, &extremes.high};
}

/// The words outside of which every sum has only copies of its sign.
WordRange needed_words(const std::vector<const ExactSum*>& sums) {
  size_t first = ExactSum::kWords, last = 0;
  for (const ExactSum* sum : sums) {
    const auto& words = sum->words();
    const uint64_t sign = words.back() >> 63 != 0 ? ~uint64_t{0} : 0;
    for (size_t k = 0; k < words.size(); ++k) {
      if (words[k] != 0) first = std::min(first, k);
      // The highest written word must carry the sign, so that reading can extend it.
      const bool extends = words[k] == sign && (k == 0 || words[k - 1] >> 63 == sign >> 63);
      if (!extends) last = std::max(last, k);
    }
  }
  if (first > last) return {0, 0};
  return {first, last - first + 1};
}

class Writer {
 public:
  Writer() = default;
  explicit Writer(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

  void reserve(size_t bytes) { bytes_.reserve(bytes); }
  template <class T>
  void put(T value) {
    static_assert(std::is_arithmetic_v<T>);
    put_all(std::span<const T>(&value, 1));
  }
  void put(std::string_view text) { put_all(std::span<const char>(text.data(), text.size())); }
  template <class T>
  void put_all(std::span<const T> values) {
    const auto bytes = std::as_bytes(values);
    bytes_.insert(bytes_.end(), bytes.data(), bytes.data() + bytes.size());
  }
  /// 64 hexadecimal digits as 32 bytes.
  void put_digest(const std::string& hex) {
    TERSOR_CHECK(hex.size() == 2 * kDigestBytes);
    for (size_t k = 0; k < kDigestBytes; ++k) put(static_cast<uint8_t>(std::stoi(hex.substr(2 * k, 2), nullptr, 16)));
  }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

[[noreturn]] void broken(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message, "statistics",
              "Make the file anew with \"tersor calibrate\"; it may have been cut short while it was copied.");
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  T take() {
    T value;
    std::memcpy(&value, take_bytes(sizeof value).data(), sizeof value);
    return value;
  }
  std::span<const std::byte> take_bytes(size_t count) {
    if (count > bytes_.size() - position_) broken("The statistics file ends too early.");
    position_ += count;
    return bytes_.subspan(position_ - count, count);
  }
  template <class T>
  void take_all(std::span<T> values) {
    const auto bytes = take_bytes(values.size_bytes());
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  }
  std::string take_digest() {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string hex;
    for (const std::byte byte : take_bytes(kDigestBytes)) {
      hex += kDigits[std::to_integer<unsigned>(byte) >> 4];
      hex += kDigits[std::to_integer<unsigned>(byte) & 15];
    }
    return hex;
  }
  size_t left() const { return bytes_.size() - position_; }

 private:
  std::span<const std::byte> bytes_;
  size_t position_ = 0;
};

}  // namespace

/// One line of the header's directory.
struct TensorEntry {
  std::string name;
  std::vector<int64_t> shape;
  bool shape_varies = false;
  int64_t elements = 0;
  int64_t channel_axis = -1, channels = 0;
  int64_t exponent = 0, first_bin = 0, bins = 0;
  int64_t times = 0;
  std::vector<int64_t> extreme_words, sum_words, square_words;  // first word and count

  static constexpr auto fields() {
    return std::make_tuple(
        field("name", &TensorEntry::name, ""), field("shape", &TensorEntry::shape, ""),
        field("shape_varies", &TensorEntry::shape_varies, ""), field("elements", &TensorEntry::elements, ""),
        field("channel_axis", &TensorEntry::channel_axis, ""), field("channels", &TensorEntry::channels, ""),
        field("exponent", &TensorEntry::exponent, ""), field("first_bin", &TensorEntry::first_bin, ""),
        field("bins", &TensorEntry::bins, ""), field("times", &TensorEntry::times, ""),
        field("extreme_words", &TensorEntry::extreme_words, ""), field("sum_words", &TensorEntry::sum_words, ""),
        field("square_words", &TensorEntry::square_words, ""));
  }
};

struct MeasuredEntry {
  std::string name;
  int64_t channels = 0;

  static constexpr auto fields() {
    return std::make_tuple(field("name", &MeasuredEntry::name, ""), field("channels", &MeasuredEntry::channels, ""));
  }
};

struct RoundedEntry {
  std::string name;
  int64_t scales = 0, elements = 0;

  static constexpr auto fields() {
    return std::make_tuple(field("name", &RoundedEntry::name, ""), field("scales", &RoundedEntry::scales, ""),
                           field("elements", &RoundedEntry::elements, ""));
  }
};

struct Header {
  std::string model, graph, settings, preprocessing;
  int64_t samples = 0, data_set_size = 0;
  std::vector<TensorEntry> tensors;
  std::string measured_plan;
  std::vector<MeasuredEntry> measured;
  std::string rounded_plan;
  int64_t effort = 0;
  std::vector<RoundedEntry> rounded;

  static constexpr auto fields() {
    return std::make_tuple(field("model", &Header::model, ""), field("graph", &Header::graph, ""),
                           field("settings", &Header::settings, ""), field("preprocessing", &Header::preprocessing, ""),
                           field("samples", &Header::samples, ""), field("data_set_size", &Header::data_set_size, ""),
                           field("tensors", &Header::tensors, ""), field("measured_plan", &Header::measured_plan, ""),
                           field("measured", &Header::measured, ""), field("rounded_plan", &Header::rounded_plan, ""),
                           field("effort", &Header::effort, ""), field("rounded", &Header::rounded, ""));
  }
};

namespace {

TensorEntry entry_of(const TensorStatistics& tensor) {
  const auto pair = [](const WordRange& range) {
    return std::vector<int64_t>{static_cast<int64_t>(range.first), static_cast<int64_t>(range.count)};
  };
  TensorEntry entry;
  entry.name = tensor.name;
  entry.shape = tensor.shape.dims();
  entry.shape_varies = tensor.shape_varies;
  entry.elements = static_cast<int64_t>(tensor.elements);
  entry.channel_axis = tensor.channel_axis;
  entry.channels = static_cast<int64_t>(tensor.channels.size());
  entry.exponent = tensor.histogram.exponent();
  entry.first_bin = tensor.histogram.first_bin();
  entry.bins = static_cast<int64_t>(tensor.histogram.counts().size());
  entry.times = static_cast<int64_t>(tensor.extremes.times);
  entry.extreme_words = pair(needed_words(sums_of(tensor.extremes)));
  entry.sum_words = pair(needed_words(sums_of(tensor.channels, &ChannelStatistics::sum)));
  entry.square_words = pair(needed_words(sums_of(tensor.channels, &ChannelStatistics::sum_of_squares)));
  return entry;
}

/// Bytes behind the header, and somewhat more.
size_t bound_of(const Statistics& statistics) {
  constexpr size_t kOfChannel = 2 * sizeof(float) + 2 * ExactSum::kWords * sizeof(uint64_t);
  size_t bytes = kDigestBytes + statistics.samples.size() * (sizeof(uint64_t) + kDigestBytes);
  for (const TensorStatistics& tensor : statistics.tensors)
    bytes += (tensor.histogram.counts().size() + 2 + 2 * ExactSum::kWords) * sizeof(uint64_t) +
             tensor.channels.size() * kOfChannel;
  for (const MeasuredShift& output : statistics.measured.outputs) bytes += output.shifts.size() * sizeof(double);
  for (const RoundedWeight& weight : statistics.rounded.weights)
    bytes += sizeof(double) + weight.scales.size() * sizeof(float) + weight.codes.size();
  return bytes;
}

void put_words(Writer& writer, const std::vector<const ExactSum*>& sums, const std::vector<int64_t>& range) {
  for (const ExactSum* sum : sums)
    writer.put_all(
        std::span<const uint64_t>(sum->words()).subspan(static_cast<size_t>(range[0]), static_cast<size_t>(range[1])));
}

ExactSum take_words(Reader& reader, const std::vector<int64_t>& range) {
  if (range.size() != 2 || range[0] < 0 || range[1] < 0 || range[0] + range[1] > static_cast<int64_t>(ExactSum::kWords))
    broken("The statistics file has sums of an impossible size.");
  std::array<uint64_t, ExactSum::kWords> words{};
  reader.take_all(std::span<uint64_t>(words).subspan(static_cast<size_t>(range[0]), static_cast<size_t>(range[1])));
  const auto end = static_cast<size_t>(range[0] + range[1]);
  const bool negative = end > 0 && words[end - 1] >> 63 != 0;
  for (size_t k = end; k < words.size(); ++k) words[k] = negative ? ~uint64_t{0} : 0;
  return ExactSum(words);
}

quant::Histogram take_histogram(Reader& reader, const TensorEntry& entry) {
  if (entry.bins == 0) return {};
  const auto zeros = reader.take<uint64_t>();
  const auto min = reader.take<float>(), max = reader.take<float>();
  if (entry.bins < 0 || entry.bins > quant::Histogram::kMaxBins || !std::isfinite(min) || !std::isfinite(max) ||
      min > max || entry.exponent != quant::Histogram::exponent_for(min, max))
    broken("The histogram of \"" + entry.name + "\" contradicts itself.");
  const auto exponent = static_cast<int>(entry.exponent);
  if (entry.first_bin != quant::Histogram::bin_of(min, exponent) ||
      entry.first_bin + entry.bins - 1 != quant::Histogram::bin_of(max, exponent))
    broken("The histogram of \"" + entry.name + "\" contradicts its extremes.");
  std::vector<uint64_t> counts(static_cast<size_t>(entry.bins));
  reader.take_all(std::span<uint64_t>(counts));
  return quant::Histogram::of_counts(min, max, exponent, static_cast<int32_t>(entry.first_bin), counts, zeros);
}

TensorStatistics take_tensor(Reader& reader, const TensorEntry& entry) {
  TensorStatistics tensor;
  tensor.name = entry.name;
  tensor.shape = Shape(entry.shape);
  tensor.shape_varies = entry.shape_varies;
  tensor.channel_axis = static_cast<int>(entry.channel_axis);
  tensor.elements = static_cast<uint64_t>(entry.elements);
  tensor.histogram = take_histogram(reader, entry);
  if (!tensor.histogram.empty() && tensor.histogram.total() != tensor.elements)
    broken("The histogram of \"" + entry.name + "\" holds another number of elements than were seen.");
  if (entry.times < 0 || (entry.times > 0 && tensor.histogram.empty()))
    broken("The statistics file counts the extremes of \"" + entry.name + "\" wrongly.");
  tensor.extremes.times = static_cast<uint64_t>(entry.times);
  if (entry.times > 0) {
    tensor.extremes.low = take_words(reader, entry.extreme_words);
    tensor.extremes.high = take_words(reader, entry.extreme_words);
    if (!(tensor.extremes.low.value() <= tensor.extremes.high.value()))
      broken("The mean extremes of \"" + entry.name + "\" contradict each other.");
  }
  if (entry.channels < 0 || static_cast<uint64_t>(entry.channels) > reader.left() / (2 * sizeof(float)))
    broken("The statistics file has an impossible number of channels for \"" + entry.name + "\".");
  tensor.channels.resize(static_cast<size_t>(entry.channels));
  for (ChannelStatistics& channel : tensor.channels) {
    channel.min = reader.take<float>();
    channel.max = reader.take<float>();
    if (!std::isfinite(channel.min) || !std::isfinite(channel.max) || channel.min > channel.max)
      broken("The extremes of a channel of \"" + entry.name + "\" contradict each other.");
  }
  for (ChannelStatistics& channel : tensor.channels) channel.sum = take_words(reader, entry.sum_words);
  for (ChannelStatistics& channel : tensor.channels) channel.sum_of_squares = take_words(reader, entry.square_words);
  return tensor;
}

MeasuredShift take_shifts(Reader& reader, const MeasuredEntry& entry) {
  if (entry.channels < 0 || static_cast<uint64_t>(entry.channels) > reader.left() / sizeof(double))
    broken("The statistics file has an impossible number of channels for \"" + entry.name + "\".");
  MeasuredShift output{entry.name, std::vector<double>(static_cast<size_t>(entry.channels))};
  for (double& shift : output.shifts) {
    shift = reader.take<double>();
    if (!std::isfinite(shift)) broken("A measured shift of \"" + entry.name + "\" is not a number.");
  }
  return output;
}

RoundedWeight take_rounded(Reader& reader, const RoundedEntry& entry) {
  const auto impossible = [&](int64_t count, size_t bytes) {
    return count < 0 || static_cast<uint64_t>(count) > reader.left() / bytes;
  };
  if (impossible(entry.scales, sizeof(float)) || impossible(entry.elements, 1))
    broken("The statistics file has an impossible size of the weight \"" + entry.name + "\".");
  RoundedWeight weight{entry.name, {}, {}, reader.take<double>()};
  if (!(weight.noise_ratio >= 0 && std::isfinite(weight.noise_ratio)))
    broken("The noise of the rounded weight \"" + entry.name + "\" is not a number.");
  weight.scales.resize(static_cast<size_t>(entry.scales));
  reader.take_all(std::span<float>(weight.scales));
  for (const float scale : weight.scales)
    if (!std::isnormal(scale) || scale < 0)
      broken("A scale of the rounded weight \"" + entry.name + "\" is not a positive number.");
  weight.codes.resize(static_cast<size_t>(entry.elements));
  reader.take_all(std::span<int8_t>(weight.codes));
  return weight;
}

Header take_header(Reader& reader) {
  const auto magic = reader.take_bytes(kMagic.size());
  if (std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0) broken("This is not a statistics file of Tersor.");
  const auto version = reader.take<uint32_t>();
  if (version != kVersion)
    broken("The statistics file has format version " + std::to_string(version) + "; this program reads version " +
           std::to_string(kVersion) + ".");
  const auto text = reader.take_bytes(reader.take<uint32_t>());
  Header header;
  const std::string_view json(reinterpret_cast<const char*>(text.data()), text.size());
  from_json(parse_json(json, "statistics", ErrorCode::kInvalidArgument), header, "statistics");
  return header;
}

}  // namespace

std::vector<std::byte> pack(const Statistics& statistics) {
  Header header;
  const Provenance& from = statistics.provenance;
  header = {from.model_digest,
            from.graph_digest,
            from.settings,
            from.preprocessing,
            static_cast<int64_t>(statistics.samples.size()),
            static_cast<int64_t>(statistics.data_set_size),
            {},
            statistics.measured.plan,
            {},
            statistics.rounded.plan,
            statistics.rounded.effort,
            {}};
  for (const TensorStatistics& tensor : statistics.tensors) header.tensors.push_back(entry_of(tensor));
  for (const MeasuredShift& output : statistics.measured.outputs)
    header.measured.push_back({output.name, static_cast<int64_t>(output.shifts.size())});
  for (const RoundedWeight& weight : statistics.rounded.weights)
    header.rounded.push_back(
        {weight.name, static_cast<int64_t>(weight.scales.size()), static_cast<int64_t>(weight.codes.size())});
  std::string text = to_text(to_json(header), false);
  text.append((8 - text.size() % 8) % 8, ' ');
  Writer writer;
  writer.reserve(text.size() + bound_of(statistics));
  writer.put(kMagic);
  writer.put(kVersion);
  writer.put(static_cast<uint32_t>(text.size()));
  writer.put(std::string_view(text));
  for (const SampleRecord& sample : statistics.samples) writer.put(sample.index);
  for (const SampleRecord& sample : statistics.samples) writer.put_digest(sample.digest);
  for (size_t k = 0; k < statistics.tensors.size(); ++k) {
    const TensorStatistics& tensor = statistics.tensors[k];
    if (!tensor.histogram.empty()) {
      writer.put(tensor.histogram.zeros());
      writer.put(tensor.histogram.min());
      writer.put(tensor.histogram.max());
      writer.put_all(tensor.histogram.counts());
    }
    put_words(writer, sums_of(tensor.extremes), header.tensors[k].extreme_words);
    for (const ChannelStatistics& channel : tensor.channels) {
      writer.put(channel.min);
      writer.put(channel.max);
    }
    put_words(writer, sums_of(tensor.channels, &ChannelStatistics::sum), header.tensors[k].sum_words);
    put_words(writer, sums_of(tensor.channels, &ChannelStatistics::sum_of_squares), header.tensors[k].square_words);
  }
  for (const MeasuredShift& output : statistics.measured.outputs)
    writer.put_all(std::span<const double>(output.shifts));
  for (const RoundedWeight& weight : statistics.rounded.weights) {
    writer.put(weight.noise_ratio);
    writer.put_all(std::span<const float>(weight.scales));
    writer.put_all(std::span<const int8_t>(weight.codes));
  }
  return std::move(writer.bytes());
}

std::vector<std::byte> write(const Statistics& statistics) {
  Writer writer(pack(statistics));
  writer.put_digest(sha256_hex(writer.bytes()));
  return std::move(writer.bytes());
}

Statistics read(std::span<const std::byte> bytes) {
  if (bytes.size() < kMagic.size() || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    broken("This is not a statistics file of Tersor.");
  if (bytes.size() < kMagic.size() + 2 * sizeof(uint32_t) + kDigestBytes) broken("The statistics file ends too early.");
  const auto body = bytes.first(bytes.size() - kDigestBytes);
  if (Reader(bytes.last(kDigestBytes)).take_digest() != sha256_hex(body))
    broken("The statistics file is damaged or was cut short: its checksum does not fit.");
  return unpack(body);
}

Statistics unpack(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  const Header header = take_header(reader);
  Statistics statistics;
  statistics.provenance = {header.model, header.graph, header.settings, header.preprocessing};
  if (header.samples < 0 || static_cast<uint64_t>(header.samples) > reader.left() / (sizeof(uint64_t) + kDigestBytes) ||
      header.tensors.size() > kMostTensors)
    broken("The statistics file has an impossible number of samples or tensors.");
  statistics.data_set_size = static_cast<uint64_t>(header.data_set_size);
  statistics.samples.resize(static_cast<size_t>(header.samples));
  for (SampleRecord& sample : statistics.samples) sample.index = reader.take<uint64_t>();
  for (SampleRecord& sample : statistics.samples) sample.digest = reader.take_digest();
  for (const TensorEntry& entry : header.tensors) statistics.tensors.push_back(take_tensor(reader, entry));
  statistics.measured.plan = header.measured_plan;
  for (const MeasuredEntry& entry : header.measured) statistics.measured.outputs.push_back(take_shifts(reader, entry));
  statistics.rounded.plan = header.rounded_plan;
  statistics.rounded.effort = static_cast<int>(header.effort);
  for (const RoundedEntry& entry : header.rounded) statistics.rounded.weights.push_back(take_rounded(reader, entry));
  if (reader.left() != 0) broken("The statistics file is longer than its header says.");
  return statistics;
}

}  // namespace tersor::calibrate
