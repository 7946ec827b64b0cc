#pragma once
// A small check that a text is well-formed XML: as much of it as our pictures use.

#include <string>
#include <string_view>

namespace labgrad::tests {

// "" if `text` is one well-formed element, else what is wrong.
std::string xml_fault(std::string_view text);

// How often `part` occurs in `text`.
int count_of(std::string_view text, std::string_view part);

}  // namespace labgrad::tests
