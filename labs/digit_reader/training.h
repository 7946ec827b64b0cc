#pragma once
// Training of a reader, by the same recipe for both, and what has been trained in this run.

#include <memory>
#include <string>
#include <vector>

#include "labs/common/train.h"
#include "labs/digit_reader/reading.h"
#include "labs/digit_reader/task.h"

namespace labgrad::labs::digit_reader {

enum class Kind { fixed, attention };

std::string name_of(Kind kind);

struct Trained {
  Kind kind;
  std::unique_ptr<Reader> reader;
  History history = {};
  // At most during a step: bytes of tensors, and of the whole process where the system tells. 0: no
  // step was made in this run.
  std::size_t step_bytes = 0, step_resident = 0;
  Json config = {};  // what the run was, under the notebook's names
  // Of the first strips of Task::test and Task::longer.
  std::vector<Reading> on_test = {}, on_long = {};
};

// A reader with the weights that PyTorch draws from the default generator as it stands.
std::unique_ptr<Reader> make_reader(Kind kind);
// The sizes of a reader and its number of parameters, for the records.
Json describe(Reader& reader, Kind kind, std::int64_t seed);

// Which readers the student asked for by --reader; the fixed one is trained first.
std::vector<Kind> chosen(const Lab& lab);
// Trained and tested when first asked for.
//
// Fresh strips in each epoch, from seed 1000 + epoch; their order from a generator with the lab's
// seed; Adam 1e-3 on a cosine to 0 that is stepped after each batch; teacher forcing.
Trained& trained(Lab& lab, Kind kind);
// Both if they were asked for.
std::vector<Trained*> all_trained(Lab& lab);
// nullptr, and a sentence to the student, if --reader leaves it out.
Trained* trained_or_tell(Lab& lab, Kind kind);

// Of runs that were made so far, for the records in the last section.
struct Record {
  std::string name;
  Json config, rows;
};
std::vector<Record>& records();

}  // namespace labgrad::labs::digit_reader
