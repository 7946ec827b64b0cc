#pragma once
// Shared ownership with the count inside the object: one pointer wide, one allocation, and a
// release() that the object's type may define (graph nodes queue themselves, see autograd.h).

#include <atomic>
#include <cstdint>
#include <utility>

#include "engine/counter.h"

namespace labgrad {

// Base of everything held by Ref. Not copied with the object.
class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  std::uint32_t use_count() const { return count_.load(std::memory_order_relaxed); }

 private:
  template <class T>
  friend class Ref;
  std::atomic<std::uint32_t> count_{0};
};

// T derives from Counted and has `static void destroy(T*)`, called when the last Ref goes.
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) { retain(); }
  // Of a new object, which nobody else knows yet: its count is set and not added to.
  static Ref first(T* object) {
    object->count_.store(1, std::memory_order_relaxed);
    return take(object);
  }
  Ref(const Ref& other) : object_(other.object_) { retain(); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { release(); }

  // Gives up its hold, which another Ref then takes over.
  T* give() { return std::exchange(object_, nullptr); }
  static Ref take(T* given) {
    Ref ref;
    ref.object_ = given;
    return ref;
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const Ref&) const = default;

 private:
  void retain() {
    if (object_) add_to(object_->count_, std::uint32_t{1});
  }
  void release() {
    // The only owner needs no atomic subtraction: nobody else can be counting.
    if (object_ && (object_->count_.load(std::memory_order_acquire) == 1 ||
                    add_to(object_->count_, ~std::uint32_t{0}, std::memory_order_acq_rel) == 1))
      T::destroy(object_);
  }

  T* object_ = nullptr;
};

}  // namespace labgrad
