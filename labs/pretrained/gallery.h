#pragma once
// Queries with their neighbours, as a picture.

#include <string>
#include <vector>

#include "labs/common/strips.h"

namespace labgrad::labs::pretrained {

struct Neighbour {
  ImagePanel image;
  bool right;  // of the query's class: framed
};

struct GalleryRow {
  std::string name;  // of the query's class
  ImagePanel query;
  std::vector<std::vector<Neighbour>> groups;  // by space, each nearest first
};

// One row for a query, one group of columns for a space. As SVG. Error: a row has not as many
// groups as there are names.
std::string draw_gallery(const std::string& title, const std::vector<std::string>& group_names,
                         const std::vector<GalleryRow>& rows);

}  // namespace labgrad::labs::pretrained
