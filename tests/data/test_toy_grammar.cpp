#include "data/toy_grammar.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

using namespace labgrad::data::toy;

namespace {

const Noun& noun(std::string_view german) {
  return *std::find_if(nouns().begin(), nouns().end(),
                       [&](const Noun& n) { return n.german == german; });
}

// Determiner, adjective and noun in one case.
std::string phrase(Determiner d, std::string_view adjective, std::string_view german, Number n,
                   Case c) {
  const Noun& head = noun(german);
  return determiner_form(d, head.gender, n, c) + " " +
         adjective_form(adjective, d, head.gender, n, c) + " " + noun_form(head, n, c);
}

// Nominative, accusative, dative, genitive, one after the other.
std::string declined(Determiner d, std::string_view adjective, std::string_view german,
                     Number n = Number::singular) {
  std::string all;
  for (const Case c : {Case::nominative, Case::accusative, Case::dative, Case::genitive})
    all += (all.empty() ? "" : ", ") + phrase(d, adjective, german, n, c);
  return all;
}

constexpr Number plural = Number::plural;

}  // namespace

TEST_CASE("toy grammar: declension after der") {
  CHECK(declined(Determiner::the, "alt", "Mann") ==
        "der alte Mann, den alten Mann, dem alten Mann, des alten Mannes");
  CHECK(declined(Determiner::the, "jung", "Frau") ==
        "die junge Frau, die junge Frau, der jungen Frau, der jungen Frau");
  CHECK(declined(Determiner::the, "klein", "Kind") ==
        "das kleine Kind, das kleine Kind, dem kleinen Kind, des kleinen Kindes");
  CHECK(declined(Determiner::the, "groß", "Apfel", plural) ==
        "die großen Äpfel, die großen Äpfel, den großen Äpfeln, der großen Äpfel");
}

TEST_CASE("toy grammar: declension after ein and kein") {
  CHECK(declined(Determiner::a, "alt", "Hund") ==
        "ein alter Hund, einen alten Hund, einem alten Hund, eines alten Hundes");
  CHECK(declined(Determiner::a, "rot", "Blume") ==
        "eine rote Blume, eine rote Blume, einer roten Blume, einer roten Blume");
  CHECK(declined(Determiner::no, "neu", "Buch") ==
        "kein neues Buch, kein neues Buch, keinem neuen Buch, keines neuen Buches");
}

TEST_CASE("toy grammar: strong endings after numbers, viele is declined itself") {
  CHECK(phrase(Determiner::two, "alt", "Haus", plural, Case::nominative) == "zwei alte Häuser");
  CHECK(phrase(Determiner::three, "alt", "Haus", plural, Case::dative) == "drei alten Häusern");
  CHECK(declined(Determiner::many, "jung", "Student", plural) ==
        "viele junge Studenten, viele junge Studenten, vielen jungen Studenten, vieler junger "
        "Studenten");
}

TEST_CASE("toy grammar: weak nouns, and the dative plural's n") {
  CHECK(declined(Determiner::the, "traurig", "Junge") ==
        "der traurige Junge, den traurigen Jungen, dem traurigen Jungen, des traurigen Jungen");
  CHECK(declined(Determiner::a, "groß", "Elefant") ==
        "ein großer Elefant, einen großen Elefanten, einem großen Elefanten, eines großen "
        "Elefanten");
  for (const auto& [german, dative] : {std::pair{"Kind", "Kindern"},
                                       {"Frau", "Frauen"},
                                       {"Auto", "Autos"},
                                       {"Mädchen", "Mädchen"},
                                       {"Garten", "Gärten"},
                                       {"Vogel", "Vögeln"},
                                       {"Park", "Parks"}})
    CHECK(noun_form(noun(german), plural, Case::dative) == dative);
}

TEST_CASE("toy grammar: relative pronouns") {
  CHECK(relative_pronoun(Gender::masculine, Number::singular, Case::accusative) == "den");
  CHECK(relative_pronoun(Gender::feminine, Number::singular, Case::dative) == "der");
  CHECK(relative_pronoun(Gender::neuter, Number::singular, Case::nominative) == "das");
  CHECK(relative_pronoun(Gender::neuter, plural, Case::dative) == "denen");
  CHECK(relative_pronoun(Gender::feminine, plural, Case::nominative) == "die");
}

TEST_CASE("toy grammar: the tables are complete and consistent") {
  std::set<std::string_view> names;
  for (const Noun& n : nouns()) {
    CAPTURE(n.german);
    CHECK(names.insert(n.german).second);
    CHECK_FALSE(n.plural.empty());
    CHECK_FALSE(n.english_plural.empty());
    CHECK(n.kind != 0);
    // In German every feminine noun keeps its form in the singular; the others get an -s or -n.
    CHECK((n.genitive == n.german) == (n.gender == Gender::feminine));
    if (n.gender != Gender::feminine) CHECK((n.genitive.back() == 's' || n.genitive.back() == 'n'));
  }
  for (const Verb& v : verbs()) {
    CAPTURE(v.plural);
    CHECK((v.objects != 0) == (v.object != Object::none));
    CHECK(v.subjects != 0);
    CHECK(v.singular.back() == 't');
    CHECK(v.participle.substr(v.particle.size(), 2) == "ge");
    CHECK(v.participle.starts_with(v.particle));
  }
  for (const Preposition& p : prepositions())
    if (!p.at.empty()) CHECK(names.contains(p.at));
}
