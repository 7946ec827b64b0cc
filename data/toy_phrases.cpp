#include "data/toy_phrases.h"

#include <algorithm>
#include <cstdint>

#include "data/tokenizer.h"

namespace labgrad::data::toy {
namespace {

struct Time {
  std::string_view german;  // one or two words
  std::string_view english;
  std::array<std::size_t, 3> of;  // which German word each English one translates
  bool present, past;             // the tenses it goes with
};
constexpr std::array times = {
    Time{"heute", "today", {0}, true, true},
    Time{"gestern", "yesterday", {0}, false, true},
    Time{"jeden Tag", "every day", {0, 1}, true, false},
    Time{"am Abend", "in the evening", {0, 0, 1}, true, true},
};

// How often each determiner is taken where it need not be "the".
constexpr std::array determiners = {Determiner::a,   Determiner::a,   Determiner::a,
                                    Determiner::no,  Determiner::two, Determiner::three,
                                    Determiner::many};

}  // namespace

Phrase& Phrase::add_german(const Phrase& more) {
  german.insert(german.end(), more.german.begin(), more.german.end());
  return *this;
}

Phrase& Phrase::add_english(const Phrase& more) {
  english.insert(english.end(), more.english.begin(), more.english.end());
  return *this;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

void put_english(Phrase& phrase, std::string_view words, const Ids& of) {
  for (const std::string_view word : split(words))
    phrase.english.push_back({std::string(word), of});
}

std::size_t SentenceMaker::below(std::size_t n) {
  std::int64_t value = 0;
  generator_.random_ints(std::span(&value, 1), 0, static_cast<std::int64_t>(n));
  return static_cast<std::size_t>(value);
}

int SentenceMaker::put(Phrase& phrase, std::string_view german) {
  phrase.german.push_back({lower_case(german), next_id_});
  return next_id_++;
}

Phrase SentenceMaker::word(std::string_view german, std::string_view english) {
  Phrase phrase;
  const int id = put(phrase, german);
  put_english(phrase, english, {id});
  return phrase;
}

NounPhrase SentenceMaker::noun_phrase(const Request& want) {
  return noun_phrase(want,
                     pick(nouns(), [&](const Noun& n) { return (n.kind & want.kinds) != 0; }));
}

NounPhrase SentenceMaker::noun_phrase(const Request& want, const Noun& noun) {
  const auto [d, number] = determiner(want);
  Phrase words = word(determiner_form(d, noun.gender, number, want.c), determiner_english(d));
  Phrase core = adjective_words(noun, d, number, want.c);
  core += noun_words(noun, number, want.c);
  if (!want.simple && d == Determiner::the && chance(richness_ / 5))
    return {possessed(words, core), number};
  words += core;
  if (!want.simple && (noun.kind & living) != 0 && chance(richness_ / 4)) {
    words += word("mit", "with");
    words += noun_phrase({.c = Case::dative, .kinds = thing, .simple = true}).words;
  } else if (!want.simple && chance(richness_ / 3)) {
    words += relative_clause(noun, number);
  }
  return {words, number};
}

std::pair<Determiner, Number> SentenceMaker::determiner(const Request& want) {
  if (want.definite) return {Determiner::the, Number::singular};
  if (chance(0.4)) return {Determiner::the, chance(0.3) ? Number::plural : Number::singular};
  Determiner d = pick(determiners);
  if (d == Determiner::no && want.c == Case::dative) d = Determiner::a;  // "with no hat" is odd
  const bool one = d == Determiner::a || d == Determiner::no;
  return {d, one ? Number::singular : Number::plural};
}

// None, one or two, in the order of the table.
Phrase SentenceMaker::adjective_words(const Noun& noun, Determiner d, Number number, Case c) {
  Phrase words;
  if (!chance(richness_)) return words;
  const auto fits = [&](const Adjective& a) { return (a.kinds & noun.kind) != 0; };
  const Adjective* first = &pick(adjectives(), fits);
  const Adjective* second = nullptr;
  if (chance(richness_ / 2)) {
    second = &pick(adjectives(),
                   [&](const Adjective& a) { return fits(a) && a.aspect != first->aspect; });
    if (second < first) std::swap(first, second);
  }
  for (const Adjective* a : {first, second})
    if (a) words += word(adjective_form(a->german, d, noun.gender, number, c), a->english);
  return words;
}

// A compound is one German word and two English ones.
Phrase SentenceMaker::noun_words(const Noun& noun, Number number, Case c) {
  const std::string german = noun_form(noun, number, c);
  const std::string english(number == Number::singular ? noun.english : noun.english_plural);
  if ((noun.kind & (furniture | trainer)) == 0 || chance(0.4)) return word(german, english);
  const Modifier& modifier =
      pick(modifiers(), [&](const Modifier& x) { return (x.head & noun.kind) != 0; });
  return word(std::string(modifier.german) + german, std::string(modifier.english) + " " + english);
}

// der alte Hund des Mannes: the man 's old dog. The head's article has no English word.
Phrase SentenceMaker::possessed(const Phrase& determiner, const Phrase& core) {
  const Phrase owner =
      noun_phrase({.c = Case::genitive, .kinds = person, .simple = true, .definite = true}).words;
  Phrase words;
  words.add_german(determiner).add_german(core).add_german(owner);
  words.add_english(owner);
  put_english(words, "'s", {owner.german.front().id});
  return words.add_english(core);
}

// in einem alten Haus; im Park, where "im" is "in dem" and so both of "in the".
Phrase SentenceMaker::place_phrase() {
  const Preposition& p = pick(prepositions());
  const Noun& noun = pick(nouns(), [&](const Noun& n) {
    return (n.kind & place) != 0 && (p.at.empty() || n.german == p.at);
  });
  Phrase words = word(p.german, p.english);
  Phrase where = noun_phrase({.c = Case::dative, .kinds = place, .simple = true}, noun).words;
  if (p.german == "in" && where.german.front().text == "dem") {
    words.german.front().text = "im";
    where.german.erase(where.german.begin());
    where.english.front().of = {words.german.front().id};
  }
  return words += where;
}

Phrase SentenceMaker::time_phrase(Tense tense) {
  const Time& t =
      pick(times, [&](const Time& x) { return tense == Tense::past ? x.past : x.present; });
  Phrase words;
  Ids ids;
  for (const std::string_view w : split(t.german)) ids.push_back(put(words, w));
  const auto english = split(t.english);
  for (std::size_t i = 0; i < english.size(); ++i) put_english(words, english[i], {ids[t.of[i]]});
  return words;
}

}  // namespace labgrad::data::toy
