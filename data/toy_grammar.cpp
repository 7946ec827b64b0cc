#include "data/toy_grammar.h"

#include <array>

namespace labgrad::data::toy {
namespace {

constexpr Gender m = Gender::masculine, f = Gender::feminine, n = Gender::neuter;

constexpr std::array noun_table = {
    Noun{m, "Mann", "Mannes", "Männer", "man", "men", person},
    Noun{f, "Frau", "Frau", "Frauen", "woman", "women", person},
    Noun{n, "Kind", "Kindes", "Kinder", "child", "children", person},
    Noun{n, "Mädchen", "Mädchens", "Mädchen", "girl", "girls", person},
    Noun{m, "Junge", "Jungen", "Jungen", "boy", "boys", person},
    Noun{m, "Student", "Studenten", "Studenten", "student", "students", person},
    Noun{m, "Nachbar", "Nachbarn", "Nachbarn", "neighbour", "neighbours", person},
    Noun{m, "Arzt", "Arztes", "Ärzte", "doctor", "doctors", person},
    Noun{f, "Schwester", "Schwester", "Schwestern", "sister", "sisters", person},
    Noun{f, "Großmutter", "Großmutter", "Großmütter", "grandmother", "grandmothers", person},
    Noun{m, "Lehrer", "Lehrers", "Lehrer", "teacher", "teachers", person | trainer},
    Noun{m, "Trainer", "Trainers", "Trainer", "coach", "coaches", person | trainer},
    Noun{m, "Hund", "Hundes", "Hunde", "dog", "dogs", animal},
    Noun{f, "Katze", "Katze", "Katzen", "cat", "cats", animal},
    Noun{n, "Pferd", "Pferdes", "Pferde", "horse", "horses", animal},
    Noun{m, "Vogel", "Vogels", "Vögel", "bird", "birds", animal},
    Noun{m, "Elefant", "Elefanten", "Elefanten", "elephant", "elephants", animal},
    Noun{f, "Maus", "Maus", "Mäuse", "mouse", "mice", animal},
    Noun{m, "Ball", "Balles", "Bälle", "ball", "balls", thing},
    Noun{m, "Hut", "Hutes", "Hüte", "hat", "hats", thing},
    Noun{n, "Buch", "Buches", "Bücher", "book", "books", thing},
    Noun{f, "Tasche", "Tasche", "Taschen", "bag", "bags", thing},
    Noun{m, "Apfel", "Apfels", "Äpfel", "apple", "apples", thing},
    Noun{f, "Blume", "Blume", "Blumen", "flower", "flowers", thing},
    Noun{m, "Schirm", "Schirmes", "Schirme", "umbrella", "umbrellas", thing},
    Noun{n, "Auto", "Autos", "Autos", "car", "cars", thing},
    Noun{m, "Tisch", "Tisches", "Tische", "table", "tables", furniture},
    Noun{m, "Stuhl", "Stuhles", "Stühle", "chair", "chairs", furniture},
    Noun{f, "Bank", "Bank", "Bänke", "bench", "benches", furniture},
    Noun{f, "Lampe", "Lampe", "Lampen", "lamp", "lamps", furniture},
    Noun{f, "Tür", "Tür", "Türen", "door", "doors", furniture},
    Noun{f, "Uhr", "Uhr", "Uhren", "clock", "clocks", furniture},
    Noun{m, "Schrank", "Schrankes", "Schränke", "cupboard", "cupboards", furniture},
    Noun{n, "Fenster", "Fensters", "Fenster", "window", "windows", furniture},
    Noun{m, "Park", "Parks", "Parks", "park", "parks", place},
    Noun{m, "Garten", "Gartens", "Gärten", "garden", "gardens", place},
    Noun{m, "Wald", "Waldes", "Wälder", "forest", "forests", place},
    Noun{n, "Haus", "Hauses", "Häuser", "house", "houses", place},
    Noun{f, "Schule", "Schule", "Schulen", "school", "schools", place},
    Noun{f, "Stadt", "Stadt", "Städte", "town", "towns", place},
    Noun{f, "Straße", "Straße", "Straßen", "street", "streets", place},
    Noun{f, "Brücke", "Brücke", "Brücken", "bridge", "bridges", place},
};

constexpr std::array modifier_table = {
    Modifier{"Garten", "garden", furniture},  Modifier{"Küchen", "kitchen", furniture},
    Modifier{"Holz", "wooden", furniture},    Modifier{"Schul", "school", furniture},
    Modifier{"Metall", "metal", furniture},   Modifier{"Spielzeug", "toy", furniture},
    Modifier{"Tanz", "dancing", trainer},     Modifier{"Tennis", "tennis", trainer},
    Modifier{"Schwimm", "swimming", trainer}, Modifier{"Reit", "riding", trainer},
};

// In the order in which two of them stand before a noun, in both languages.
constexpr std::array adjective_table = {
    Adjective{"schön", "beautiful", "looks", anything | place},
    Adjective{"freundlich", "friendly", "mood", living},
    Adjective{"glücklich", "happy", "mood", living},
    Adjective{"traurig", "sad", "mood", living},
    Adjective{"klein", "small", "size", anything | place},
    Adjective{"groß", "big", "size", anything | place},
    Adjective{"alt", "old", "age", anything | place},
    Adjective{"jung", "young", "age", living},
    Adjective{"neu", "new", "age", object | place},
    Adjective{"rot", "red", "colour", object},
    Adjective{"blau", "blue", "colour", object},
    Adjective{"grün", "green", "colour", object},
    Adjective{"weiß", "white", "colour", object | animal},
    Adjective{"schwarz", "black", "colour", object | animal},
};

constexpr Object none = Object::none, accusative = Object::accusative, dative = Object::dative;
constexpr bool haben = false, sein = true;

constexpr std::array verb_table = {
    // Without an object.
    Verb{"schläft", "schlafen", "", "geschlafen", haben, "sleeps", "sleep", "slept", "", none,
         living, 0},
    Verb{"lacht", "lachen", "", "gelacht", haben, "laughs", "laugh", "laughed", "", none, person,
         0},
    Verb{"wartet", "warten", "", "gewartet", haben, "waits", "wait", "waited", "", none, living, 0},
    Verb{"spielt", "spielen", "", "gespielt", haben, "plays", "play", "played", "", none, living,
         0},
    Verb{"läuft", "laufen", "", "gelaufen", sein, "runs", "run", "ran", "", none, living, 0},
    Verb{"steht", "stehen", "auf", "aufgestanden", sein, "gets", "get", "got", "up", none, living,
         0},
    // With one in the accusative.
    Verb{"sieht", "sehen", "", "gesehen", haben, "sees", "see", "saw", "", accusative, living,
         anything},
    Verb{"findet", "finden", "", "gefunden", haben, "finds", "find", "found", "", accusative,
         living, anything},
    Verb{"sucht", "suchen", "", "gesucht", haben, "looks", "look", "looked", "for", accusative,
         living, anything},
    Verb{"kauft", "kaufen", "", "gekauft", haben, "buys", "buy", "bought", "", accusative, person,
         object},
    Verb{"trägt", "tragen", "", "getragen", haben, "carries", "carry", "carried", "", accusative,
         person, object},
    Verb{"malt", "malen", "", "gemalt", haben, "paints", "paint", "painted", "", accusative, person,
         anything},
    Verb{"putzt", "putzen", "", "geputzt", haben, "cleans", "clean", "cleaned", "", accusative,
         person, object},
    Verb{"schaut", "schauen", "an", "angeschaut", haben, "looks", "look", "looked", "at",
         accusative, living, anything},
    Verb{"ruft", "rufen", "an", "angerufen", haben, "calls", "call", "called", "", accusative,
         person, person},
    Verb{"holt", "holen", "ab", "abgeholt", haben, "picks", "pick", "picked", "up", accusative,
         person, living},
    // With one in the dative.
    Verb{"hilft", "helfen", "", "geholfen", haben, "helps", "help", "helped", "", dative, person,
         living},
    Verb{"folgt", "folgen", "", "gefolgt", sein, "follows", "follow", "followed", "", dative,
         living, living},
    Verb{"hört", "hören", "zu", "zugehört", haben, "listens", "listen", "listened", "to", dative,
         living, person},
};

constexpr std::array modal_table = {
    Modal{"kann", "können", "can", "can", false},
    Modal{"muss", "müssen", "must", "must", false},
    Modal{"will", "wollen", "wants", "want", true},
};

constexpr std::array speech_verb_table = {
    SpeechVerb{"sagt", "sagen", "says", "say"},
    SpeechVerb{"glaubt", "glauben", "believes", "believe"},
    SpeechVerb{"weiß", "wissen", "knows", "know"},
};

constexpr std::array preposition_table = {
    Preposition{"in", "in", "Park"},       Preposition{"in", "in", "Garten"},
    Preposition{"in", "in", "Wald"},       Preposition{"in", "in", "Haus"},
    Preposition{"in", "in", "Schule"},     Preposition{"in", "in", "Stadt"},
    Preposition{"auf", "on", "Straße"},    Preposition{"auf", "on", "Brücke"},
    Preposition{"hinter", "behind", ""},   Preposition{"neben", "next to", ""},
    Preposition{"vor", "in front of", ""},
};

// ---- endings: a row for each case, columns masculine, feminine, neuter, plural ----

using Table = std::array<std::array<std::string_view, 4>, 4>;

constexpr Table definite = {{
    {"der", "die", "das", "die"},
    {"den", "die", "das", "die"},
    {"dem", "der", "dem", "den"},
    {"des", "der", "des", "der"},
}};

// Of ein and kein.
constexpr Table indefinite = {{
    {"", "e", "", "e"},
    {"en", "e", "", "e"},
    {"em", "er", "em", "en"},
    {"es", "er", "es", "er"},
}};

constexpr Table weak = {{
    {"e", "e", "e", "en"},
    {"en", "e", "e", "en"},
    {"en", "en", "en", "en"},
    {"en", "en", "en", "en"},
}};

constexpr Table mixed = {{
    {"er", "e", "es", "en"},
    {"en", "e", "es", "en"},
    {"en", "en", "en", "en"},
    {"en", "en", "en", "en"},
}};

// Only the plural of the strong endings is needed: after zwei, drei and viele, and by viele itself.
constexpr std::array<std::string_view, 4> strong_plural = {"e", "e", "en", "er"};

std::string_view in(const Table& table, Gender g, Number number, Case c) {
  const auto column = number == Number::plural ? 3 : static_cast<std::size_t>(g);
  return table[static_cast<std::size_t>(c)][column];
}

std::string joined(std::string_view a, std::string_view b) {
  return std::string(a) + std::string(b);
}

}  // namespace

std::span<const Noun> nouns() { return noun_table; }
std::span<const Modifier> modifiers() { return modifier_table; }
std::span<const Adjective> adjectives() { return adjective_table; }
std::span<const Verb> verbs() { return verb_table; }
std::span<const Modal> modals() { return modal_table; }
std::span<const SpeechVerb> speech_verbs() { return speech_verb_table; }
std::span<const Preposition> prepositions() { return preposition_table; }

std::string determiner_form(Determiner d, Gender g, Number number, Case c) {
  switch (d) {
    case Determiner::the:
      return std::string(in(definite, g, number, c));
    case Determiner::a:
      return joined("ein", in(indefinite, g, Number::singular, c));
    case Determiner::no:
      return joined("kein", in(indefinite, g, number, c));
    case Determiner::two:
      return "zwei";
    case Determiner::three:
      return "drei";
    case Determiner::many:
      break;
  }
  return joined("viel", strong_plural[static_cast<std::size_t>(c)]);
}

std::string_view determiner_english(Determiner d) {
  constexpr std::array<std::string_view, 6> words = {"the", "a", "no", "two", "three", "many"};
  return words[static_cast<std::size_t>(d)];
}

std::string adjective_form(std::string_view stem, Determiner before, Gender g, Number number,
                           Case c) {
  switch (before) {
    case Determiner::the:
      return joined(stem, in(weak, g, number, c));
    case Determiner::a:
    case Determiner::no:
      return joined(stem, in(mixed, g, number, c));
    default:
      return joined(stem, strong_plural[static_cast<std::size_t>(c)]);
  }
}

std::string noun_form(const Noun& noun, Number number, Case c) {
  if (number == Number::plural) {
    const char last = noun.plural.back();
    return joined(noun.plural, c == Case::dative && last != 'n' && last != 's' ? "n" : "");
  }
  // A masculine noun whose genitive ends in -n is weak: it has that form in all cases but one.
  const bool is_weak = noun.gender == Gender::masculine && noun.genitive.back() == 'n';
  const bool long_form = c == Case::genitive || (is_weak && c != Case::nominative);
  return std::string(long_form ? noun.genitive : noun.german);
}

std::string relative_pronoun(Gender g, Number number, Case c) {
  if (number == Number::plural && c == Case::dative) return "denen";
  return std::string(in(definite, g, number, c));
}

}  // namespace labgrad::data::toy
