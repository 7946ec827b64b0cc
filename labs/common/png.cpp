#include "labs/common/png.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/error.h"

namespace labgrad::labs {
namespace {

std::string big_endian(std::uint32_t v) {
  std::string out;
  for (int shift : {24, 16, 8, 0}) out += static_cast<char>((v >> shift) & 0xFF);
  return out;
}

// CRC-32 of ISO 3309, as PNG's chunks carry it.
std::uint32_t crc32(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      t[i] = i;
      for (int bit = 0; bit < 8; ++bit) t[i] = (t[i] >> 1) ^ (t[i] & 1 ? 0xEDB88320u : 0u);
    }
    return t;
  }();
  std::uint32_t crc = ~0u;
  for (char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

std::uint32_t adler32(std::string_view bytes) {
  std::uint32_t a = 1, b = 0;
  for (char c : bytes) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

std::string chunk(std::string_view type, std::string_view data) {
  const std::string body = std::string(type) + std::string(data);
  return big_endian(static_cast<std::uint32_t>(data.size())) + body + big_endian(crc32(body));
}

// A zlib stream (RFC 1950) of stored blocks (RFC 1951, 3.2.4) of at most 65535 bytes.
std::string zlib_stored(std::string_view bytes) {
  std::string out = "\x78\x01";
  for (std::size_t at = 0; at == 0 || at < bytes.size();) {
    const std::size_t n = std::min<std::size_t>(bytes.size() - at, 65535);
    const bool last = at + n == bytes.size();
    out += last ? '\1' : '\0';
    for (std::size_t length : {n, ~n & 0xFFFF}) {
      out += static_cast<char>(length & 0xFF);
      out += static_cast<char>(length >> 8 & 0xFF);
    }
    out.append(bytes.substr(at, n));
    at += n;
    if (last) break;
  }
  return out + big_endian(adler32(bytes));
}

}  // namespace

Raster grey_raster(std::size_t width, std::size_t height, const std::vector<float>& brightness) {
  if (brightness.size() != width * height)
    fail(fmt::format("picture of {} x {} pixels: {} brightnesses given", width, height,
                     brightness.size()));
  Raster raster{width, height, 1, {}};
  for (float v : brightness) {
    const float clamped = v >= 0.0f ? std::min(v, 1.0f) : 0.0f;  // NaN fails the comparison
    raster.pixels.push_back(static_cast<std::uint8_t>(std::lround(clamped * 255.0f)));
  }
  return raster;
}

std::string png_bytes(const Raster& r) {
  if (r.width == 0 || r.height == 0 || (r.channels != 1 && r.channels != 3) ||
      r.pixels.size() != r.width * r.height * r.channels)
    fail(fmt::format("png: {} bytes for {} x {} pixels of {} channels", r.pixels.size(), r.width,
                     r.height, r.channels));
  const std::size_t row_bytes = r.width * r.channels;
  std::string rows;
  for (std::size_t y = 0; y < r.height; ++y) {
    rows += '\0';  // this row is not filtered
    rows.append(reinterpret_cast<const char*>(r.pixels.data()) + y * row_bytes, row_bytes);
  }
  std::string header = big_endian(static_cast<std::uint32_t>(r.width)) +
                       big_endian(static_cast<std::uint32_t>(r.height));
  header += '\x08';                           // bits a channel
  header += r.channels == 1 ? '\0' : '\x02';  // grey or colour
  header += std::string(3, '\0');             // deflate, the usual filters, not interlaced
  return "\x89PNG\r\n\x1A\n" + chunk("IHDR", header) + chunk("IDAT", zlib_stored(rows)) +
         chunk("IEND", "");
}

std::string base64(std::string_view bytes) {
  static constexpr char letters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += k <= n ? letters[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::string png_data_uri(const Raster& raster) {
  return "data:image/png;base64," + base64(png_bytes(raster));
}

}  // namespace labgrad::labs
