#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "engine/error.h"

namespace labgrad {

// Thrown where a file that should be read does not exist. The labs end with exit status 3 then.
class MissingFile : public Error {
 public:
  // `hint` says what to do about it, if anything can be said.
  explicit MissingFile(const std::filesystem::path& path, std::string_view hint = {});
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// An open regular file, read at any place. Every function throws Error with the path and the
// system's reason. Movable, not copyable.
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path);  // MissingFile if there is none
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }  // in bytes, when it was opened
  // Fills `into` with the bytes from `offset` on; an Error if the file ends before.
  void read(std::uint64_t offset, std::span<std::byte> into) const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

// A file that appears under its name whole or not at all: bytes go to a temporary file in the same
// folder, and commit() flushes it to the disk, renames it and flushes the folder. Without commit()
// the destructor removes the temporary file, and what was at `path` before is untouched. If `path`
// is a symbolic link, the file it leads to is replaced.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  void commit();

 private:
  void flush();
  [[noreturn]] void fail_with(const char* doing) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  std::string buffer_;
};

// The whole file as bytes. Throws MissingFile if there is none, Error if it is larger than
// `max_bytes` or cannot be read.
std::string read_file(const std::filesystem::path& path,
                      std::uint64_t max_bytes = std::uint64_t{1} << 40);

// Puts `contents` at `path` by way of an AtomicFile.
void write_file_atomic(const std::filesystem::path& path, std::string_view contents);

// Removes the temporary files that writers of `path` left when they were killed. Those of processes
// that still run stay.
void remove_abandoned(const std::filesystem::path& path);

}  // namespace labgrad
