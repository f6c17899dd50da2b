// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/tensor.h"

#include <cstring>
#include <new>

#include "core/base/error.h"
#include "core/base/memory_hint.h"
#include "core/tensor/float16.h"

namespace tersor {

namespace {

constexpr std::align_val_t kAlignment{64};

std::shared_ptr<std::byte> allocate(size_t size) {
  auto* memory = static_cast<std::byte*>(::operator new(size == 0 ? 1 : size, kAlignment, std::nothrow));
  if (memory == nullptr)
    throw Error(ErrorCode::kOutOfMemory, "There is no memory for a tensor of " + std::to_string(size) + " bytes.", {},
                kMoreMemory);
  return {memory, [](std::byte* bytes) { ::operator delete(bytes, kAlignment); }};
}

template <class To, class From>
std::vector<To> convert(std::span<const std::byte> bytes) {
  std::vector<To> values(bytes.size() / sizeof(From));
  for (size_t i = 0; i < values.size(); ++i) {
    From value;
    std::memcpy(&value, bytes.data() + i * sizeof(From), sizeof(From));
    values[i] = static_cast<To>(value);
  }
  return values;
}

template <class To>
std::vector<To> convert_integers(DType dtype, std::span<const std::byte> bytes) {
  switch (dtype) {
    case DType::kUint8:
    case DType::kBool:
      return convert<To, uint8_t>(bytes);
    case DType::kInt8:
      return convert<To, int8_t>(bytes);
    case DType::kUint16:
      return convert<To, uint16_t>(bytes);
    case DType::kInt16:
      return convert<To, int16_t>(bytes);
    case DType::kUint32:
      return convert<To, uint32_t>(bytes);
    case DType::kInt32:
      return convert<To, int32_t>(bytes);
    case DType::kUint64:
      return convert<To, uint64_t>(bytes);
    case DType::kInt64:
      return convert<To, int64_t>(bytes);
    default:
      throw Error(ErrorCode::kInvalidModel,
                  "A constant has the type " + std::string(name_of(dtype)) + " where whole numbers are expected.");
  }
}

}  // namespace

Tensor Tensor::make(DType dtype, Shape shape) {
  Tensor tensor = make_unset(dtype, std::move(shape));
  std::memset(tensor.mutable_bytes().data(), 0, tensor.size_);
  return tensor;
}

Tensor Tensor::make_unset(DType dtype, Shape shape) {
  Tensor tensor;
  tensor.size_ = bytes_for(dtype, shape.elements());
  auto memory = allocate(tensor.size_);
#if defined(__SANITIZE_ADDRESS__)  // so that what is read before it is written shows
  std::memset(memory.get(), 0xff, tensor.size_);
#endif
  tensor.dtype_ = dtype;
  tensor.shape_ = std::move(shape);
  tensor.data_ = memory.get();
  tensor.owner_ = std::move(memory);
  return tensor;
}

Tensor Tensor::alias(DType dtype, Shape shape, std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  // In 64 bits: a machine of 32 could not count what the shapes of damaged files need.
  const uint64_t wanted = (static_cast<uint64_t>(shape.elements()) * static_cast<uint64_t>(bits_of(dtype)) + 7) / 8;
  if (bytes.size() != wanted)
    throw Error(ErrorCode::kInvalidModel, "A " + std::string(name_of(dtype)) + " tensor of shape " + shape.text() +
                                              " needs " + std::to_string(wanted) + " bytes, found " +
                                              std::to_string(bytes.size()) + ".");
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.shape_ = std::move(shape);
  tensor.owner_ = std::move(owner);
  tensor.data_ = bytes.data();
  tensor.size_ = bytes.size();
  return tensor;
}

Tensor Tensor::of_strings(Shape shape, std::vector<std::string> values) {
  if (static_cast<int64_t>(values.size()) != shape.elements())
    throw Error(ErrorCode::kInvalidModel,
                "A string tensor of shape " + shape.text() + " holds " + std::to_string(values.size()) + " strings.");
  Tensor tensor;
  tensor.dtype_ = DType::kString;
  tensor.shape_ = std::move(shape);
  tensor.owner_ = std::make_shared<const std::vector<std::string>>(std::move(values));
  return tensor;
}

struct Tensor::Deferred {
  std::function<Tensor()> fetch;
  std::weak_ptr<const void> held;  // by the tensors that asked
  const std::byte* data = nullptr;
};

Tensor Tensor::deferred(DType dtype, Shape shape, std::function<Tensor()> fetch) {
  Tensor tensor;
  tensor.size_ = bytes_for(dtype, shape.elements());
  tensor.dtype_ = dtype;
  tensor.shape_ = std::move(shape);
  tensor.deferred_ = std::make_shared<Deferred>(Deferred{std::move(fetch), {}, nullptr});
  return tensor;
}

Tensor Tensor::unread() const {
  Tensor tensor = *this;
  if (deferred_) tensor.owner_ = nullptr;
  return tensor;
}

std::span<const std::byte> Tensor::bytes() const {
  if (deferred_ && !owner_) fetch();
  return {data_, size_};
}

void Tensor::fetch() const {
  auto held = deferred_->held.lock();
  if (!held) {
    const Tensor fetched = deferred_->fetch();
    TERSOR_CHECK(fetched.dtype_ == dtype_ && fetched.bytes().size() == size_);
    held = fetched.owner_;
    deferred_->held = held;
    deferred_->data = fetched.data_;
  }
  data_ = deferred_->data;
  owner_ = std::move(held);
}

std::span<std::byte> Tensor::mutable_bytes() {
  TERSOR_CHECK(!deferred_ && owner_.use_count() == 1);
  return {const_cast<std::byte*>(data_), size_};
}

const std::vector<std::string>& Tensor::strings() const {
  TERSOR_CHECK(dtype_ == DType::kString);
  return *static_cast<const std::vector<std::string>*>(owner_.get());
}

Tensor Tensor::reshaped(Shape shape) const {
  if (shape.elements() != shape_.elements())
    throw Error(ErrorCode::kInvalidModel,
                "A tensor of shape " + shape_.text() + " cannot become " + shape.text() + ".");
  Tensor tensor = *this;
  tensor.shape_ = std::move(shape);
  return tensor;
}

Tensor Tensor::aligned() const {
  const auto element = static_cast<size_t>(bits_of(dtype_) / 8);
  Tensor held = *this;
  const std::byte* data = held.bytes().data();
  if (element <= 1 || reinterpret_cast<uintptr_t>(data) % element == 0) return held;
  Tensor copy = make(dtype_, shape_);
  std::memcpy(copy.mutable_bytes().data(), data, size_);
  return copy;
}

std::vector<double> Tensor::to_doubles() const {
  const Tensor held = *this;
  switch (dtype_) {
    case DType::kFloat32:
      return convert<double, float>(held.bytes());
    case DType::kFloat64:
      return convert<double, double>(held.bytes());
    case DType::kFloat16: {
      std::vector<double> values;
      for (uint16_t half : convert<uint16_t, uint16_t>(held.bytes())) values.push_back(float_from_half(half));
      return values;
    }
    default:
      return convert_integers<double>(dtype_, held.bytes());
  }
}

std::vector<int64_t> Tensor::to_int64s() const {
  const Tensor held = *this;
  return convert_integers<int64_t>(dtype_, held.bytes());
}

bool Tensor::operator==(const Tensor& other) const {
  if (dtype_ != other.dtype_ || !(shape_ == other.shape_)) return false;
  if (dtype_ == DType::kString) return strings() == other.strings();
  if (size_ == 0 || (deferred_ && deferred_ == other.deferred_)) return true;
  const Tensor ours = *this, theirs = other;
  return std::memcmp(ours.bytes().data(), theirs.bytes().data(), size_) == 0;
}

void Tensor::check_type(DType wanted) const {
  const bool boolean_as_byte = dtype_ == DType::kBool && wanted == DType::kUint8;
  if (dtype_ != wanted && !boolean_as_byte)
    throw Error(ErrorCode::kInvalidModel, "A tensor has the type " + std::string(name_of(dtype_)) + " where " +
                                              std::string(name_of(wanted)) + " is expected.");
}

Tensor widened(const Tensor& narrow) {
  Tensor wide = Tensor::make(DType::kFloat32, narrow.shape());
  const auto bytes = narrow.bytes();
  const std::span<float> values = wide.mutable_data<float>();
  for (size_t k = 0; k < values.size(); ++k) {
    const auto bits =
        static_cast<uint16_t>(static_cast<unsigned>(bytes[2 * k]) | static_cast<unsigned>(bytes[2 * k + 1]) << 8);
    values[k] = narrow.dtype() == DType::kFloat16 ? float_from_half(bits) : float_from_bfloat16(bits);
  }
  return wide;
}

}  // namespace tersor
