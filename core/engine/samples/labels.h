// SPDX-License-Identifier: Apache-2.0
// Labels: the right class number of each sample, from folders or from a file.
#pragma once

#include <string>
#include <vector>

#include "core/samples/data_set.h"

namespace tersor::samples {

/// The lines of a labels.txt: a class name each. Error kInvalidLabels for a name that stands twice.
std::vector<std::string> read_class_names(const Bytes& file);

/// The label of every sample as the data set itself says it (DataSet::classes()), label_offset included. Error
/// kInvalidLabels when it has no classes.
std::vector<int64_t> own_labels(const DataSet& data);

/// Labels from a file: .npy of whole numbers, CSV `sample,label` in any order, or one label per line in the samples'
/// order. A label is a number, or a name of labels.txt. One label belongs to `group` consecutive samples (1 unless the
/// metric joins them). `label_offset` is added. Error kInvalidLabels shows the first offender.
std::vector<int64_t> read_labels(const NamedBytes& file, const DataSet& data, int64_t group, int64_t label_offset);

}  // namespace tersor::samples
