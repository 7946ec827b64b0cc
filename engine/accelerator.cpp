#include "engine/accelerator.h"

#include <array>
#include <atomic>
#include <mutex>
#include <string>

namespace labgrad {
namespace {

struct Place {
  Accelerator* accelerator = nullptr;
  std::atomic<bool> started = false;
};

// Constant-initialised, so that an announcement from another file's static object finds it ready.
constinit std::array<Place, 4> places{};
std::mutex starting;

Place& place(Device device) { return places[static_cast<std::size_t>(device)]; }

std::atomic<Device> chosen{Device::cpu};

}  // namespace

void announce(Device device, Accelerator& accelerator) { place(device).accelerator = &accelerator; }

bool is_built_in(Device device) { return in_host_memory(device) || place(device).accelerator; }

Accelerator& accelerator(Device device) {
  Place& p = place(device);
  if (p.started.load(std::memory_order_acquire)) return *p.accelerator;
  if (!p.accelerator)
    fail(std::string("device: '") + name_of(device) + "' is not in this build; " +
         (device == Device::cuda ? "make CUDA=1" : "make SIMT=1") + " builds it, into " +
         (device == Device::cuda ? "build/cuda/bin" : "build/simt/bin"));
  std::lock_guard lock(starting);
  if (!p.started) p.accelerator->start();
  p.started.store(true, std::memory_order_release);
  return *p.accelerator;
}

Device device_from_name(std::string_view name) {
  for (Device d : {Device::cpu, Device::naive, Device::cuda, Device::simt}) {
    if (name != name_of(d)) continue;
    if (!in_host_memory(d)) accelerator(d);
    return d;
  }
  fail("device: there is no '" + std::string(name) +
       "'; the devices are cpu, naive, cuda and simt");
}

Device default_device() { return chosen.load(std::memory_order_relaxed); }
void set_default_device(Device d) { chosen.store(d, std::memory_order_relaxed); }

}  // namespace labgrad
