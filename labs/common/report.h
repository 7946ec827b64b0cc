#pragma once
// report.html: a lab's document for people, in one file that needs no network and no scripts.

#include <filesystem>
#include <string>

#include "labs/common/document.h"

namespace labgrad::labs {

// The page: list of contents with the state of the checks, then the sections with their tables and
// pictures (inline SVG).
std::string to_html(const Document& document);

// Writes it whole or not at all. Throws Error if that is impossible.
void write_report(const std::filesystem::path& path, const Document& document);

}  // namespace labgrad::labs
