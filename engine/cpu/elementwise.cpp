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

// How an operand lies along the loops: dense; one element; a short row again and again, as a bias;
// or otherwise.
enum class Kind { dense, constant, periodic, strided };

// The loops of one call, and how to do any stretch of them.
class Elementwise {
 public:
  Elementwise(Line line, const Array& out, const Array* const* in, int count)
      : loops_(out, in, count), line_(line), out_(&out), in_(in), count_(count) {
    const std::int64_t row = loops_.line_size();
    const bool short_rows = loops_.rank == 2 && row <= block / 2;
    if (short_rows) block_ = block / row * row;
    by_lines_ = loops_.line_stride(0) == 1 && (loops_.rank == 1 || row >= shortest_line);
    for (int k = 0; k <= count; ++k) {
      const std::int64_t stride = loops_.line_stride(k);
      const DType dtype = k == 0 ? out.dtype : in[k - 1]->dtype;
      width_[k] = static_cast<std::int64_t>(size_of(dtype));
      kind_[k] = loops_.is_constant(k)                ? Kind::constant
                 : loops_.is_dense(k)                 ? Kind::dense
                 : short_rows && loops_.at(k)[0] == 0 ? Kind::periodic
                                                      : Kind::strided;
      by_lines_ = by_lines_ && (stride == 0 || stride == 1) && kind_[k] != Kind::periodic;
    }
  }

  void operator()(std::int64_t begin, std::int64_t end) const {
    if (by_lines_)
      lines(begin, end);
    else
      blocks(begin, end);
  }

 private:
  // Every operand steps by 1 or 0 along the lines, so they are done where they lie.
  void lines(std::int64_t begin, std::int64_t end) const {
    Buffer buffers[max_operands - 1];
    Operand operands[max_operands - 1];
    for (Cursor cursor(loops_, begin); begin < end;) {
      const std::int64_t n = std::min(end - begin, cursor.left());
      for (int k = 0; k < count_; ++k) {
        const std::int64_t offset = cursor.offset(k + 1);
        operands[k] = loops_.line_stride(k + 1) == 1 ? Operand{element(k, offset), 1}
                                                     : repeated(k, offset, buffers[k]);
      }
      line_(n, out_->data + cursor.offset(0) * width_[0], operands);
      cursor.advance(n);
      begin += n;
    }
  }

  // Whatever is not dense passes through buffers; a constant or a row is put there once.
  void blocks(std::int64_t begin, std::int64_t end) const {
    Buffer buffers[max_operands];
    Operand operands[max_operands - 1];
    for (int k = 0; k < count_; ++k) {
      if (kind_[k + 1] == Kind::constant) operands[k] = repeated(k, 0, buffers[k]);
      if (kind_[k + 1] == Kind::periodic) operands[k] = rows(k, begin, end, buffers[k]);
    }
    for (; begin < end; begin += block_) {
      const std::int64_t n = std::min(end - begin, block_);
      for (int k = 0; k < count_; ++k) {
        if (kind_[k + 1] == Kind::dense) operands[k] = {element(k, begin), 1};
        if (kind_[k + 1] == Kind::strided) operands[k] = gathered(k, begin, n, buffers[k]);
      }
      if (kind_[0] == Kind::dense) {
        line_(n, out_->data + begin * width_[0], operands);
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

  const std::byte* element(int k, std::int64_t offset) const {
    return in_[k]->data + offset * width_[k + 1];
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

  Operand gathered(int k, std::int64_t begin, std::int64_t n, Buffer& buffer) const {
    dispatch_size(in_[k]->dtype, [&](auto tag) {
      using U = typename decltype(tag)::type;
      gather(loops_, k + 1, in_[k]->as<U>(), begin, n, reinterpret_cast<U*>(buffer.bytes));
    });
    return {buffer.bytes, 1};
  }

  // The whole rows that a block holds, all the same, from the place in the row where `begin` lies.
  Operand rows(int k, std::int64_t begin, std::int64_t end, Buffer& buffer) const {
    const std::int64_t n = std::min(end - begin, block_);
    std::int64_t done = std::min(n, loops_.line_size());
    gathered(k, begin, done, buffer);
    while (done < n) {
      const std::int64_t more = std::min(done, n - done);
      std::memcpy(buffer.bytes + done * width_[k + 1], buffer.bytes,
                  static_cast<std::size_t>(more * width_[k + 1]));
      done += more;
    }
    return {buffer.bytes, 1};
  }

  Loops loops_;
  Line line_;
  const Array* out_;
  const Array* const* in_;
  int count_;
  bool by_lines_;
  std::int64_t block_ = block;
  // Of out, in[0], ...: bytes of an element, and how they lie.
  std::int64_t width_[max_operands];
  Kind kind_[max_operands];
};

}  // namespace

void detail::elementwise(Line line, std::int64_t grain, const Array& out, const Array* const* in,
                         int count) {
  parallel_for(out.shape.numel(), grain, Elementwise(line, out, in, count));
}

}  // namespace labgrad::cpu
