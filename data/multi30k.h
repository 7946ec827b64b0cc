#pragma once
// Multi30k, German to English: captions of pictures and their translations (Elliott, Frank, Sima'an
// and Specia, 2016); 29,000 pairs to train, 1,014 to validate, 1,000 to test (test_2016_flickr).

#include <filesystem>

#include "data/parallel.h"

namespace labgrad::data {

// `folder` holds the six unpacked files {train,val,test_2016_flickr}.{de,en}; read_parallel says
// what becomes of bad lines. Throws MissingFile that names `make data`, and what it throws.
ParallelSplits load_multi30k(const std::filesystem::path& folder,
                             const ParallelOptions& options = {});

// Whether all six files are in the folder, whatever is in them.
bool has_multi30k(const std::filesystem::path& folder);

}  // namespace labgrad::data
