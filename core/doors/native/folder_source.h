// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/samples/source.h"

namespace tersor {

/// Told of every file that is read, by its open descriptor. Empty: nobody listens.
using ReadListener = std::function<void(int descriptor)>;

/// The files of a folder and its subfolders, or the one file that `path` names; read range by range, so that a data set
/// may be larger than the memory. `left_out` (a label file, say) is not among them; may be empty. Error kIo.
std::shared_ptr<const samples::FileSource> open_folder(const std::string& path, const std::string& left_out,
                                                       ReadListener listener = {});

/// The samples of one or more paths: folders, files, and zip archives, whose members are the files. Of several, those
/// of folders and archives lie in folders of their names ("cats/0001.png"). Error kIo; kInvalidSamples for a broken
/// archive.
std::shared_ptr<const samples::FileSource> open_samples(const std::vector<std::string>& paths,
                                                        const std::string& left_out, const ReadListener& listener = {});

}  // namespace tersor
