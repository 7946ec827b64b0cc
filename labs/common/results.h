#pragma once
// results.json: a lab's document for programs to read.

#include <filesystem>

#include "engine/io/json.h"
#include "labs/common/document.h"

namespace labgrad::labs {

inline constexpr const char* version = "0.1.0";

// {lab, title, version, options: {name: text}, passed, failed, sections: [{name, title, seconds,
// error, text: [...], equations: [{id, text}], tables: [{title, columns, rows}], checks: [{what,
// measured, bound, ok}], pictures: [{file, caption}], questions: [{text, choices, predicted,
// actual, right}]}]}. Cells keep their type: numbers are numbers (not finite: "nan", "inf"), empty
// cells null.
Json to_json(const Document& document);

// Writes it whole or not at all. Throws Error if that is impossible.
void write_results(const std::filesystem::path& path, const Document& document);

}  // namespace labgrad::labs
