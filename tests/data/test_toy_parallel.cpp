#include "data/toy_parallel.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "data/tokenizer.h"
#include "engine/error.h"

using namespace labgrad::data;

namespace {

template <class Words>
std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::set<std::string> set_of(const std::string& words) {
  std::istringstream in(words);
  std::set<std::string> result;
  for (std::string word; in >> word;) result.insert(word);
  return result;
}

const ParallelSplits& corpus() {
  static const ParallelSplits splits = toy_parallel();
  return splits;
}

// Finite verbs, as they stand at the end of a subordinate clause.
const std::set<std::string> finite = set_of(
    "schläft schlafen lacht lachen wartet warten spielt spielen läuft laufen aufsteht aufstehen "
    "sieht sehen findet finden sucht suchen kauft kaufen trägt tragen malt malen putzt putzen "
    "anschaut anschauen anruft anrufen abholt abholen hilft helfen folgt folgen zuhört zuhören "
    "kann können muss müssen will wollen hat haben ist sind");
const std::set<std::string> dative = set_of("dem der den einem einer zwei drei vielen");
const std::set<std::string> accusative =
    set_of("den die das einen eine ein keinen keine kein zwei drei viele");

}  // namespace

TEST_CASE("toy corpus: as many pairs as asked for, all different, no test sentence in training") {
  const ParallelSplits& c = corpus();
  CHECK(c.train.size() == 20000);
  CHECK(c.val.size() == 500);
  CHECK(c.test.size() == 500);
  std::set<std::string> german, english;
  for (const ParallelCorpus* part : {&c.train, &c.val, &c.test}) {
    CHECK(part->target.size() == part->source.size());
    CHECK(part->alignment.size() == part->source.size());
    for (const Sentence& s : part->source) german.insert(joined(s));
    for (const Sentence& s : part->target) english.insert(joined(s));
  }
  CHECK(german.size() == 21000);
  CHECK(english.size() == 21000);
}

TEST_CASE("toy corpus: the seed decides; test does not depend on the size of train") {
  const ParallelSplits again = toy_parallel({.train = 100});
  CHECK(again.test.source == corpus().test.source);
  CHECK(again.test.alignment == corpus().test.alignment);
  CHECK(std::equal(again.train.target.begin(), again.train.target.end(),
                   corpus().train.target.begin()));
  CHECK(toy_parallel({.train = 1, .val = 0, .test = 50, .seed = 1}).test.source !=
        toy_parallel({.train = 1, .val = 0, .test = 50}).test.source);
}

TEST_CASE("toy corpus: lengths spread from 4 words to long sentences") {
  std::map<std::size_t, int> lengths;
  for (const Sentence& s : corpus().train.source) ++lengths[s.size()];
  CHECK(lengths.begin()->first == 4);
  CHECK(lengths.rbegin()->first <= 40);
  int longer = 0;
  for (const auto& [length, count] : lengths) longer += length > 20 ? count : 0;
  CHECK(longer > 3000);
  CHECK(longer < 8000);
  for (const Sentence& s : toy_parallel({.train = 500, .max_words = 9}).train.target)
    CHECK(s.size() <= 9);
}

TEST_CASE("toy corpus: sizes that make no sense, or that the grammar cannot give") {
  CHECK_THROWS_AS(toy_parallel({.train = -1}), labgrad::Error);
  CHECK_THROWS_AS(toy_parallel({.val = 2000000}), labgrad::Error);
  CHECK_THROWS_AS(toy_parallel({.max_words = 3}), labgrad::Error);
  CHECK(toy_parallel({.train = 0, .val = 0, .test = 0}).train.size() == 0);
}

TEST_CASE("toy corpus: words are as the tokeniser gives them") {
  for (std::size_t i = 0; i < 2000; ++i) {
    const Sentence &german = corpus().train.source[i], &english = corpus().train.target[i];
    CHECK(tokenize(joined(german), Language::german) == german);
    CHECK(tokenize(joined(english), Language::english) == english);
    CHECK(tokenize(detokenize(english, Language::english), Language::english) == english);
  }
}

TEST_CASE("toy corpus: every English word is aligned, each word to its translations alone") {
  std::map<std::string, std::set<std::string>> lexicon;
  const ParallelCorpus& c = corpus().train;
  for (std::size_t i = 0; i < c.source.size(); ++i) {
    std::set<int> aligned;
    CHECK(std::is_sorted(c.alignment[i].begin(), c.alignment[i].end(),
                         [](const auto& a, const auto& b) {
                           return std::pair(a.second, a.first) < std::pair(b.second, b.first);
                         }));
    for (const auto& [from, to] : c.alignment[i]) {
      lexicon[c.target[i].at(static_cast<std::size_t>(to))].insert(
          c.source[i].at(static_cast<std::size_t>(from)));
      aligned.insert(to);
    }
    CHECK(aligned.size() == c.target[i].size());
  }
  const auto check = [&](const std::string& english, const std::string& german) {
    CAPTURE(english);
    const auto& found = lexicon[english];
    CHECK(joined(found) == joined(set_of(german)));
  };
  check("dog", "hund");
  check("child", "kind kindes");
  check("students", "studenten");
  check("an", "ein eine einen einem einer");
  check("two", "zwei");
  check("the", "der die das den dem des im am");
  check("'s", "des der");
  check("whom", "den dem der denen");
  check("saw", "hat haben gesehen");
  check("followed", "ist sind gefolgt");
  check("calls", "ruft an anruft");
  check("at", "an anschaut anschauen angeschaut");
  check("next", "neben");
  check("front", "vor");
  check("garden",
        "garten gartentisch gartentische gartenstuhl gartenstühle gartenbank "
        "gartenbänke gartenlampe gartenlampen gartentür gartentüren gartenuhr gartenuhren "
        "gartenschrank gartenschränke gartenfenster");
  check("beautiful", "schöne schönen schöner schönes");
  check("evening", "abend");
  check(",", ",");
  check(".", ".");
}

// Determiner, ending of the adjective and noun, for one noun of each gender, written by hand.
TEST_CASE("toy corpus: article, adjective and noun agree in gender, case and number") {
  const std::map<std::string, std::set<std::string>> allowed = {
      {"hund",
       {"der -e", "den -en", "dem -en", "ein -er", "einen -en", "einem -en", "kein -er",
        "keinen -en"}},
      {"hunde", {"die -en", "zwei -e", "drei -e", "viele -e"}},
      {"hunden", {"den -en", "zwei -en", "drei -en", "vielen -en"}},
      {"frau", {"die -e", "der -en", "eine -e", "einer -en", "keine -e"}},
      {"frauen",
       {"die -en", "den -en", "zwei -e", "drei -e", "viele -e", "zwei -en", "drei -en",
        "vielen -en"}},
      {"kind", {"das -e", "dem -en", "ein -es", "einem -en", "kein -es"}},
      {"kinder", {"die -en", "zwei -e", "drei -e", "viele -e"}},
      {"kindes", {"des -en"}},
      {"arzt",
       {"der -e", "den -en", "dem -en", "ein -er", "einen -en", "einem -en", "kein -er",
        "keinen -en"}},
      {"student", {"der -e", "ein -er", "kein -er"}},
  };
  const std::set<std::string> stems = set_of(
      "klein groß alt schön jung freundlich glücklich traurig rot blau grün weiß schwarz neu");
  std::map<std::string, std::set<std::string>> seen;
  for (const Sentence& s : corpus().train.source)
    for (std::size_t i = 0; i < s.size(); ++i) {
      if (!allowed.contains(s[i])) continue;
      std::set<std::string> endings;
      std::size_t at = i - 1;
      for (; at > 0; --at) {
        std::size_t cut = s[at].size();
        while (cut > 0 && !stems.contains(s[at].substr(0, cut))) --cut;
        if (cut == 0) break;
        endings.insert("-" + s[at].substr(cut));
      }
      for (const std::string& ending : endings) seen[s[i]].insert(s[at] + " " + ending);
    }
  for (const auto& entry : allowed) {
    CAPTURE(entry.first);
    CHECK(joined(seen[entry.first]) == joined(entry.second));  // all of them, and nothing else
  }
}

TEST_CASE("toy corpus: prepositions and dative verbs govern the dative, seeing the accusative") {
  const std::set<std::string> prepositions = set_of("mit hinter neben vor");
  int dative_objects = 0, accusative_objects = 0;
  for (const Sentence& s : corpus().train.source)
    for (std::size_t i = 0; i + 1 < s.size(); ++i) {
      if (prepositions.contains(s[i])) CHECK(dative.contains(s[i + 1]));
      // Simple sentences: der Hund hilft dem Kind .
      if (s.size() != 6 || i != 2) continue;
      if (s[i] == "hilft" || s[i] == "folgt") {
        CHECK(dative.contains(s[i + 1]));
        ++dative_objects;
      } else if (s[i] == "sieht" || s[i] == "sucht") {
        CHECK(accusative.contains(s[i + 1]));
        ++accusative_objects;
      }
    }
  CHECK(dative_objects > 50);
  CHECK(accusative_objects > 50);
}

TEST_CASE("toy corpus: the verb is last in subordinate clauses and second in main ones") {
  const std::set<std::string> conjunctions = set_of("weil während obwohl wenn dass");
  int behind = 0, before = 0;
  for (const Sentence& s : corpus().train.source) {
    if (std::count(s.begin(), s.end(), ",") != 1 || std::count(s.begin(), s.end(), "und") != 0)
      continue;
    const auto comma = static_cast<std::size_t>(std::find(s.begin(), s.end(), ",") - s.begin());
    if (conjunctions.contains(s[comma + 1])) {
      CAPTURE(joined(s));
      CHECK(finite.contains(s[s.size() - 2]));
      ++behind;
    } else if (conjunctions.contains(s[0])) {
      CAPTURE(joined(s));
      CHECK(finite.contains(s[comma - 1]));
      // The clause is the first part of the main one, the verb the second; a separable verb leaves
      // its particle to the end.
      CHECK((finite.contains(s[comma + 1]) || set_of("steht stehen schaut schauen ruft rufen holt "
                                                     "holen hört hören")
                                                  .contains(s[comma + 1])));
      ++before;
    }
  }
  CHECK(behind > 500);
  CHECK(before > 300);
}

TEST_CASE("toy corpus: no two commas in a row, none before the full stop") {
  for (const Sentence& s : corpus().train.source)
    for (std::size_t i = 0; i + 1 < s.size(); ++i)
      if (s[i] == ",") CHECK((s[i + 1] != "," && s[i + 1] != "."));
}
