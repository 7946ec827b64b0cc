// In a build with a device of its own (SIMT=1, CUDA=1) all tests run on it, but for those of the
// host's kernels, which ask for no device.

#include <doctest/doctest.h>

#include <string_view>

#include "engine/accelerator.h"

namespace {

using namespace labgrad;

struct DefaultDevice : doctest::IReporter {
  explicit DefaultDevice(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData& test) override {
    const std::string_view file = test.m_file.c_str();
    const bool of_host =
        file.find("engine/cpu/") != file.npos || file.find("engine/naive/") != file.npos;
    set_default_device(of_host                     ? Device::cpu
                       : is_built_in(Device::cuda) ? Device::cuda
                       : is_built_in(Device::simt) ? Device::simt
                                                   : Device::cpu);
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

REGISTER_LISTENER("default_device", 1, DefaultDevice);

}  // namespace
