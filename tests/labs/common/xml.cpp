#include "tests/labs/common/xml.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

namespace labgrad::tests {
namespace {

bool entities_fine(std::string_view text) {
  for (std::size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
    const std::string_view name = text.substr(at, text.find(';', at) - at);
    static const std::set<std::string_view> known{"&amp", "&lt", "&gt", "&quot", "&#39"};
    if (!known.count(name)) return false;
  }
  return true;
}

bool name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == ':';
}

// Checks `name a="1" b="2"` and returns the fault, or "".
std::string attributes_fault(std::string_view tag) {
  std::size_t at = 0;
  while (at < tag.size() && name_character(tag[at])) ++at;
  std::set<std::string_view> seen;
  while (at < tag.size()) {
    if (tag[at] != ' ' && tag[at] != '\n') return "no blank before an attribute";
    while (at < tag.size() && (tag[at] == ' ' || tag[at] == '\n')) ++at;
    const std::size_t start = at;
    while (at < tag.size() && name_character(tag[at])) ++at;
    const std::string_view name = tag.substr(start, at - start);
    if (name.empty() || tag.substr(at, 2) != "=\"") return "an attribute without a value";
    if (!seen.insert(name).second) return "an attribute twice: " + std::string(name);
    const std::size_t end = tag.find('"', at + 2);
    if (end == std::string_view::npos) return "an open quote";
    const std::string_view value = tag.substr(at + 2, end - at - 2);
    if (value.find('<') != std::string_view::npos || !entities_fine(value)) return "a bare < or &";
    at = end + 1;
  }
  return "";
}

}  // namespace

std::string xml_fault(std::string_view text) {
  std::vector<std::string_view> open;
  std::size_t at = 0, roots = 0;
  while (at < text.size()) {
    const std::size_t tag_start = std::min(text.find('<', at), text.size());
    const std::string_view between = text.substr(at, tag_start - at);
    if (!entities_fine(between) || between.find('>') != std::string_view::npos)
      return "a bare & or >";
    const bool blank = between.find_first_not_of(" \n") == std::string_view::npos;
    if (open.empty() && !blank) return "text outside the element";
    if (tag_start == text.size()) break;
    // A '>' inside an attribute is escaped in what we write.
    const std::size_t end = text.find('>', tag_start);
    if (end == std::string_view::npos) return "an open tag";
    std::string_view tag = text.substr(tag_start + 1, end - tag_start - 1);
    at = end + 1;
    if (tag.substr(0, 1) == "/") {
      if (open.empty() || open.back() != tag.substr(1)) return "closes " + std::string(tag);
      open.pop_back();
      continue;
    }
    const bool empty = !tag.empty() && tag.back() == '/';
    if (empty) tag.remove_suffix(1);
    std::size_t name_end = 0;
    while (name_end < tag.size() && name_character(tag[name_end])) ++name_end;
    if (name_end == 0) return "a tag without a name";
    if (const std::string fault = attributes_fault(tag); !fault.empty()) return fault;
    if (open.empty()) ++roots;
    if (!empty) open.push_back(tag.substr(0, name_end));
  }
  if (!open.empty()) return "never closed: " + std::string(open.back());
  return roots == 1 ? "" : "not exactly one element";
}

int count_of(std::string_view text, std::string_view part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

}  // namespace labgrad::tests
