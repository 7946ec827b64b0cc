#include "data/multi30k.h"

#include <array>
#include <string>

#include "engine/io/file.h"

namespace labgrad::data {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 3> parts = {"train", "val", "test_2016_flickr"};
constexpr std::array<const char*, 2> endings = {".de", ".en"};

void check_present(const fs::path& path) {
  if (fs::exists(path)) return;
  const fs::path packed = path.string() + ".gz";
  throw MissingFile(path, fs::exists(packed)
                              ? "unpack it with: gzip -dk " + packed.string()
                              : "`make data` gets the real data sets into data/files");
}

ParallelCorpus load_part(const fs::path& folder, const std::string& part,
                         const ParallelOptions& options) {
  const fs::path source = folder / (part + endings[0]), target = folder / (part + endings[1]);
  check_present(source);
  check_present(target);
  return read_parallel(source, target, "Multi30k " + part, options);
}

}  // namespace

ParallelSplits load_multi30k(const fs::path& folder, const ParallelOptions& options) {
  return {.train = load_part(folder, parts[0], options),
          .val = load_part(folder, parts[1], options),
          .test = load_part(folder, parts[2], options)};
}

bool has_multi30k(const fs::path& folder) {
  for (const char* part : parts)
    for (const char* ending : endings)
      if (!fs::exists(folder / (std::string(part) + ending))) return false;
  return true;
}

}  // namespace labgrad::data
