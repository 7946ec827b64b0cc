#include "labs/common/results.h"

#include <map>

namespace labgrad::labs {
namespace {

Json cell_json(const Cell& cell) {
  if (const auto* b = std::get_if<bool>(&cell)) return *b;
  if (const auto* i = std::get_if<std::int64_t>(&cell)) return *i;
  if (const auto* d = std::get_if<double>(&cell)) return *d;
  if (const auto* s = std::get_if<std::string>(&cell)) return *s;
  return nullptr;
}

Json strings_json(const std::vector<std::string>& strings) {
  Json out = Json::array();
  for (const std::string& s : strings) out.push_back(s);
  return out;
}

Json optional_json(const std::optional<std::string>& text) {
  return text ? Json(*text) : Json(nullptr);
}

// Puts each block on the list of its kind.
struct BlockWriter {
  std::map<std::string, Json> lists = {};

  void add(const char* list, Json value) { lists[list].push_back(std::move(value)); }
  void operator()(const Paragraph& p) { add("text", p.text); }
  void operator()(const Preformatted& p) { add("text", p.text); }
  void operator()(const Equation& e) {
    add("equations", Json::object({{"id", e.id}, {"text", e.text}}));
  }
  void operator()(const Table& t) {
    Json columns = Json::array();
    for (const Column& column : t.columns()) columns.push_back(column.header);
    Json rows = Json::array();
    for (const auto& cells : t.rows()) {
      Json row = Json::array();
      for (const Cell& cell : cells) row.push_back(cell_json(cell));
      rows.push_back(std::move(row));
    }
    add("tables", Json::object({{"title", t.title()}, {"columns", columns}, {"rows", rows}}));
  }
  void operator()(const Check& c) {
    add("checks", Json::object({{"what", c.what},
                                {"measured", cell_json(c.measured)},
                                {"bound", c.bound},
                                {"ok", c.ok}}));
  }
  void operator()(const Picture& p) {
    add("pictures", Json::object({{"file", p.name + ".svg"}, {"caption", p.caption}}));
  }
  void operator()(const Question& q) {
    add("questions", Json::object({{"text", q.text},
                                   {"choices", strings_json(q.choices)},
                                   {"predicted", optional_json(q.predicted)},
                                   {"actual", optional_json(q.actual)},
                                   {"right", q.right ? Json(*q.right) : Json(nullptr)}}));
  }
};

}  // namespace

Json to_json(const Document& document) {
  Json options = Json::object();
  for (const auto& [name, value] : document.options) options.set(name, value);
  Json sections = Json::array();
  for (const Section& section : document.sections) {
    Json out = Json::object({{"name", section.name},
                             {"title", section.title},
                             {"seconds", section.seconds},
                             {"error", section.error.empty() ? Json(nullptr) : section.error}});
    BlockWriter writer;
    for (const char* list : {"text", "equations", "tables", "checks", "pictures", "questions"})
      writer.lists[list] = Json::array();
    for (const Block& block : section.blocks) std::visit(writer, block);
    for (auto& [list, values] : writer.lists) out.set(list, std::move(values));
    sections.push_back(std::move(out));
  }
  return Json::object({{"lab", document.name},
                       {"title", document.title},
                       {"version", version},
                       {"options", options},
                       {"passed", document.checks(true)},
                       {"failed", document.checks(false)},
                       {"sections", sections}});
}

void write_results(const std::filesystem::path& path, const Document& document) {
  write_json(path, to_json(document));
}

}  // namespace labgrad::labs
