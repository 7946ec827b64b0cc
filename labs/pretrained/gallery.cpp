// Ten queries, one of each class, with their nearest neighbours.

#include "labs/pretrained/gallery.h"

#include <algorithm>

#include "labs/common/frame.h"
#include "labs/pretrained/embed.h"
#include "labs/pretrained/sections.h"

namespace labgrad::labs::pretrained {
namespace {

constexpr double scale = 1.6, gap = 9, group_gap = 20, name_width = 84, head = 22;
constexpr std::int64_t shown = 5;

// The first query of each class.
std::vector<std::int64_t> one_of_each(const Task& data) {
  std::vector<std::int64_t> out;
  for (std::size_t c = 0; c < data.classes.size(); ++c) {
    const auto& labels = data.queries.labels;
    const auto found = std::find(labels.begin(), labels.end(), static_cast<std::int64_t>(c));
    if (found != labels.end()) out.push_back(found - labels.begin());
  }
  return out;
}

std::vector<Neighbour> neighbours(const Task& data, const Tensor& cosines, std::int64_t query) {
  const std::int64_t n = data.database.size();
  const auto row = cosines.span<float>().subspan(static_cast<std::size_t>(query * n),
                                                 static_cast<std::size_t>(n));
  std::vector<Neighbour> out;
  for (const std::int64_t i : data::nearest(row, shown))
    out.push_back(
        {panel_of(data.database, i), data.database.labels[static_cast<std::size_t>(i)] ==
                                         data.queries.labels[static_cast<std::size_t>(query)]});
  return out;
}

}  // namespace

std::string draw_gallery(const std::string& title, const std::vector<std::string>& group_names,
                         const std::vector<GalleryRow>& rows) {
  double side = 28 * scale;
  std::vector<std::size_t> columns(group_names.size());
  for (const GalleryRow& row : rows) {
    if (row.groups.size() != group_names.size())
      fail(fmt::format("gallery: the row '{}' has {} groups for {} names", row.name,
                       row.groups.size(), group_names.size()));
    side = std::max(side, scale * static_cast<double>(std::max(row.query.width, row.query.height)));
    for (std::size_t g = 0; g < columns.size(); ++g)
      columns[g] = std::max(columns[g], row.groups[g].size());
  }
  const double step = side + gap;
  double width = picture_margin + name_width + side;
  std::vector<double> left;
  for (const std::size_t n : columns) {
    left.push_back(width + group_gap);
    width += group_gap + static_cast<double>(n) * step - gap;
  }
  width += picture_margin;
  const double top = picture_margin + title_room(title, width) + head;
  Svg svg(width, top + static_cast<double>(rows.size()) * step + picture_margin - gap, title);
  draw_title(svg, title);
  svg.text({picture_margin + name_width, top - 8}, "query", {.bold = true});
  for (std::size_t g = 0; g < left.size(); ++g)
    svg.text({left[g], top - 8}, group_names[g], {.bold = true});
  double y = top;
  for (const GalleryRow& row : rows) {
    svg.text({picture_margin, y + side / 2 + 4}, row.name);
    draw_image(svg, row.query, {picture_margin + name_width, y}, scale, scale);
    for (std::size_t g = 0; g < row.groups.size(); ++g)
      for (std::size_t i = 0; i < row.groups[g].size(); ++i) {
        const Neighbour& n = row.groups[g][i];
        const Point corner{left[g] + static_cast<double>(i) * step, y};
        draw_image(svg, n.image, corner, scale, scale);
        if (n.right)
          svg.rect({corner.first - 1.5, corner.second - 1.5}, side + 3, side + 3,
                   {.stroke = palette(2), .width = 3});
      }
    y += step;
  }
  return svg.str();
}

void gallery(Lab& lab) {
  const Task& data = task(lab);
  lab.say(
      "The first query of every class, with its {} nearest neighbours in each space, nearest "
      "first. Those of the query's class are framed.",
      shown);
  const std::vector<Space> all = spaces(lab);
  std::vector<Tensor> cosines;
  std::vector<std::string> names;
  std::vector<Column> columns{{"query"}};
  for (const Space& space : all) {
    cosines.push_back(similarities(space));
    names.push_back("nearest by " + space.name);
    columns.push_back({space.name, "d"});
  }
  Table table(columns, fmt::format("how many of the {} nearest are of the query's class", shown));
  std::vector<GalleryRow> rows;
  std::vector<std::int64_t> framed(all.size());
  for (const std::int64_t q : one_of_each(data)) {
    const std::string& name =
        data.classes[static_cast<std::size_t>(data.queries.labels[static_cast<std::size_t>(q)])];
    GalleryRow row{.name = name, .query = panel_of(data.queries, q), .groups = {}};
    std::vector<Cell> cells{name};
    for (std::size_t s = 0; s < all.size(); ++s) {
      row.groups.push_back(neighbours(data, cosines[s], q));
      const auto right = std::count_if(row.groups.back().begin(), row.groups.back().end(),
                                       [](const Neighbour& n) { return n.right; });
      cells.emplace_back(static_cast<std::int64_t>(right));
      framed[s] += right;
    }
    rows.push_back(std::move(row));
    table.add_row(cells);
  }
  lab.table(table);
  lab.picture("gallery",
              "Ten queries and their nearest neighbours; those of the right class are framed.",
              draw_gallery("Ten queries in " + data.source, names, rows));
  for (std::size_t s = 0; s < all.size(); ++s)
    lab.check_greater(all[s].name + ": framed ones, of " + std::to_string(shown * std::ssize(rows)),
                      static_cast<double>(framed[s]),
                      0.3 * static_cast<double>(shown * std::ssize(rows)));
  lab.say(
      "Look at the mistakes, not only at their number: which neighbours would you have called "
      "right, and what do the wrong ones share with the query, its outline or its pattern?");
}

}  // namespace labgrad::labs::pretrained
