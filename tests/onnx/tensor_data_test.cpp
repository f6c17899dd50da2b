// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "core/onnx/read.h"
#include "core/onnx/write.h"
#include "tests/catch.h"
#include "tests/onnx/encoded.h"

using namespace tersor;
using namespace tersor::onnx;
using namespace tersor::test;

namespace {

Message header(const std::vector<int64_t>& dims, DType dtype, const std::string& name = "w") {
  Message message;
  for (const int64_t dim : dims) message.integer(tensor_field::kDims, dim);
  message.integer(tensor_field::kDataType, static_cast<int64_t>(dtype));
  message.text(tensor_field::kName, name);
  return message;
}

Tensor read_initializer(Message tensor) {
  const Model model = read(Source::of(model_with_initializer(std::move(tensor))));
  return *model.graph.initializer(*model.graph.find("w"));
}

template <class T>
std::string raw(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

void add_external(Message& tensor, const std::string& key, const std::string& value) {
  Message entry;
  entry.text(entry_field::kKey, key);
  entry.text(entry_field::kValue, value);
  tensor.message(tensor_field::kExternal, std::move(entry));
}

Message external_tensor(const std::string& location, const std::string& offset, const std::string& length) {
  Message tensor = header({2}, DType::kFloat32);
  add_external(tensor, "location", location);
  if (!offset.empty()) add_external(tensor, "offset", offset);
  if (!length.empty()) add_external(tensor, "length", length);
  tensor.integer(tensor_field::kLocation, 1);
  return tensor;
}

}  // namespace

TEST_CASE("typed data is read packed and one by one") {
  SECTION("floats") {
    Message packed = header({2}, DType::kFloat32), single = header({2}, DType::kFloat32);
    packed.text(tensor_field::kFloats, raw<float>({1.5f, -2.0f}));
    single.number(tensor_field::kFloats, 1.5f);
    single.number(tensor_field::kFloats, -2.0f);
    const Tensor wanted = Tensor::of<float>({2}, {1.5f, -2.0f});
    REQUIRE(read_initializer(packed) == wanted);
    REQUIRE(read_initializer(single) == wanted);
  }
  SECTION("doubles") {
    Message packed = header({2}, DType::kFloat64);
    packed.text(tensor_field::kDoubles, raw<double>({0.1, -3e300}));
    REQUIRE(read_initializer(packed) == Tensor::of<double>({2}, {0.1, -3e300}));
  }
  SECTION("int64") {
    Message single = header({3}, DType::kInt64);
    for (const int64_t value : {-1, 0, 300}) single.integer(tensor_field::kInt64s, value);
    REQUIRE(read_initializer(single) == Tensor::of<int64_t>({3}, {-1, 0, 300}));
  }
  SECTION("uint32 and uint64 in the field of uint64") {
    Message small = header({2}, DType::kUint32), large = header({1}, DType::kUint64);
    small.text(tensor_field::kUint64s, "\x07\xff\xff\xff\xff\x0f");
    large.text(tensor_field::kUint64s, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    REQUIRE(read_initializer(small) == Tensor::of<uint32_t>({2}, {7u, 0xffffffffu}));
    REQUIRE(read_initializer(large) == Tensor::of<uint64_t>({1}, {~uint64_t{0}}));
  }
  SECTION("small types in the field of int32") {
    Message bytes = header({2}, DType::kInt8), flags = header({2}, DType::kBool), halves = header({1}, DType::kFloat16);
    bytes.integer(tensor_field::kInt32s, -128);
    bytes.integer(tensor_field::kInt32s, 127);
    flags.text(tensor_field::kInt32s, std::string("\x01\x00", 2));
    halves.integer(tensor_field::kInt32s, 0x3c00);
    REQUIRE(read_initializer(bytes) == Tensor::of<int8_t>({2}, {-128, 127}));
    REQUIRE(read_initializer(flags).to_int64s() == std::vector<int64_t>{1, 0});
    REQUIRE(read_initializer(halves).to_doubles() == std::vector<double>{1.0});
  }
  SECTION("4-bit types stay packed, two to a byte") {
    Message typed = header({3}, DType::kUint4), as_raw = header({3}, DType::kInt4);
    typed.integer(tensor_field::kInt32s, 0x21);
    typed.integer(tensor_field::kInt32s, 0x03);
    as_raw.text(tensor_field::kRaw, "\x21\x03");
    REQUIRE(read_initializer(typed).bytes().size() == 2);
    REQUIRE(read_initializer(typed).bytes()[0] == std::byte{0x21});
    REQUIRE(read_initializer(as_raw).bytes()[1] == std::byte{0x03});
  }
  SECTION("complex numbers are pairs") {
    Message tensor = header({1}, DType::kComplex64);
    tensor.text(tensor_field::kFloats, raw<float>({1, 2}));
    REQUIRE(read_initializer(tensor).bytes().size() == 8);
  }
}

TEST_CASE("tensors without elements, scalars and strings are read") {
  REQUIRE(read_initializer(header({0, 3}, DType::kFloat32)).elements() == 0);
  Message scalar = header({}, DType::kInt32), text = header({2}, DType::kString);
  scalar.integer(tensor_field::kInt32s, 42);
  text.text(tensor_field::kStrings, "a");
  text.text(tensor_field::kStrings, "");
  REQUIRE(read_initializer(scalar) == Tensor::scalar<int32_t>(42));
  REQUIRE(read_initializer(text).strings() == std::vector<std::string>{"a", ""});
}

TEST_CASE("a tensor whose data does not fill its shape is refused with both numbers") {
  Message missing = header({2, 3}, DType::kFloat32), few = header({2, 3}, DType::kInt64);
  Message odd = header({2}, DType::kFloat32);
  few.integer(tensor_field::kInt64s, 1);
  odd.text(tensor_field::kRaw, "12345");
  for (Message* tensor : {&missing, &few, &odd}) {
    const Error error = read_error(model_with_initializer(*tensor));
    REQUIRE(error.code == ErrorCode::kInvalidModel);
    REQUIRE(error.place == "graph.initializer[0] \"w\"");
  }
  REQUIRE(read_error(model_with_initializer(few)).message == "A int64 tensor of shape 2x3 needs 6 numbers, found 1.");
}

TEST_CASE("dimensions that multiply past memory are refused without allocating") {
  const int64_t huge = int64_t{1} << 31;
  const std::vector<std::vector<int64_t>> cases = {
      {huge, huge}, {huge, huge, huge}, {int64_t{1} << 62}, {int64_t{1} << 32}, {-1}, {3, -4}};
  for (const std::vector<int64_t>& dims : cases) {
    Message bare = header(dims, DType::kFloat32), with_data = bare, with_raw = bare;
    with_data.number(tensor_field::kFloats, 1.0f);
    with_raw.text(tensor_field::kRaw, "");
    for (Message* tensor : {&bare, &with_data, &with_raw}) {
      const Error error = read_error(model_with_initializer(*tensor));
      REQUIRE(error.place == "graph.initializer[0] \"w\"");
      REQUIRE((error.code == ErrorCode::kInvalidModel || error.code == ErrorCode::kOutOfMemory));
    }
  }
}

TEST_CASE("a bool that is neither 0 nor 1 is refused") {
  Message tensor = header({2}, DType::kBool), right = tensor;
  right.text(tensor_field::kRaw, raw<uint8_t>({0, 1}));
  REQUIRE(read_initializer(right).elements() == 2);
  tensor.text(tensor_field::kRaw, raw<uint8_t>({1, 58}));
  const Error error = read_error(model_with_initializer(std::move(tensor)));
  REQUIRE(error.code == ErrorCode::kInvalidModel);
  REQUIRE(error.message.find("58") != std::string::npos);
}

TEST_CASE("element types that nobody knows are refused by number") {
  REQUIRE(read_error(model_with_initializer(header({1}, static_cast<DType>(27)))).message.find("27") !=
          std::string::npos);
  REQUIRE(read_error(model_with_initializer(header({1}, DType::kUndefined))).code == ErrorCode::kInvalidModel);
}

TEST_CASE("external data is taken from its place in the file, which is asked for once") {
  auto bytes = std::vector<std::byte>(32);
  const float values[] = {3.5f, -1.0f};
  std::memcpy(bytes.data() + 16, values, sizeof(values));
  const Source file = Source::of(std::move(bytes));
  int asked = 0;
  const ExternalData find = [&](const std::string& location) {
    ++asked;
    REQUIRE(location == "weights/all.bin");
    return file;
  };
  Message graph;
  graph.message(graph_field::kNode, plain_node("Relu", {"x"}, {"y"}));
  graph.message(graph_field::kInitializer, external_tensor("weights/all.bin", "16", "8"));
  Message named = header({4}, DType::kUint8, "v");
  add_external(named, "location", "weights/all.bin");
  named.integer(tensor_field::kLocation, 1);
  graph.message(graph_field::kInitializer, std::move(named));
  graph.message(graph_field::kInput, tensor_value("x", 1, {2}));
  graph.message(graph_field::kOutput, tensor_value("y", 1, {2}));
  const Model model = read(Source::of(model_file(std::move(graph))), find);
  const Tensor& w = *model.graph.initializer(*model.graph.find("w"));
  REQUIRE(w.bytes().data() == file.bytes.data() + 16);
  REQUIRE(w == Tensor::of<float>({2}, {3.5f, -1.0f}));
  REQUIRE(asked == 1);
}

TEST_CASE("external data that is missing or lies is refused") {
  const Source file = Source::of(std::vector<std::byte>(16));
  const ExternalData find = [&](const std::string&) { return file; };
  const auto refusal = [&](const std::string& location, const std::string& offset, const std::string& length) {
    return read_error(model_with_initializer(external_tensor(location, offset, length)), find);
  };
  REQUIRE(refusal("a.bin", "9", "8").message.find("has 16 bytes") != std::string::npos);
  REQUIRE(refusal("a.bin", "999999999999999999", "8").code == ErrorCode::kInvalidModel);
  REQUIRE(refusal("a.bin", "-8", "8").message.find("no whole number") != std::string::npos);
  REQUIRE(refusal("a.bin", "0", "99999999999999999999").message.find("no whole number") != std::string::npos);
  REQUIRE(refusal("a.bin", "0", "4").message == "The tensor needs 8 bytes, its external data says 4.");
  REQUIRE(refusal("", "0", "8").message.find("names no file") != std::string::npos);
  for (const char* outside : {"../a.bin", "/etc/passwd", "a/../../b", "C:\\a.bin", "..\\a.bin", ".."})
    REQUIRE(refusal(outside, "0", "8").message.find("outside") != std::string::npos);
  const Error missing = read_error(model_with_initializer(external_tensor("model.onnx.data", "0", "8")));
  REQUIRE(missing.code == ErrorCode::kIo);
  REQUIRE(missing.message.find("model.onnx.data") != std::string::npos);
  REQUIRE(missing.place == "graph.initializer[0] \"w\"");
}

TEST_CASE("large tensors are written into a file beside the model") {
  Message small = header({2}, DType::kFloat32);
  small.text(tensor_field::kFloats, raw<float>({1, 2}));
  Model model = read(Source::of(model_with_initializer(std::move(small))));
  std::vector<float> large(3000);
  for (size_t k = 0; k < large.size(); ++k) large[k] = static_cast<float>(k);
  model.graph.add_initializer("large", Tensor::of<float>({3000}, std::span<const float>(large)));
  model.graph.add_initializer("larger", Tensor::of<float>({3, 1000}, std::span<const float>(large)));
  std::vector<std::byte> beside;
  WriteOptions options;
  options.external = ExternalTarget{"m.data", 4096, [&](std::span<const std::byte> bytes) {
                                      beside.insert(beside.end(), bytes.begin(), bytes.end());
                                    }};
  const std::vector<std::byte> file = write(model, options);
  REQUIRE(file.size() < 1000);
  REQUIRE(beside.size() == 12288 + 12000);
  const Source data = Source::of(beside);
  const Model back = read(Source::of(file), [&](const std::string& location) {
    REQUIRE(location == "m.data");
    return data;
  });
  REQUIRE(*back.graph.initializer(*back.graph.find("larger")) == *model.graph.initializer(*model.graph.find("larger")));
  REQUIRE(*back.graph.initializer(*back.graph.find("w")) == Tensor::of<float>({2}, {1, 2}));
  REQUIRE(read_error(file).code == ErrorCode::kIo);
}

TEST_CASE("a sparse initializer becomes the dense tensor it stands for") {
  const auto model_of = [](const std::vector<int64_t>& index_dims, const std::vector<int64_t>& indices,
                           bool as_node = false) {
    Message values = header({2}, DType::kFloat32), where = header(index_dims, DType::kInt64, "");
    values.text(tensor_field::kFloats, raw<float>({5, 6}));
    where.text(tensor_field::kRaw, raw<int64_t>(indices));
    Message sparse;
    sparse.message(sparse_field::kValues, std::move(values));
    sparse.message(sparse_field::kIndices, std::move(where));
    sparse.integer(sparse_field::kDims, 2);
    sparse.integer(sparse_field::kDims, 3);
    Message graph;
    graph.message(graph_field::kNode, plain_node("MatMul", {"x", "w"}, {"y"}));
    graph.message(graph_field::kInput, tensor_value("x", 1, {1, 2}));
    graph.message(graph_field::kOutput, tensor_value("y", 1, {1, 3}));
    graph.message(graph_field::kSparseInitializer, sparse);
    if (!as_node) return model_file(std::move(graph));
    Message attribute, constant = plain_node("Constant", {}, {"w"});
    attribute.text(attribute_field::kName, "sparse_value");
    attribute.message(attribute_field::kSparseTensor, std::move(sparse));
    attribute.integer(attribute_field::kType, static_cast<int64_t>(AttributeType::kSparseTensor));
    constant.message(node_field::kAttribute, std::move(attribute));
    Message other;
    other.message(graph_field::kNode, std::move(constant));
    other.message(graph_field::kNode, plain_node("MatMul", {"x", "w"}, {"y"}));
    other.message(graph_field::kInput, tensor_value("x", 1, {1, 2}));
    other.message(graph_field::kOutput, tensor_value("y", 1, {1, 3}));
    return model_file(std::move(other));
  };
  const Tensor wanted = Tensor::of<float>({2, 3}, {0, 5, 0, 0, 0, 6});
  for (const auto& file : {model_of({2}, {1, 5}), model_of({2, 2}, {0, 1, 1, 2})}) {
    const Model model = read(Source::of(file));
    REQUIRE(*model.graph.initializer(*model.graph.find("w")) == wanted);
  }
  const Model model = read(Source::of(model_of({2}, {1, 5}, true)));
  REQUIRE(*model.graph.nodes()[0].attribute<Tensor>("value") == wanted);
  REQUIRE(read_error(model_of({2}, {1, 6})).message.find("outside its shape") != std::string::npos);
  REQUIRE(read_error(model_of({2, 2}, {0, 1, -1, 2})).message.find("outside its shape") != std::string::npos);
  REQUIRE(read_error(model_of({1}, {1})).code == ErrorCode::kInvalidModel);
}
