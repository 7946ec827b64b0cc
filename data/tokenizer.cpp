#include "data/tokenizer.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "engine/io/utf8.h"

namespace labgrad::data {
namespace {

using Piece = std::u32string_view;

constexpr char32_t typographic_apostrophe = U'\u2019';

bool is_space(char32_t c) {
  return c == U' ' || (c >= U'\t' && c <= U'\r') || c == U'\u00a0' || c == U'\u1680' ||
         (c >= U'\u2000' && c <= U'\u200b') || c == U'\u2028' || c == U'\u2029' || c == U'\u202f' ||
         c == U'\u205f' || c == U'\u3000' || c == U'\ufeff';
}

bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }

char32_t lower(char32_t c) {
  if (c < 0x80) return c >= U'A' && c <= U'Z' ? c + 0x20 : c;
  if (c >= 0xc0 && c <= 0xde) return c == 0xd7 ? c : c + 0x20;  // 0xd7 is the multiplication sign
  if (c == 0x130) return U'i';                                  // capital I with a dot
  if (c == 0x178) return 0xff;                                  // capital Y with diaeresis
  // Latin Extended-A: capital and small letters alternate, from an even code point or an odd one.
  if ((c >= 0x100 && c <= 0x137) || (c >= 0x14a && c <= 0x177)) return c | 1;
  if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e)) return c + (c & 1);
  if (c == 0x1e9e) return U'ß';
  return c;
}

bool is_one_of(Piece set, char32_t c) { return set.find(c) != Piece::npos; }

bool is_dash(char32_t c) { return c >= U'\u2010' && c <= U'\u2015'; }
bool is_double_quote(char32_t c) { return is_one_of(U"\"„“”«»‟", c); }
bool is_bracket(char32_t c) { return is_one_of(U"()[]{}<>", c); }
bool is_apostrophe(char32_t c) { return c == U'\'' || c == typographic_apostrophe; }

// Marks that are peeled off the ends of a piece.
bool opens(char32_t c) {
  return is_double_quote(c) || is_bracket(c) || is_dash(c) || is_apostrophe(c) ||
         is_one_of(U"-.,;:!?…‚‘`*#&/=+§$€£@|~", c);
}
bool closes(char32_t c) { return opens(c) || is_one_of(U"%°", c); }

// Letters, of whatever script: everything that has no other role.
bool is_letter(char32_t c) { return !is_digit(c) && !is_space(c) && !closes(c); }

bool is_capital(char32_t c) { return lower(c) != c; }

bool ends_with(Piece text, Piece end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::u32string folded(Piece text) {
  std::u32string result(text);
  for (char32_t& c : result) c = c == typographic_apostrophe ? U'\'' : lower(c);
  return result;
}

constexpr std::array<Piece, 23> german_abbreviations = {
    U"bzw.", U"usw.",  U"ca.", U"dr.",  U"nr.",   U"str.",  U"evtl.", U"inkl.",
    U"st.",  U"prof.", U"mr.", U"mrs.", U"dept.", U"vgl.",  U"etc.",  U"ggf.",
    U"sog.", U"jr.",   U"hr.", U"fr.",  U"tel.",  U"allg.", U"bspw."};
constexpr std::array<Piece, 17> english_abbreviations = {
    U"mr.", U"mrs.", U"ms.",  U"dr.", U"st.",  U"jr.",   U"sr.", U"prof.", U"dept.",
    U"vs.", U"etc.", U"inc.", U"co.", U"ave.", U"blvd.", U"mt.", U"lt."};

constexpr std::array<Piece, 6> english_clitics = {U"n't", U"'re", U"'ve", U"'ll", U"'m", U"'d"};

// One or more letters, each with a full stop behind it: J. U.S. z.B.
bool is_initials(Piece text) {
  if (text.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < text.size(); i += 2)
    if (!is_letter(text[i]) || text[i + 1] != U'.') return false;
  // A single small letter is more likely the end of a sentence.
  return text.size() > 2 || is_capital(text[0]);
}

// Whether the full stop at the end of the piece is part of its word.
bool keeps_full_stop(Piece piece, Language language, bool last) {
  if (piece.size() < 2 || piece.back() != U'.' || piece.size() > 16) return false;
  if (is_initials(piece)) return !(last && piece.size() == 2);
  const std::u32string word = folded(piece);
  if (language == Language::english)
    return std::find(english_abbreviations.begin(), english_abbreviations.end(), word) !=
           english_abbreviations.end();
  if (!last && std::all_of(piece.begin(), piece.end() - 1, is_digit)) return true;  // ordinal
  return std::find(german_abbreviations.begin(), german_abbreviations.end(), word) !=
         german_abbreviations.end();
}

// The length of the clitic at the end of the word; 0: none.
std::size_t clitic_length(Piece word, Language language) {
  const std::u32string end =
      folded(word.substr(word.size() - std::min<std::size_t>(3, word.size())));
  if (ends_with(end, U"'s")) return 2;
  if (language == Language::german) return 0;
  for (const Piece clitic : english_clitics)
    if (ends_with(end, clitic)) return clitic.size();
  return 0;
}

class Tokenizer {
 public:
  Tokenizer(Language language, std::vector<std::string>& out) : language_(language), out_(out) {}

  // A piece without white space; `last` if it is the last one of the text.
  void piece(Piece text, bool last) {
    while (!text.empty() && opens(text.front()) && !is_clitic(text)) {
      const std::size_t length = mark_length(text, 0);
      put(text.substr(0, length));
      text.remove_prefix(length);
    }
    // The marks at the end, from the right; they are put out after the middle.
    std::vector<Piece> marks;
    while (!text.empty() && closes(text.back()) && !is_clitic(text) &&
           !keeps_full_stop(text, language_, last && marks.empty())) {
      const std::size_t length = last_mark_length(text);
      marks.push_back(text.substr(text.size() - length));
      text.remove_suffix(length);
    }
    if (text.ends_with(U'.')) {
      word(text);  // an abbreviation: nothing in it separates
    } else if (!text.empty()) {
      middle(text);
    }
    for (auto mark = marks.rbegin(); mark != marks.rend(); ++mark) put(*mark);
  }

 private:
  // 's and its like, alone.
  bool is_clitic(Piece text) const {
    return text.size() > 1 && text.size() <= 3 && clitic_length(text, language_) == text.size();
  }

  // "..." and "--" are one mark, all others a character each.
  static std::size_t mark_length(Piece text, std::size_t at) {
    std::size_t run = 1;
    while (at + run < text.size() && text[at + run] == text[at]) ++run;
    return run > 1 && (text[at] == U'.' || text[at] == U'-') ? run : 1;
  }
  static std::size_t last_mark_length(Piece text) {
    const char32_t c = text.back();
    const std::size_t before = text.find_last_not_of(c);
    const std::size_t run = text.size() - (before == Piece::npos ? 0 : before + 1);
    return run > 1 && (c == U'.' || c == U'-') ? run : 1;
  }

  // How many characters at `at` separate what stands on both sides of them; 0: none.
  std::size_t separator(Piece text, std::size_t at) const {
    const char32_t c = text[at], before = text[at - 1], after = text[at + 1];
    if (is_double_quote(c) || is_bracket(c) || is_dash(c) || c == U'…') return 1;
    if ((c == U'-' || c == U'.') && mark_length(text, at) > 1) return mark_length(text, at);
    const bool letters = is_letter(before) && is_letter(after);
    if (c == U'-') return letters && language_ == Language::english ? 1 : 0;
    if (c == U'.') return letters && !is_capital(before) && is_capital(after) ? 1 : 0;
    if (is_one_of(U",;!?:/", c)) return letters ? 1 : 0;
    return 0;
  }

  // A piece that begins and ends with no mark.
  void middle(Piece text) {
    std::size_t start = 0;
    for (std::size_t at = 1; at + 1 < text.size();) {
      const std::size_t length = at > start ? separator(text, at) : 0;
      if (length == 0) {
        ++at;
        continue;
      }
      word(text.substr(start, at - start));
      put(text.substr(at, length));
      at += length;
      start = at;
    }
    word(text.substr(start));
  }

  void word(Piece text) {
    if (text.empty()) return;
    if (language_ == Language::english && folded(text) == U"cannot") {
      put(text.substr(0, 3));
      put(text.substr(3));
      return;
    }
    const std::size_t clitic = clitic_length(text, language_);
    if (clitic < text.size()) put(text.substr(0, text.size() - clitic));
    if (clitic > 0) put(text.substr(text.size() - clitic));
  }

  void put(Piece token) {
    std::string& word = out_.emplace_back();
    for (const char32_t c : token) append_utf8(word, lower(c));
  }

  Language language_;
  std::vector<std::string>& out_;
};

}  // namespace

std::vector<std::string> tokenize(std::string_view text, Language language) {
  const std::u32string points = decode_utf8(text);
  const Piece all = points;
  std::vector<std::string> words;
  Tokenizer tokenizer(language, words);
  const auto skip_space = [&](std::size_t at) {
    while (at < all.size() && is_space(all[at])) ++at;
    return at;
  };
  for (std::size_t at = skip_space(0); at < all.size();) {
    std::size_t end = at;
    while (end < all.size() && !is_space(all[end])) ++end;
    const std::size_t next = skip_space(end);
    tokenizer.piece(all.substr(at, end - at), next == all.size());
    at = next;
  }
  return words;
}

std::string detokenize(const std::vector<std::string>& words, Language language) {
  std::string text;
  bool glue = true;  // no space before the next word
  bool inside_quotes = false;
  for (const std::string& word : words) {
    const std::u32string points = decode_utf8(word);
    const bool mark = points.size() == 1;
    const char32_t c = mark ? points[0] : U'\0';
    bool glue_before = glue, glue_after = false;
    if (c == U'"') {
      (inside_quotes ? glue_before : glue_after) = true;
      inside_quotes = !inside_quotes;
    } else if (mark && is_one_of(language == Language::german ? U"„([{" : U"“([{", c)) {
      glue_after = true;
    } else if (mark && is_one_of(language == Language::german ? U"“" : U"”", c)) {
      glue_before = true;
    } else if (c == U'-') {
      glue_before = glue_after = true;
    } else if ((mark && is_one_of(U".,;:!?…)]}%", c)) || word == "..." ||
               clitic_length(points, language) == points.size()) {
      glue_before = true;
    }
    if (!glue_before) text += ' ';
    text += word;
    glue = glue_after;
  }
  return text;
}

std::string lower_case(std::string_view text) {
  std::string result;
  for (const char32_t c : decode_utf8(text)) append_utf8(result, lower(c));
  return result;
}

}  // namespace labgrad::data
