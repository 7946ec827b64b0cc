#pragma once
// How data/toy_sentence.h puts its sentences together: phrases in two languages at once.

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/toy_grammar.h"
#include "engine/random.h"

namespace labgrad::data::toy {

// A German word has an id of its own, an English one the ids of those it translates. So a phrase
// can be put together in two orders, and the alignment is read off at the end.
using Ids = std::vector<int>;
struct GermanWord {
  std::string text;
  int id;
};
struct EnglishWord {
  std::string text;
  Ids of;
};
struct Phrase {
  std::vector<GermanWord> german;
  std::vector<EnglishWord> english;

  Phrase& add_german(const Phrase& more);
  Phrase& add_english(const Phrase& more);
  Phrase& operator+=(const Phrase& more) { return add_german(more).add_english(more); }
};

struct NounPhrase {
  Phrase words;
  Number number;
};

// A verb in its places: German has two for it in a main clause, English one.
struct Predicate {
  Phrase second;  // German: the finite verb of a main clause; nothing in a subordinate one
  Phrase end;     // German: the rest of it, or all of it in a subordinate clause
  Phrase english;
};

enum class Tense { present, modal, past };
enum class Order { verb_second, verb_last };

// Makes one sentence; the words' ids count up from its first one.
class SentenceMaker {
 public:
  explicit SentenceMaker(Generator& generator) : generator_(generator) {}
  Phrase sentence();

 private:
  // ---- choices ----
  std::size_t below(std::size_t n);
  bool chance(double p) { return static_cast<double>(below(1000)) < 1000 * p; }
  template <class List>
  const auto& pick(const List& list) {
    return list[below(list.size())];
  }
  // One of those that the condition holds for; there is one.
  template <class List, class Condition>
  const auto& pick(const List& list, Condition&& condition) {
    std::vector<std::size_t> possible;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (condition(list[i])) possible.push_back(i);
    return list[pick(possible)];
  }

  // ---- words ----
  // A new German word; its id.
  int put(Phrase& phrase, std::string_view german);
  // A German word and the English ones, none or more, that all translate it.
  Phrase word(std::string_view german, std::string_view english);

  // ---- noun phrases (toy_phrases.cpp) ----
  struct Request {
    Case c;
    unsigned kinds;
    bool simple = false;    // no possessor, no relative clause, no "mit"
    bool definite = false;  // with "the", singular
  };
  NounPhrase noun_phrase(const Request& want);
  NounPhrase noun_phrase(const Request& want, const Noun& noun);
  std::pair<Determiner, Number> determiner(const Request& want);
  Phrase adjective_words(const Noun& noun, Determiner d, Number number, Case c);
  Phrase noun_words(const Noun& noun, Number number, Case c);
  Phrase possessed(const Phrase& determiner, const Phrase& core);
  Phrase place_phrase();
  Phrase time_phrase(Tense tense);

  // ---- verbs and clauses (toy_sentence.cpp) ----
  Predicate predicate(const Verb& verb, Number number, Tense tense, Order order);
  std::pair<int, int> finite_and_rest(Predicate& p, Order order, std::string_view finite,
                                      std::string_view rest);
  NounPhrase subject_of(const Verb& verb);
  struct Parts {
    Phrase object, place, time;
  };
  Parts parts(const Verb& verb, Tense tense, bool simple);
  Phrase rest_of_clause(const Verb& verb, Number number, Tense tense, bool simple);
  Phrase clause_verb_last(Tense tense);
  Phrase relative_clause(const Noun& head, Number number);
  Phrase subordinate_clause(Tense tense);
  Phrase main_clause(Tense tense, bool verb_first = false);
  Phrase speech();

  Generator& generator_;
  double richness_ = 0;  // how readily optional parts are added
  int next_id_ = 0;
};

// Adds English words, separated by spaces, that translate the German ones of these ids.
void put_english(Phrase& phrase, std::string_view words, const Ids& of);
std::vector<std::string_view> split(std::string_view text);

}  // namespace labgrad::data::toy
