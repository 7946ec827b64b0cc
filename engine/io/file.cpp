#include "engine/io/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

namespace labgrad {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 16;

std::string reason(int code) { return std::generic_category().message(code); }

std::string missing_text(const std::filesystem::path& path, std::string_view hint) {
  std::string text = fmt::format("{}: there is no such file", path.string());
  if (!hint.empty()) text += fmt::format("; {}", hint);
  return text;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path();
  return folder.empty() ? std::filesystem::path(".") : folder;
}

// Different for two writers in one process and in two processes.
std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> count{0};
  std::filesystem::path name = path;
  name += fmt::format(".{}-{}.tmp", ::getpid(), count++);
  return name;
}

}  // namespace

MissingFile::MissingFile(const std::filesystem::path& path, std::string_view hint)
    : Error(missing_text(path, hint)), path_(path) {}

InputFile::InputFile(std::filesystem::path path) : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) {
    if (errno == ENOENT || errno == ENOTDIR) throw MissingFile(path_);
    fail(fmt::format("{}: cannot be opened: {}", path_.string(), reason(errno)));
  }
  struct stat status {};
  const bool regular = ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  if (!regular) {
    ::close(descriptor_);
    fail(fmt::format("{}: expected a file, this is a folder or a device", path_.string()));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void InputFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  if (offset > size_ || into.size() > size_ - offset) {
    fail(fmt::format("{}: the file ends too early: {} bytes wanted at byte {}, the file has {}",
                     path_.string(), into.size(), offset, size_));
  }
  while (!into.empty()) {
    const ssize_t count =
        ::pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      fail(fmt::format("{}: cannot be read at byte {}: {}", path_.string(), offset, reason(errno)));
    }
    if (count == 0) fail(fmt::format("{}: became shorter while it was read", path_.string()));
    into = into.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

AtomicFile::AtomicFile(const std::filesystem::path& path) : path_(path) {
  std::error_code ignored;
  if (std::filesystem::is_symlink(path, ignored)) {
    path_ = std::filesystem::weakly_canonical(path, ignored);
    if (ignored) path_ = path;
  }
  if (path_.filename().empty() || std::filesystem::is_directory(path_, ignored)) {
    fail(fmt::format("{}: cannot be written: this is the name of a folder", path.string()));
  }
  temporary_ = temporary_name(path_);
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_with("cannot be written");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::fail_with(const char* doing) const {
  const int code = errno;
  const char* hint = code == ENOENT ? " (the folder does not exist)" : "";
  fail(fmt::format("{}: {}: {}{}", path_.string(), doing, reason(code), hint));
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void AtomicFile::write(std::string_view text) {
  if (descriptor_ < 0) fail(fmt::format("{}: written after commit()", path_.string()));
  while (!text.empty()) {
    const std::size_t count = std::min(text.size(), buffer_bytes - buffer_.size());
    buffer_.append(text.substr(0, count));
    text.remove_prefix(count);
    if (buffer_.size() == buffer_bytes) flush();
  }
}

void AtomicFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with("cannot be written");
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  buffer_.clear();
}

void AtomicFile::commit() {
  if (descriptor_ < 0) fail(fmt::format("{}: committed twice", path_.string()));
  flush();
  // The contents must be on the disk before the name points at them; otherwise a power cut can
  // leave an empty file under the right name.
  if (::fsync(descriptor_) != 0) fail_with("cannot be flushed to the disk");
  struct stat before {};
  if (::stat(path_.c_str(), &before) == 0) {
    // Best effort: a file that is replaced keeps its permissions.
    [[maybe_unused]] const int kept = ::fchmod(descriptor_, before.st_mode & 07777);
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_with("cannot be put in place");
  ::close(std::exchange(descriptor_, -1));
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    // Some file systems cannot flush a folder; the file is whole under its name either way.
    ::fsync(folder);
    ::close(folder);
  }
}

std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const InputFile file(path);
  if (file.size() > max_bytes) {
    fail(fmt::format("{}: has {} bytes, at most {} are accepted here", path.string(), file.size(),
                     max_bytes));
  }
  std::string contents(static_cast<std::size_t>(file.size()), '\0');
  file.read(0, std::as_writable_bytes(std::span(contents)));
  return contents;
}

void write_file_atomic(const std::filesystem::path& path, std::string_view contents) {
  AtomicFile file(path);
  file.write(contents);
  file.commit();
}

void remove_abandoned(const std::filesystem::path& path) {
  const std::string stem = path.filename().string() + ".";  // see temporary_name()
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(path), none)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(stem) || !name.ends_with(".tmp")) continue;
    pid_t writer = 0;
    const char* first = name.data() + stem.size();
    const auto [last, error] = std::from_chars(first, name.data() + name.size(), writer);
    if (error != std::errc() || *last != '-' || writer <= 0) continue;
    if (::kill(writer, 0) == -1 && errno == ESRCH) ::unlink(entry.path().c_str());
  }
}

}  // namespace labgrad
