// SPDX-License-Identifier: Apache-2.0
#include "buffer_source.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace tersor::python {

namespace nb = nanobind;

samples::Bytes bytes_of(const nb::handle& object, const std::string& place) {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_SIMPLE) != 0) {
    PyErr_Clear();
    throw Error(ErrorCode::kInvalidArgument,
                "Found a value of type " + std::string(nb::str(nb::handle(object).type().attr("__name__")).c_str()) +
                    " where bytes are expected.",
                place);
  }
  const std::span bytes(static_cast<const std::byte*>(view->buf), static_cast<size_t>(view->len));
  std::shared_ptr<Py_buffer> owner(view.release(), [](Py_buffer* held) {
    const nb::gil_scoped_acquire locked;
    PyBuffer_Release(held);
    delete held;
  });
  return {bytes, std::move(owner)};
}

void BufferSource::add(std::string path, std::vector<samples::Bytes> parts) {
  uint64_t size = 0;
  for (const samples::Bytes& part : parts) size += part.view.size();
  files_.push_back({std::move(path), size});
  parts_.push_back(std::move(parts));
}

samples::Bytes BufferSource::read(size_t file, uint64_t offset, uint64_t length) const {
  std::shared_ptr<std::vector<std::byte>> joined;
  for (const samples::Bytes& part : parts_.at(file)) {
    if (offset >= part.view.size()) {
      offset -= part.view.size();
      continue;
    }
    const auto here = part.view.subspan(static_cast<size_t>(offset));
    if (!joined && length <= here.size()) return {here.first(static_cast<size_t>(length)), part.owner};
    if (!joined) joined = std::make_shared<std::vector<std::byte>>();
    const size_t count = std::min<size_t>(here.size(), static_cast<size_t>(length) - joined->size());
    joined->insert(joined->end(), here.begin(), here.begin() + static_cast<std::ptrdiff_t>(count));
    offset = 0;
    if (joined->size() == length) break;
  }
  TERSOR_CHECK(length == 0 || (joined && joined->size() == length));
  if (!joined) return {};
  const std::span<const std::byte> view(*joined);
  return {view, std::move(joined)};
}

}  // namespace tersor::python
