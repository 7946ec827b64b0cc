#include "labs/common/document.h"

namespace labgrad::labs {

std::string Check::measured_text() const {
  if (const auto* d = std::get_if<double>(&measured)) return number_text(*d, 5);
  Table one({{""}});
  return one.add_row({measured}).cell_text(0, 0);
}

std::size_t Document::checks(bool ok) const {
  std::size_t count = 0;
  for (const Section& section : sections)
    for (const Block& block : section.blocks)
      if (const auto* check = std::get_if<Check>(&block)) count += check->ok == ok ? 1 : 0;
  return count;
}

}  // namespace labgrad::labs
