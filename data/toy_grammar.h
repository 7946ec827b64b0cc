#pragma once
// The grammar of a small German and its English, as tables: what data/toy_parallel.h makes its
// sentences of. Real German, if little: four cases, three genders, adjectives that change with the
// article before them, weak masculine nouns, separable verbs, perfect with haben and sein,
// compounds.

#include <span>
#include <string>
#include <string_view>

namespace labgrad::data::toy {

enum class Gender { masculine, feminine, neuter };
enum class Number { singular, plural };
enum class Case { nominative, accusative, dative, genitive };

// What a noun can be, so that nobody eats a door. A verb says which kinds may do and undergo it.
enum Kind : unsigned {
  person = 1,
  animal = 2,
  thing = 4,
  place = 8,
  furniture = 16,  // of which compounds are made: Gartentisch
  trainer = 32,    // and again: Tanzlehrer
  living = person | animal,
  object = thing | furniture,
  anything = living | object,
};

struct Noun {
  Gender gender;
  std::string_view german, genitive, plural;
  std::string_view english, english_plural;
  unsigned kind;
};
std::span<const Noun> nouns();

// The first half of a compound: Garten + tisch, garden table.
struct Modifier {
  std::string_view german, english;
  Kind head;  // the kind of noun it goes before
};
std::span<const Modifier> modifiers();

struct Adjective {
  std::string_view german, english;
  std::string_view aspect;  // nothing is both big and small
  unsigned kinds;
};
std::span<const Adjective> adjectives();

enum class Determiner { the, a, no, two, three, many };

enum class Object { none, accusative, dative };

struct Verb {
  std::string_view singular, plural;  // of the third person; the plural is the infinitive as well
  std::string_view particle;          // an, in: er schaut ihn an, weil er ihn anschaut
  std::string_view participle;        // angeschaut
  bool with_sein;                     // er ist gelaufen
  std::string_view english_singular, english_plural, english_past;
  std::string_view english_particle;  // at, in: looks at
  Object object;
  unsigned subjects, objects;  // kinds
};
std::span<const Verb> verbs();

struct Modal {
  std::string_view singular, plural, english_singular, english_plural;
  bool with_to;  // wants to
};
std::span<const Modal> modals();

// Verbs with a sentence as object: er sagt, dass ...
struct SpeechVerb {
  std::string_view singular, plural, english_singular, english_plural;
};
std::span<const SpeechVerb> speech_verbs();

// Where: a preposition with the dative. `at`: the place it needs, or "" for any; prepositions of
// two and three English words are one German word.
struct Preposition {
  std::string_view german, english, at;
};
std::span<const Preposition> prepositions();

// ---- the forms ----

// der, einem, keine, zwei, vielen. For a in the plural, and for two, three and many in the
// singular, which don't exist, the form of the other number; no genitive of zwei and drei.
std::string determiner_form(Determiner d, Gender g, Number n, Case c);
std::string_view determiner_english(Determiner d);  // "a" also where "an" is said
// The adjective with its ending: weak after der, mixed after ein and kein, strong after zwei.
std::string adjective_form(std::string_view stem, Determiner before, Gender g, Number n, Case c);
// Hund, Hundes, Hunden; of a weak noun Studenten in every case but the nominative.
std::string noun_form(const Noun& noun, Number n, Case c);
// der, den, denen.
std::string relative_pronoun(Gender g, Number n, Case c);

}  // namespace labgrad::data::toy
