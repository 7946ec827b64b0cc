#pragma once

#include <filesystem>

#include "data/images.h"

namespace labgrad::data {

// One half of MNIST, or of Fashion-MNIST, which has the same form: 60,000 pictures to train and
// 10,000 to test, 28 x 28, labels 0 to 9. `folder` holds the four unpacked files
// {train,t10k}-{images-idx3,labels-idx1}-ubyte.
// Throws MissingFile that names `make data`; Error for a file that is not as it should be: see
// read_idx, other sizes of pictures, counts that differ, a label above 9.
LabelledImages load_mnist(const std::filesystem::path& folder, Split split);

// Whether all four files are in the folder, whatever is in them.
bool has_mnist(const std::filesystem::path& folder);

}  // namespace labgrad::data
