#pragma once
// Sentences into words, by rule, for German and English.
//
// A text is cut at white space, and each piece is taken apart:
//   1. Punctuation is peeled off its two ends, one mark a token; "..." and "--" stay together.
//   2. A full stop stays with an abbreviation (Dr. Mr. usw.), with initials (J. U.S. z.B.) and, in
//      German inside a sentence, with a number: the ordinal "am 4. Juli".
//   3. Inside a piece, brackets, double quotes, long dashes and "--" split, and so do , ; ! ? : /
//      between letters and the full stop of "Haus.Ein", where a space was forgotten.
//   4. English splits at hyphens (gray-haired: gray - haired), German keeps them (T-Shirt).
//   5. Clitics are tokens: 's in both languages, and in English n't 'm 're 've 'll 'd; cannot is
//      can not. The apostrophe may be ' or its typographic form.
// Words are in lower case. The rules are chosen to split captions as spaCy's tokenisers do, which
// the tutorial uses; on Multi30k they lead to 7,856 German and 5,893 English words that occur
// twice, specials included, where the tutorial has 7,855 and 5,893.

#include <string>
#include <string_view>
#include <vector>

namespace labgrad::data {

enum class Language { german, english };

// The words of a text (UTF-8), in lower case; none if there is nothing but white space. Time grows
// with the length of the text and nothing else. Error: no valid UTF-8; names the byte.
std::vector<std::string> tokenize(std::string_view text, Language language);

// The words as one text, for a person to read: no space before closing punctuation and clitics, nor
// after what opens, nor around a hyphen; straight quotes open and close by turns. All stays in
// lower case.
std::string detokenize(const std::vector<std::string>& words, Language language);

// Letters in lower case: ASCII, Latin-1 and Latin Extended-A (U+0000 to U+017F) and capital sharp
// s; everything else stays. No letter grows or shrinks to two. Error: no valid UTF-8.
std::string lower_case(std::string_view text);

}  // namespace labgrad::data
