// SPDX-License-Identifier: Apache-2.0
// Reads and writes the .tstats format of docs/statistics.md: magic, version, length of the header, header (JSON),
// arrays, and SHA-256 of all these. Words of exact sums that no channel of a tensor needs are not written.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/calibrate/statistics.h"

namespace tersor::calibrate {

namespace {

constexpr std::string_view kMagic = "tersorst";
constexpr uint32_t kVersion = 8;
constexpr size_t kDigestBytes = sizeof(Digest);
constexpr size_t kMostTensors = 1 << 20;

/// Words outside of which every sum has only copies of its sign.
class WordRange {
 public:
  void add(const ExactSum& sum) {
    const auto& words = sum.words();
    for (size_t k = 0; k < first_; ++k)
      if (words[k] != 0) first_ = k;
    // The highest written word must carry the sign, so that reading can extend it.
    const uint64_t sign = words.back() >> 63 != 0 ? ~uint64_t{0} : 0;
    for (size_t k = ExactSum::kWords - 1; k > last_; --k)
      if (words[k] != sign || words[k - 1] >> 63 != sign >> 63) last_ = k;
  }
  /// First word and count.
  std::vector<int64_t> pair() const {
    if (first_ > last_) return {0, 0};
    return {static_cast<int64_t>(first_), static_cast<int64_t>(last_ - first_ + 1)};
  }

 private:
  size_t first_ = ExactSum::kWords, last_ = 0;
};

std::vector<int64_t> words_of(const std::vector<ChannelStatistics>& channels, ExactSum ChannelStatistics::*member) {
  WordRange range;
  for (const ChannelStatistics& channel : channels) range.add(channel.*member);
  return range.pair();
}

std::vector<int64_t> words_of(const ExtremeSums& extremes) {
  WordRange range;
  if (extremes.times > 0) range.add(extremes.low), range.add(extremes.high);
  return range.pair();
}

/// Fills bytes from their begin.
class Writer {
 public:
  explicit Writer(std::span<std::byte> bytes) : rest_(bytes) {}

  template <class T>
  void put(T value) {
    static_assert(std::is_arithmetic_v<T>);
    put_bytes(&value, sizeof value);
  }
  template <class T>
  void put_all(std::span<const T> values) {
    put_bytes(values.data(), values.size_bytes());
  }
  void put(std::string_view text) { put_bytes(text.data(), text.size()); }
  /// 64 hexadecimal digits as 32 bytes.
  void put_digest(const std::string& hex) {
    TERSOR_CHECK(hex.size() == 2 * kDigestBytes);
    for (size_t k = 0; k < kDigestBytes; ++k) put(static_cast<uint8_t>(std::stoi(hex.substr(2 * k, 2), nullptr, 16)));
  }
  /// `range` as WordRange::pair() gives it.
  void put_words(const ExactSum& sum, const std::vector<int64_t>& range) {
    put_all(std::span(sum.words()).subspan(static_cast<size_t>(range[0]), static_cast<size_t>(range[1])));
  }
  bool full() const { return rest_.empty(); }

 private:
  void put_bytes(const void* from, size_t count) {
    TERSOR_CHECK(count <= rest_.size());
    if (count > 0) std::memcpy(rest_.data(), from, count);
    rest_ = rest_.subspan(count);
  }

  std::span<std::byte> rest_;
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
  std::string take_digest() { return to_hex(take_bytes(kDigestBytes)); }
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
  int64_t times = 0, by_sample = 0;
  std::vector<int64_t> extreme_words, sum_words, square_words;  // first word and count

  static constexpr auto fields() {
    return std::make_tuple(
        field("name", &TensorEntry::name, ""), field("shape", &TensorEntry::shape, ""),
        field("shape_varies", &TensorEntry::shape_varies, ""), field("elements", &TensorEntry::elements, ""),
        field("channel_axis", &TensorEntry::channel_axis, ""), field("channels", &TensorEntry::channels, ""),
        field("exponent", &TensorEntry::exponent, ""), field("first_bin", &TensorEntry::first_bin, ""),
        field("bins", &TensorEntry::bins, ""), field("times", &TensorEntry::times, ""),
        field("by_sample", &TensorEntry::by_sample, ""), field("extreme_words", &TensorEntry::extreme_words, ""),
        field("sum_words", &TensorEntry::sum_words, ""), field("square_words", &TensorEntry::square_words, ""));
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
  int64_t samples = 0, data_set_size = 0, all_parts = 0;
  std::vector<TensorEntry> tensors;
  std::string measured_plan;
  std::vector<MeasuredEntry> measured;
  std::string rounded_plan;
  int64_t effort = 0;
  std::vector<RoundedEntry> rounded;
  Choices choices;
  Tuning tuning;
  std::vector<RoundedEntry> tuned;
  std::vector<MeasuredEntry> tuned_biases;

  static constexpr auto fields() {
    return std::make_tuple(field("model", &Header::model, ""), field("graph", &Header::graph, ""),
                           field("settings", &Header::settings, ""), field("preprocessing", &Header::preprocessing, ""),
                           field("samples", &Header::samples, ""), field("data_set_size", &Header::data_set_size, ""),
                           field("all_parts", &Header::all_parts, ""), field("tensors", &Header::tensors, ""),
                           field("measured_plan", &Header::measured_plan, ""), field("measured", &Header::measured, ""),
                           field("rounded_plan", &Header::rounded_plan, ""), field("effort", &Header::effort, ""),
                           field("rounded", &Header::rounded, ""), field("choices", &Header::choices, ""),
                           field("tuning", &Header::tuning, ""), field("tuned", &Header::tuned, ""),
                           field("tuned_biases", &Header::tuned_biases, ""));
  }
};

namespace {

TensorEntry entry_of(const TensorStatistics& tensor) {
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
  entry.by_sample = static_cast<int64_t>(tensor.extremes.by_sample.size());
  entry.extreme_words = words_of(tensor.extremes);
  entry.sum_words = words_of(tensor.channels, &ChannelStatistics::sum);
  entry.square_words = words_of(tensor.channels, &ChannelStatistics::sum_of_squares);
  return entry;
}

/// Of the arrays after the header.
size_t bytes_of(const Header& header) {
  constexpr int64_t kWord = sizeof(uint64_t);
  int64_t bytes = header.samples * (kWord + static_cast<int64_t>(kDigestBytes));
  for (const TensorEntry& tensor : header.tensors) {
    if (tensor.bins > 0) bytes += (tensor.bins + 2) * kWord;
    const int64_t channel = 2 * sizeof(float) + (tensor.sum_words[1] + tensor.square_words[1]) * kWord;
    if (tensor.times > 0) bytes += 4 * static_cast<int64_t>(sizeof(float)) + 2 * kWord * tensor.by_sample;
    bytes += 2 * tensor.extreme_words[1] * kWord + tensor.channels * channel;
  }
  for (const auto* outputs : {&header.measured, &header.tuned_biases})
    for (const MeasuredEntry& output : *outputs) bytes += output.channels * kWord;
  for (const auto* weights : {&header.rounded, &header.tuned})
    for (const RoundedEntry& weight : *weights)
      bytes += kWord + weight.scales * static_cast<int64_t>(sizeof(float)) + weight.elements;
  return static_cast<size_t>(bytes);
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

void take_samples(Reader& reader, const TensorEntry& entry, TensorStatistics& tensor) {
  if (entry.by_sample < 0 || static_cast<uint64_t>(entry.by_sample) > reader.left() / (2 * sizeof(uint64_t)))
    broken("The statistics file has an impossible number of samples for \"" + entry.name + "\".");
  for (int64_t k = 0; k < entry.by_sample; ++k) {
    const auto sample = reader.take<uint64_t>();
    const auto low = reader.take<float>(), high = reader.take<float>();
    auto& all = tensor.extremes.by_sample;
    if (!(low <= high && low >= tensor.histogram.min() && high <= tensor.histogram.max()) ||
        (!all.empty() && sample <= all.back().sample))
      broken("The extremes of \"" + entry.name + "\" by sample contradict each other.");
    all.push_back({sample, low, high});
  }
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
    auto &lowest = tensor.extremes.lowest, &highest = tensor.extremes.highest;
    reader.take_all(std::span<float>(lowest));
    reader.take_all(std::span<float>(highest));
    if (!(lowest[0] <= lowest[1] && highest[0] >= highest[1] && std::isfinite(lowest[1]) && std::isfinite(highest[1]) &&
          lowest[0] == tensor.histogram.min() && highest[0] == tensor.histogram.max()))
      broken("The farthest extremes of \"" + entry.name + "\" contradict each other.");
    if (!(tensor.extremes.low.value() <= tensor.extremes.high.value()))
      broken("The mean extremes of \"" + entry.name + "\" contradict each other.");
    take_samples(reader, entry, tensor);
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
    if (!std::isnormal(scale))  // that of a block may be below 0
      broken("A scale of the rounded weight \"" + entry.name + "\" is 0 or not finite.");
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

std::vector<MeasuredEntry> entries_of(const std::vector<MeasuredShift>& shifts) {
  std::vector<MeasuredEntry> entries;
  for (const MeasuredShift& one : shifts) entries.push_back({one.name, static_cast<int64_t>(one.shifts.size())});
  return entries;
}

std::vector<RoundedEntry> entries_of(const std::vector<RoundedWeight>& weights) {
  std::vector<RoundedEntry> entries;
  for (const RoundedWeight& one : weights)
    entries.push_back({one.name, static_cast<int64_t>(one.scales.size()), static_cast<int64_t>(one.codes.size())});
  return entries;
}

void put(Writer& writer, const std::vector<MeasuredShift>& shifts) {
  for (const MeasuredShift& one : shifts) writer.put_all(std::span<const double>(one.shifts));
}

void put(Writer& writer, const std::vector<RoundedWeight>& weights) {
  for (const RoundedWeight& one : weights) {
    writer.put(one.noise_ratio);
    writer.put_all(std::span<const float>(one.scales));
    writer.put_all(std::span<const int8_t>(one.codes));
  }
}

/// The file but for the checksum, with `more` bytes after it.
ByteBuffer packed(const Statistics& statistics, size_t more) {
  Header header;
  const Provenance& from = statistics.provenance;
  header = {from.model_digest,
            from.graph_digest,
            from.settings,
            from.preprocessing,
            static_cast<int64_t>(statistics.samples.size()),
            static_cast<int64_t>(statistics.data_set_size),
            static_cast<int64_t>(std::max<uint64_t>(statistics.all_parts, statistics.samples.size())),
            {},
            statistics.measured.plan,
            {},
            statistics.rounded.plan,
            statistics.rounded.effort,
            {},
            statistics.choices,
            statistics.tuned.tuning,
            {},
            {}};
  for (const TensorStatistics& tensor : statistics.tensors) header.tensors.push_back(entry_of(tensor));
  header.measured = entries_of(statistics.measured.outputs);
  header.rounded = entries_of(statistics.rounded.weights);
  header.tuned = entries_of(statistics.tuned.weights);
  header.tuned_biases = entries_of(statistics.tuned.biases);
  std::string text = to_text(to_json(header), false);
  text.append((8 - text.size() % 8) % 8, ' ');
  ByteBuffer bytes(kMagic.size() + 2 * sizeof(uint32_t) + text.size() + bytes_of(header) + more);
  Writer writer(std::span<std::byte>(bytes).first(bytes.size() - more));
  writer.put(kMagic);
  writer.put(kVersion);
  writer.put(static_cast<uint32_t>(text.size()));
  writer.put(std::string_view(text));
  for (const SampleRecord& sample : statistics.samples) writer.put(sample.index);
  for (const SampleRecord& sample : statistics.samples) writer.put_digest(sample.digest);
  for (size_t k = 0; k < statistics.tensors.size(); ++k) {
    const TensorStatistics& tensor = statistics.tensors[k];
    const TensorEntry& entry = header.tensors[k];
    if (!tensor.histogram.empty()) {
      writer.put(tensor.histogram.zeros());
      writer.put(tensor.histogram.min());
      writer.put(tensor.histogram.max());
      writer.put_all(tensor.histogram.counts());
    }
    if (tensor.extremes.times > 0) {
      writer.put_words(tensor.extremes.low, entry.extreme_words);
      writer.put_words(tensor.extremes.high, entry.extreme_words);
      writer.put_all(std::span<const float>(tensor.extremes.lowest));
      writer.put_all(std::span<const float>(tensor.extremes.highest));
      for (const SampleExtremes& one : tensor.extremes.by_sample)
        writer.put(one.sample), writer.put(one.low), writer.put(one.high);
    }
    for (const ChannelStatistics& channel : tensor.channels) {
      writer.put(channel.min);
      writer.put(channel.max);
    }
    for (const ChannelStatistics& channel : tensor.channels) writer.put_words(channel.sum, entry.sum_words);
    for (const ChannelStatistics& channel : tensor.channels)
      writer.put_words(channel.sum_of_squares, entry.square_words);
  }
  put(writer, statistics.measured.outputs);
  put(writer, statistics.rounded.weights);
  put(writer, statistics.tuned.weights);
  put(writer, statistics.tuned.biases);
  TERSOR_CHECK(writer.full());
  return bytes;
}

}  // namespace

ByteBuffer pack(const Statistics& statistics) {
  return packed(statistics, 0);
}

ByteBuffer write(const Statistics& statistics) {
  ByteBuffer bytes = packed(statistics, kDigestBytes);
  const Digest checksum = sha256(std::span(bytes).first(bytes.size() - kDigestBytes));
  std::copy(checksum.begin(), checksum.end(), bytes.end() - kDigestBytes);
  return bytes;
}

Statistics read(std::span<const std::byte> bytes) {
  if (bytes.size() < kMagic.size() || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    broken("This is not a statistics file of Tersor.");
  if (bytes.size() < kMagic.size() + 2 * sizeof(uint32_t) + kDigestBytes) broken("The statistics file ends too early.");
  const auto body = bytes.first(bytes.size() - kDigestBytes);
  const Digest checksum = sha256(body);
  if (!std::equal(checksum.begin(), checksum.end(), bytes.last(kDigestBytes).begin()))
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
  if (header.all_parts > header.samples) statistics.all_parts = static_cast<uint64_t>(header.all_parts);
  statistics.samples.resize(static_cast<size_t>(header.samples));
  for (SampleRecord& sample : statistics.samples) sample.index = reader.take<uint64_t>();
  for (SampleRecord& sample : statistics.samples) sample.digest = reader.take_digest();
  for (const TensorEntry& entry : header.tensors) statistics.tensors.push_back(take_tensor(reader, entry));
  statistics.measured.plan = header.measured_plan;
  for (const MeasuredEntry& entry : header.measured) statistics.measured.outputs.push_back(take_shifts(reader, entry));
  statistics.rounded.plan = header.rounded_plan;
  statistics.rounded.effort = static_cast<int>(header.effort);
  for (const RoundedEntry& entry : header.rounded) statistics.rounded.weights.push_back(take_rounded(reader, entry));
  statistics.choices = header.choices;
  statistics.tuned.tuning = header.tuning;
  for (const RoundedEntry& entry : header.tuned) statistics.tuned.weights.push_back(take_rounded(reader, entry));
  for (const MeasuredEntry& entry : header.tuned_biases) statistics.tuned.biases.push_back(take_shifts(reader, entry));
  if (reader.left() != 0) broken("The statistics file is longer than its header says.");
  return statistics;
}

}  // namespace tersor::calibrate
