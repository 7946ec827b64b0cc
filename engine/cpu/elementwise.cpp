#include "engine/cpu/elementwise.h"

#include <algorithm>

#include "engine/cpu/loops.h"
#include "engine/cpu/threads.h"

namespace labgrad::cpu {

namespace {

constexpr std::int64_t block = 256;         // elements in a buffer
constexpr std::int64_t shortest_line = 16;  // shorter ones cost more than being gathered

struct alignas(64) Buffer {
  std::byte bytes[block * 8];
};

// The loops of one call, and how to do any stretch of them.
class Elementwise {
 public:
  Elementwise(Line line, const Array& out, const Array* const* in, int count)
      : loops_(out, in, count), line_(line), out_(&out), in_(in), count_(count) {
    by_lines_ =
        loops_.line_stride(0) == 1 && (loops_.rank == 1 || loops_.line_size() >= shortest_line);
    for (int k = 1; k <= count; ++k)
      by_lines_ = by_lines_ && (loops_.line_stride(k) == 0 || loops_.line_stride(k) == 1);
  }

  void operator()(std::int64_t begin, std::int64_t end) const {
    if (by_lines_)
      lines(begin, end);
    else
      blocks(begin, end);
  }

 private:
  const std::byte* element(int k, std::int64_t offset) const {
    const Array& a = *in_[k];
    return a.data + offset * static_cast<std::int64_t>(size_of(a.dtype));
  }

  // Input k's element at the offset, as often as a register holds it.
  Operand repeated(int k, std::int64_t offset, Buffer& buffer) const {
    dispatch_size(in_[k]->dtype, [&](auto tag) {
      using U = typename decltype(tag)::type;
      U value;
      std::memcpy(&value, element(k, offset), sizeof value);
      store(reinterpret_cast<U*>(buffer.bytes), splat<Vec<U>>(value));
    });
    return {buffer.bytes, 0};
  }

  // Every operand steps by 1 or 0 along the lines, so they are done where they lie.
  void lines(std::int64_t begin, std::int64_t end) const {
    Buffer buffers[max_operands - 1];
    Operand operands[max_operands - 1];
    const auto width = static_cast<std::int64_t>(size_of(out_->dtype));
    for (Cursor cursor(loops_, begin); begin < end;) {
      const std::int64_t n = std::min(end - begin, cursor.left());
      for (int k = 0; k < count_; ++k) {
        const std::int64_t offset = cursor.offset(k + 1);
        operands[k] = loops_.line_stride(k + 1) == 1 ? Operand{element(k, offset), 1}
                                                     : repeated(k, offset, buffers[k]);
      }
      line_(n, out_->data + cursor.offset(0) * width, operands);
      cursor.advance(n);
      begin += n;
    }
  }

  // Whatever is not dense passes through buffers.
  void blocks(std::int64_t begin, std::int64_t end) const {
    Buffer buffers[max_operands];
    Operand operands[max_operands - 1];
    const auto width = static_cast<std::int64_t>(size_of(out_->dtype));
    const bool out_dense = loops_.is_dense(0);
    for (; begin < end; begin += block) {
      const std::int64_t n = std::min(end - begin, block);
      for (int k = 0; k < count_; ++k) operands[k] = stretch(k, begin, n, buffers[k]);
      if (out_dense) {
        line_(n, out_->data + begin * width, operands);
        continue;
      }
      Buffer& result = buffers[max_operands - 1];
      line_(n, result.bytes, operands);
      dispatch_size(out_->dtype, [&](auto tag) {
        using U = typename decltype(tag)::type;
        scatter(loops_, 0, out_->as<U>(), begin, n, reinterpret_cast<const U*>(result.bytes));
      });
    }
  }

  Operand stretch(int k, std::int64_t begin, std::int64_t n, Buffer& buffer) const {
    if (loops_.is_constant(k + 1)) return repeated(k, 0, buffer);
    if (loops_.is_dense(k + 1)) return {element(k, begin), 1};
    dispatch_size(in_[k]->dtype, [&](auto tag) {
      using U = typename decltype(tag)::type;
      gather(loops_, k + 1, in_[k]->as<U>(), begin, n, reinterpret_cast<U*>(buffer.bytes));
    });
    return {buffer.bytes, 1};
  }

  Loops loops_;
  Line line_;
  const Array* out_;
  const Array* const* in_;
  int count_;
  bool by_lines_;
};

}  // namespace

void detail::elementwise(Line line, std::int64_t grain, const Array& out, const Array* const* in,
                         int count) {
  parallel_for(out.shape.numel(), grain, Elementwise(line, out, in, count));
}

}  // namespace labgrad::cpu
