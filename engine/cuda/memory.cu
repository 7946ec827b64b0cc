// The device as the library knows it (engine/accelerator.h): memory that is recycled, copies, and
// the kernels. Announced to the library before main() begins.

#include <bit>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/accelerator.h"
#include "engine/cuda/cuda.h"
#include "engine/cuda/driver.h"
#include "engine/cuda/platform.h"
#include "engine/cuda/workspace.h"

namespace labgrad {
namespace {

// A block freed by the host may still be read by kernels under way. It is handed out again all the
// same: what uses it next is issued later, to the same stream.
class CudaDevice final : public Accelerator {
 public:
  void start() override { driver::start(); }

  std::byte* allocate(std::size_t bytes) override {
    const std::size_t size = rounded(bytes);
    std::lock_guard lock(mutex_);
    std::vector<std::byte*>& waiting = free_[size];
    if (!waiting.empty()) {
      std::byte* block = waiting.back();
      waiting.pop_back();
      return block;
    }
    if (std::byte* block = driver::allocate(size)) return block;
    release_all();
    if (std::byte* block = driver::allocate(size)) return block;
    const std::string state = driver::memory_state();
    fail(std::string(name_of(driver::this_device)) + ": out of memory: " + std::to_string(bytes) +
         " bytes were asked for" + (state.empty() ? "" : " (" + state + ")") +
         "; a smaller batch needs less");
  }

  void deallocate(std::byte* block, std::size_t bytes) noexcept override {
    std::lock_guard lock(mutex_);
    free_[rounded(bytes)].push_back(block);
  }

  void release_cached() override {
    std::lock_guard lock(mutex_);
    release_all();
  }

  void upload(std::byte* device, const std::byte* host, std::size_t bytes) override {
    if (bytes > 0) driver::upload(device, host, bytes);
  }
  void download(std::byte* host, const std::byte* device, std::size_t bytes) override {
    if (bytes > 0) driver::download(host, device, bytes);
  }
  void synchronize() override { driver::synchronize(); }

  const Kernels& kernels() override { return kernels_; }

 private:
  // Up to four sizes for each power of two, so that blocks find new users and a fifth at most is
  // wasted.
  static std::size_t rounded(std::size_t bytes) {
    constexpr std::size_t unit = 512;
    if (bytes <= 4 * unit) return bytes <= unit ? unit : (bytes + unit - 1) / unit * unit;
    const std::size_t step = std::bit_floor(bytes - 1) / 4;
    return (bytes + step - 1) / step * step;
  }

  void release_all() {
    for (auto& [size, blocks] : free_) {
      for (std::byte* block : blocks) driver::release(block);
      blocks.clear();
    }
  }

  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::byte*>> free_;  // by size
  Cuda kernels_;
};

// Never destroyed: tensors in static variables give their memory back late.
CudaDevice& the_device() {
  static CudaDevice* device = new CudaDevice;
  return *device;
}

const bool announced = (announce(driver::this_device, the_device()), true);

}  // namespace

Workspace::Workspace(const Shape& shape, DType dtype)
    : bytes_(static_cast<std::size_t>(shape.numel()) * size_of(dtype)),
      array_{the_device().allocate(bytes_), dtype, shape, contiguous_strides(shape)} {}

Workspace::~Workspace() { the_device().deallocate(array_.data, bytes_); }

}  // namespace labgrad
