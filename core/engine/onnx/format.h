// SPDX-License-Identifier: Apache-2.0
// Field numbers of onnx.proto and the version numbers this code knows. A message's fields are listed in the order of
// their numbers, which is the order in which they are written.
#pragma once

#include <cstdint>

#include "core/onnx/wire.h"

namespace tersor::onnx {

/// Newest versions whose rules this code knows. Newer ones are read with a warning.
inline constexpr int64_t kNewestIr = 14;
inline constexpr int64_t kNewestOpset = 28;
/// A protobuf message may have at most this many bytes.
inline constexpr uint64_t kLargestFile = (uint64_t{1} << 31) - 1;
/// Before this version every initializer is listed as an input too.
inline constexpr int64_t kIrWithFreeInitializers = 4;

namespace model_field {
inline constexpr Tag kIrVersion = 1, kProducerName = 2, kProducerVersion = 3, kDomain = 4, kModelVersion = 5, kDoc = 6,
                     kGraph = 7, kOpsetImport = 8, kMetadata = 14, kTraining = 20, kFunctions = 25, kConfiguration = 26;
}
namespace opset_field {
inline constexpr Tag kDomain = 1, kVersion = 2;
}
namespace function_field {
inline constexpr Tag kName = 1, kInput = 4, kOutput = 5, kNode = 7, kOpsetImport = 9, kDomain = 10, kDefault = 11,
                     kOverload = 13;
}
namespace entry_field {
inline constexpr Tag kKey = 1, kValue = 2;
}
namespace graph_field {
inline constexpr Tag kNode = 1, kName = 2, kInitializer = 5, kDoc = 10, kInput = 11, kOutput = 12, kValueInfo = 13,
                     kSparseInitializer = 15, kMetadata = 16;
}
namespace node_field {
inline constexpr Tag kInput = 1, kOutput = 2, kName = 3, kOpType = 4, kAttribute = 5, kDoc = 6, kDomain = 7,
                     kOverload = 8, kMetadata = 9;
}
namespace attribute_field {
inline constexpr Tag kName = 1, kFloat = 2, kInt = 3, kString = 4, kTensor = 5, kGraph = 6, kFloats = 7, kInts = 8,
                     kStrings = 9, kTensors = 10, kGraphs = 11, kDoc = 13, kType = 20, kReference = 21,
                     kSparseTensor = 22;
}
namespace value_field {
inline constexpr Tag kName = 1, kType = 2, kDoc = 3, kMetadata = 4;
}
namespace type_field {
inline constexpr Tag kTensor = 1, kDenotation = 6;
}
namespace tensor_type_field {
inline constexpr Tag kElementType = 1, kShape = 2;
}
namespace shape_field {
inline constexpr Tag kDim = 1;
}
namespace dim_field {
inline constexpr Tag kValue = 1, kSymbol = 2, kDenotation = 3;
}
namespace tensor_field {
inline constexpr Tag kDims = 1, kDataType = 2, kSegment = 3, kFloats = 4, kInt32s = 5, kStrings = 6, kInt64s = 7,
                     kName = 8, kRaw = 9, kDoubles = 10, kUint64s = 11, kDoc = 12, kExternal = 13, kLocation = 14;
}
namespace sparse_field {
inline constexpr Tag kValues = 1, kIndices = 2, kDims = 3;
}

/// AttributeProto.type
enum class AttributeType : int64_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
};

}  // namespace tersor::onnx
