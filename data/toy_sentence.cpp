#include "data/toy_sentence.h"

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "data/toy_phrases.h"

namespace labgrad::data::toy {
namespace {

struct Conjunction {
  std::string_view german, english;
  bool past;  // goes with the past
};
constexpr std::array conjunctions = {
    Conjunction{"weil", "because", true},
    Conjunction{"während", "while", true},
    Conjunction{"obwohl", "although", true},
    Conjunction{"wenn", "when", false},
};

// A comma ends a relative clause and begins another clause: one is enough, and none before a full
// stop. The last one stays, which is the one that may have an English counterpart.
void drop_commas(std::vector<GermanWord>& words) {
  std::vector<GermanWord> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool needless = words[i].text == "," && i + 1 < words.size() &&
                          (words[i + 1].text == "," || words[i + 1].text == ".");
    if (!needless) kept.push_back(words[i]);
  }
  words = std::move(kept);
}

bool begins_with_vowel(const std::string& word) {
  return std::string_view("aeiou").find(word[0]) != std::string_view::npos;
}

}  // namespace

Predicate SentenceMaker::predicate(const Verb& verb, Number number, Tense tense, Order order) {
  const bool plural = number == Number::plural, last = order == Order::verb_last;
  const std::string particle(verb.particle);
  const std::string finite(plural ? verb.plural : verb.singular);
  Predicate p;
  Ids verb_ids, particle_ids;  // what the English verb and its particle translate
  std::string_view english = plural ? verb.english_plural : verb.english_singular;
  if (tense == Tense::present) {
    // schaut ... an, but: ... anschaut
    verb_ids = {put(last ? p.end : p.second, last ? particle + finite : finite)};
    particle_ids = verb_ids;
    if (!last && !particle.empty()) {
      particle_ids = {put(p.end, particle)};
      // "looks at" has a word for each; "calls" has both of "ruft ... an".
      if (verb.english_particle.empty()) verb_ids.push_back(particle_ids[0]);
    }
  } else if (tense == Tense::modal) {
    const Modal& modal = pick(modals());
    const auto [modal_id, verb_id] = finite_and_rest(
        p, order, plural ? modal.plural : modal.singular, particle + std::string(verb.plural));
    put_english(p.english, plural ? modal.english_plural : modal.english_singular, {modal_id});
    if (modal.with_to) put_english(p.english, "to", {modal_id});
    english = verb.english_plural;  // the infinitive
    verb_ids = particle_ids = {verb_id};
  } else {
    const std::string_view auxiliary =
        verb.with_sein ? (plural ? "sind" : "ist") : (plural ? "haben" : "hat");
    const auto [auxiliary_id, verb_id] = finite_and_rest(p, order, auxiliary, verb.participle);
    english = verb.english_past;
    verb_ids = {auxiliary_id, verb_id};
    particle_ids = {verb_id};
  }
  put_english(p.english, english, verb_ids);
  put_english(p.english, verb.english_particle, particle_ids);
  return p;
}

// hat ... gesehen, but: ... gesehen hat. The ids of the finite verb and of the other.
std::pair<int, int> SentenceMaker::finite_and_rest(Predicate& p, Order order,
                                                   std::string_view finite, std::string_view rest) {
  if (order == Order::verb_second) {
    const int finite_id = put(p.second, finite);
    return {finite_id, put(p.end, rest)};
  }
  const int rest_id = put(p.end, rest);
  return {put(p.end, finite), rest_id};
}

NounPhrase SentenceMaker::subject_of(const Verb& verb) {
  return noun_phrase({.c = Case::nominative, .kinds = verb.subjects});
}

SentenceMaker::Parts SentenceMaker::parts(const Verb& verb, Tense tense, bool simple) {
  Parts p;
  if (verb.object != Object::none) {
    const Case c = verb.object == Object::dative ? Case::dative : Case::accusative;
    p.object = noun_phrase({.c = c, .kinds = verb.objects, .simple = simple}).words;
  }
  if (chance(richness_ / 2)) p.place = place_phrase();
  if (chance(simple ? richness_ / 4 : richness_ / 2)) p.time = time_phrase(tense);
  return p;
}

// After the subject, verb last: heute den Hund im Park sieht.
Phrase SentenceMaker::rest_of_clause(const Verb& verb, Number number, Tense tense, bool simple) {
  const Parts rest = parts(verb, tense, simple);
  const Predicate p = predicate(verb, number, tense, Order::verb_last);
  Phrase words;
  words.add_german(rest.time).add_german(rest.object).add_german(rest.place).add_german(p.end);
  words.add_english(p.english).add_english(rest.object);
  return words.add_english(rest.place).add_english(rest.time);
}

Phrase SentenceMaker::clause_verb_last(Tense tense) {
  const Verb& verb = pick(verbs());
  const NounPhrase subject = subject_of(verb);
  return Phrase(subject.words) += rest_of_clause(verb, subject.number, tense, false);
}

// , der den Hund sieht, / , dem die Frau hilft,
Phrase SentenceMaker::relative_clause(const Noun& head, Number number) {
  const bool is_living = (head.kind & living) != 0, is_person = (head.kind & person) != 0;
  // "die Frau, die das Kind sieht" could be either; "der Mann, den das Kind sieht" could not.
  const bool den = head.gender == Gender::masculine && number == Number::singular;
  const Tense tense = chance(0.5) ? Tense::present : Tense::past;
  const bool as_subject = is_living && chance(0.6);
  const Verb& verb = pick(verbs(), [&](const Verb& v) {
    if (as_subject) return (v.subjects & head.kind) != 0;
    return (v.objects & head.kind) != 0 && (v.object == Object::dative || den || !is_living);
  });
  Case role = Case::nominative;
  if (!as_subject) role = verb.object == Object::dative ? Case::dative : Case::accusative;
  const std::string_view english = !is_person ? "that" : as_subject ? "who" : "whom";

  Phrase words = word(",", "");
  words += word(relative_pronoun(head.gender, number, role), english);
  if (as_subject) {
    words += rest_of_clause(verb, number, tense, true);
  } else {
    const NounPhrase subject =
        noun_phrase({.c = Case::nominative, .kinds = verb.subjects, .simple = true});
    const Predicate p = predicate(verb, subject.number, tense, Order::verb_last);
    words += subject.words;
    words.add_german(p.end).add_english(p.english);
  }
  return words += word(",", "");
}

Phrase SentenceMaker::subordinate_clause(Tense tense) {
  const Conjunction& c =
      pick(conjunctions, [&](const Conjunction& x) { return tense != Tense::past || x.past; });
  return word(c.german, c.english) += clause_verb_last(tense);
}

// Verb second: der Mann sieht heute den Hund im Park; heute sieht der Mann den Hund im Park.
// Behind a subordinate clause the verb comes first.
Phrase SentenceMaker::main_clause(Tense tense, bool verb_first) {
  const Verb& verb = pick(verbs());
  const NounPhrase subject = subject_of(verb);
  Parts rest = parts(verb, tense, false);
  const Predicate p = predicate(verb, subject.number, tense, Order::verb_second);
  Phrase front;
  if (!verb_first && chance(0.6)) std::swap(front, chance(0.7) ? rest.time : rest.place);
  const bool subject_first = !verb_first && front.german.empty();

  Phrase words = front;
  if (subject_first) words.add_german(subject.words);
  words.add_german(p.second);
  if (!subject_first) words.add_german(subject.words);
  words.add_german(rest.time).add_german(rest.object).add_german(rest.place).add_german(p.end);
  words.add_english(subject.words).add_english(p.english).add_english(rest.object);
  return words.add_english(rest.place).add_english(rest.time);
}

// Der Mann sagt
Phrase SentenceMaker::speech() {
  const NounPhrase who = noun_phrase({.c = Case::nominative, .kinds = person});
  const SpeechVerb& verb = pick(speech_verbs());
  const bool plural = who.number == Number::plural;
  return Phrase(who.words) += word(plural ? verb.plural : verb.singular,
                                   plural ? verb.english_plural : verb.english_singular);
}

Phrase SentenceMaker::sentence() {
  // From bare sentences to rich ones, so that lengths spread.
  richness_ = 0.15 * static_cast<double>(below(6));
  const Tense tense = std::array{Tense::present, Tense::modal, Tense::past}[below(3)];
  Phrase s;
  switch (chance(richness_) ? below(4) : 4) {
    case 0:
      s += main_clause(tense);
      s += word(",", "");  // English has none here
      s += subordinate_clause(tense);
      break;
    case 1:
      s += subordinate_clause(tense);
      s += word(",", ",");
      s += main_clause(tense, true);
      break;
    case 2: {
      const bool but = chance(0.5);
      s += main_clause(tense);
      if (but) s += word(",", ",");
      s += but ? word("aber", "but") : word("und", "and");
      s += main_clause(tense);
      break;
    }
    case 3:
      s += speech();
      s += word(",", "");
      s += word("dass", "that");
      s += clause_verb_last(tense);
      break;
    default:
      s += main_clause(tense);
  }
  return s += word(".", ".");
}

AlignedPair sentence(Generator& generator) {
  Phrase phrase = SentenceMaker(generator).sentence();
  drop_commas(phrase.german);
  AlignedPair pair;
  std::map<int, int> place_of;
  for (const GermanWord& w : phrase.german) {
    place_of[w.id] = static_cast<int>(pair.german.size());
    pair.german.push_back(w.text);
  }
  for (std::size_t i = 0; i < phrase.english.size(); ++i) {
    const EnglishWord& w = phrase.english[i];
    std::set<int> places;
    for (const int id : w.of) places.insert(place_of.at(id));
    for (const int from : places) pair.alignment.emplace_back(from, static_cast<int>(i));
    const bool an = w.text == "a" && begins_with_vowel(phrase.english[i + 1].text);
    pair.english.push_back(an ? "an" : w.text);
  }
  return pair;
}

}  // namespace labgrad::data::toy
