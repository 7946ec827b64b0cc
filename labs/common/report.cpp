#include "labs/common/report.h"

#include <fmt/format.h>

#include <iterator>

#include "engine/io/file.h"
#include "labs/common/results.h"

namespace labgrad::labs {
namespace {

constexpr const char* style = R"(
body { font: 16px/1.5 Georgia, 'DejaVu Serif', serif; color: #222; background: #fff;
       max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, nav, table, figcaption, .check, .meta { font-family: Helvetica, Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; }
h2 { font-size: 1.25rem; margin-top: 2.5rem; border-bottom: 1px solid #ccc; }
nav ol { padding-left: 1.5rem; }
a { color: #0072b2; }
.meta { color: #666; font-size: .85rem; }
.equation { display: flex; justify-content: space-between; margin: 1rem 2rem;
            font-style: italic; white-space: pre-wrap; }
.equation span { font-style: normal; color: #666; font-size: .85rem; margin-left: 2rem; }
pre { background: #f6f6f6; padding: .7rem 1rem; overflow-x: auto; line-height: 1.3; }
code, pre { font-family: Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: .85rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .88rem; }
caption { text-align: left; font-weight: bold; padding-bottom: .3rem; }
th { border-bottom: 2px solid #222; vertical-align: bottom; }
td { border-bottom: 1px solid #e4e4e4; vertical-align: top; }
th, td { padding: .2rem .8rem; font-variant-numeric: tabular-nums; white-space: pre-line; }
.scroll { overflow-x: auto; } td.right { white-space: nowrap; }
.left { text-align: left; } .measured, .right { text-align: right; } .centre { text-align: center; }
figure { margin: 1.5rem 0; } figure svg { max-width: 100%; height: auto; }
figcaption { font-size: .88rem; color: #444; }
.ok { color: #00694d; font-weight: bold; } .fail { color: #b03a00; font-weight: bold; }
.question { border-left: 4px solid #e69f00; padding: .1rem 1rem; background: #fdf8ec; }
.error { border-left: 4px solid #b03a00; padding: .1rem 1rem; background: #fbeee8; }
@media print { body { margin: 0; max-width: none; font-size: 11pt; }
  figure, table, .question { break-inside: avoid; } h2 { break-after: avoid; } }
)";

// Text with `code` between backquotes set as code.
std::string prose(std::string_view text) {
  std::string out;
  bool code = false;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t tick = std::min(text.find('`', at), text.size());
    out += escape_xml(text.substr(at, tick - at));
    // A last, unpaired backquote is only a backquote.
    const bool paired = code || text.find('`', tick + 1) != std::string_view::npos;
    if (tick < text.size()) {
      out += !paired ? "`" : code ? "</code>" : "<code>";
      code = paired && !code;
    }
    at = tick + 1;
  }
  return out;
}

const char* css_class(Align align) {
  return align == Align::left ? "left" : align == Align::right ? "right" : "centre";
}

const char* verdict(bool ok) {
  return ok ? "<span class=\"ok\">ok</span>" : "<span class=\"fail\">FAIL</span>";
}

// Appends a block; consecutive checks share a table, which `close` ends.
class BlockWriter {
 public:
  explicit BlockWriter(std::string& out) : out_(out) {}

  void operator()(const Paragraph& p) {
    close();
    add("<p>{}</p>\n", prose(p.text));
  }
  void operator()(const Preformatted& p) {
    close();
    add("<pre>{}</pre>\n", escape_xml(p.text));
  }
  void operator()(const Equation& e) {
    close();
    add("<div class=\"equation\">{}<span>{}</span></div>\n", escape_xml(e.text),
        e.id.empty() ? "" : "(" + escape_xml(e.id) + ")");
  }
  void operator()(const Table& t) {
    close();
    out_ += "<div class=\"scroll\"><table>";
    if (!t.title().empty()) add("<caption>{}</caption>", prose(t.title()));
    out_ += "<thead><tr>";
    for (std::size_t c = 0; c < t.columns().size(); ++c)
      add("<th class=\"{}\">{}</th>", css_class(t.align_of(c)), escape_xml(t.columns()[c].header));
    out_ += "</tr></thead>\n<tbody>\n";
    for (std::size_t r = 0; r < t.rows().size(); ++r) {
      out_ += "<tr>";
      for (std::size_t c = 0; c < t.columns().size(); ++c)
        add("<td class=\"{}\">{}</td>", css_class(t.align_of(c)), escape_xml(t.cell_text(r, c)));
      out_ += "</tr>\n";
    }
    out_ += "</tbody></table></div>\n";
  }
  void operator()(const Check& c) {
    if (!in_checks_)
      out_ +=
          "<table class=\"check\"><thead><tr><th class=\"left\">check</th>"
          "<th class=\"right\">measured</th><th class=\"left\">bound</th><th></th>"
          "</tr></thead>\n<tbody>\n";
    in_checks_ = true;
    add("<tr><td>{}</td><td class=\"measured\">{}</td><td>{}</td><td>{}</td></tr>\n", prose(c.what),
        escape_xml(c.measured_text()), escape_xml(c.bound), verdict(c.ok));
  }
  void operator()(const Picture& p) {
    close();
    add("<figure>{}<figcaption>{}</figcaption></figure>\n", p.svg, prose(p.caption));
  }
  void operator()(const Question& q) {
    close();
    add("<div class=\"question\"><p><b>Predict first.</b> {}</p>", prose(q.text));
    if (!q.choices.empty()) {
      out_ += "<ul>";
      for (const std::string& choice : q.choices) add("<li>{}</li>", prose(choice));
      out_ += "</ul>";
    }
    if (q.predicted) add("<p>Predicted: {}.</p>", escape_xml(*q.predicted));
    if (q.actual)
      add("<details><summary>What came out</summary><p>{}</p></details>", escape_xml(*q.actual));
    if (q.right) out_ += *q.right ? "<p class=\"ok\">right</p>" : "<p class=\"fail\">not right</p>";
    out_ += "</div>\n";
  }
  void close() {
    if (in_checks_) out_ += "</tbody></table>\n";
    in_checks_ = false;
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  std::string& out_;
  bool in_checks_ = false;
};

std::string state_of(const Section& section) {
  Document one;
  one.sections = {section};
  const std::size_t passed = one.checks(true), failed = one.checks(false);
  if (!section.error.empty()) return "<span class=\"fail\">stopped</span>";
  if (passed + failed == 0) return "";
  return failed == 0
             ? fmt::format("<span class=\"ok\">{} ok</span>", passed)
             : fmt::format("<span class=\"fail\">{} of {} FAIL</span>", failed, passed + failed);
}

}  // namespace

std::string to_html(const Document& document) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n<p>{2}</p>\n",
      escape_xml(document.title), style, prose(document.summary));
  std::string options;
  for (const auto& [name, value] : document.options) {
    if (value == "false") continue;  // a flag that wasn't given
    options += " --" + name + (value == "true" ? "" : " " + value);
  }
  out += fmt::format("<p class=\"meta\">labgrad {}, lab {}.{}</p>\n", version,
                     escape_xml(document.name), escape_xml(options));
  out += fmt::format("<p><b>{} checks passed, {} failed.</b></p>\n<nav><ol>\n",
                     document.checks(true), document.checks(false));
  for (const Section& section : document.sections)
    out += fmt::format("<li><a href=\"#{}\">{}</a> {}</li>\n", file_safe(section.name),
                       escape_xml(section.title), state_of(section));
  out += "</ol></nav>\n";
  for (const Section& section : document.sections) {
    out += fmt::format("<section>\n<h2 id=\"{}\">{}</h2>\n", file_safe(section.name),
                       escape_xml(section.title));
    BlockWriter writer(out);
    for (const Block& block : section.blocks) std::visit(writer, block);
    writer.close();
    if (!section.error.empty())
      out += fmt::format("<div class=\"error\"><p>This section ended early: {}</p></div>\n",
                         escape_xml(section.error));
    out += fmt::format("<p class=\"meta\">{:.1f} s</p>\n</section>\n", section.seconds);
  }
  return out + "</body>\n</html>\n";
}

void write_report(const std::filesystem::path& path, const Document& document) {
  write_file_atomic(path, to_html(document));
}

}  // namespace labgrad::labs
