#include "data/multi30k.h"

#include <doctest/doctest.h>

#include "data/vocabulary.h"
#include "engine/io/file.h"
#include "tests/engine/io/files.h"

using files::has;
using files::problem;
using files::Scratch;
using namespace labgrad::data;

namespace {

ParallelCorpus read(const Scratch& scratch, const std::string& german, const std::string& english,
                    const ParallelOptions& options = {}) {
  files::write(scratch.file("a.de"), german);
  files::write(scratch.file("a.en"), english);
  return read_parallel(scratch.file("a.de"), scratch.file("a.en"), "a", options);
}

std::string problem_of(const Scratch& scratch, const std::string& german,
                       const std::string& english) {
  return problem([&] { read(scratch, german, english); });
}

}  // namespace

TEST_CASE("parallel corpus: lines become pairs of sentences") {
  const Scratch scratch("parallel");
  const std::string german = "Ein Mann.\nZwei Hunde spielen.\n",
                    english = "A man.\nTwo dogs play.\n";
  const ParallelCorpus corpus = read(scratch, german, english);
  CHECK(corpus.name == "a");
  CHECK(corpus.source ==
        std::vector<Sentence>{{"ein", "mann", "."}, {"zwei", "hunde", "spielen", "."}});
  CHECK(corpus.target[1] == Sentence{"two", "dogs", "play", "."});
  CHECK(corpus.alignment.empty());
  // Ends of lines of either kind, a byte order mark, no end of the last line: the same.
  CHECK(read(scratch,
             "\xef\xbb\xbf"
             "Ein Mann.\r\nZwei Hunde spielen.",
             english)
            .source == corpus.source);
}

TEST_CASE("parallel corpus: empty and very long lines are left out with their pair, and counted") {
  const Scratch scratch("parallel");
  std::string longest;
  for (int i = 0; i < 100000; ++i) longest += "wort ";
  const ParallelCorpus corpus = read(scratch, "eins\n\nzwei\n" + longest + "\nfünf\nsechs",
                                     "one\ntwo\n   \nfour\nfive\nsix\n");
  CHECK(corpus.target == std::vector<Sentence>{{"one"}, {"five"}, {"six"}});
  CHECK(corpus.source == std::vector<Sentence>{{"eins"}, {"fünf"}, {"sechs"}});
  CHECK(corpus.dropped_empty == 2);
  CHECK(corpus.dropped_long == 1);
  CHECK(read(scratch, "a b c\na b\n", "a\nb\n", {.max_words = 2}).size() == 1);
}

TEST_CASE("parallel corpus: bad files are errors that say where") {
  const Scratch scratch("parallel");
  const std::string lines = problem_of(scratch, "a\nb\n", "a\nb\nc\n");
  CHECK(has(lines, "a.de has 2 lines"));
  CHECK(has(lines, "a.en has 3"));
  const std::string bytes = problem_of(scratch, "a\nm\xe4nner\n", "a\nb\n");
  CHECK(has(bytes, "a.de: line 2, byte 3 of the file: 0xe4"));
  CHECK(has(problem_of(scratch, "\x1f\x8b\x08", "a\n"), "gzip"));
  CHECK(has(problem_of(scratch, "", ""), "no pair"));
  CHECK(has(problem_of(scratch, "\n \n", "a\nb\n"), "2 with an empty side"));
}

TEST_CASE("multi30k: what is missing, and what to do") {
  const Scratch scratch("multi30k");
  CHECK_FALSE(has_multi30k(scratch.folder()));
  CHECK(has(problem([&] { load_multi30k(scratch.folder()); }), "make data"));
  for (const char* name : {"train", "val", "test_2016_flickr"})
    for (const char* ending : {".de", ".en"})
      files::write(scratch.file(std::string(name) + ending), std::string(name) + "\n");
  CHECK(has_multi30k(scratch.folder()));
  const ParallelSplits splits = load_multi30k(scratch.folder());
  CHECK(splits.train.source[0] == Sentence{"train"});
  CHECK(splits.val.target[0] == Sentence{"val"});
  CHECK(splits.test.name == "Multi30k test_2016_flickr");
  std::filesystem::rename(scratch.file("val.en"), scratch.file("val.en.gz"));
  CHECK_THROWS_AS(load_multi30k(scratch.folder()), labgrad::MissingFile);
  CHECK(has(problem([&] { load_multi30k(scratch.folder()); }), "gzip -dk"));
}

TEST_CASE("multi30k: the real corpus, and vocabularies beside the tutorial's 7,855 and 5,893") {
  if (!has_multi30k("data/files/multi30k")) {
    MESSAGE("skipped: data/files/multi30k has no Multi30k; `make data` gets it");
    return;
  }
  const ParallelSplits splits = load_multi30k("data/files/multi30k");
  CHECK(splits.train.size() == 29000);
  CHECK(splits.val.size() == 1014);
  CHECK(splits.test.size() == 1000);
  CHECK(splits.train.dropped_empty + splits.train.dropped_long == 0);
  const Vocabulary german = vocabulary_by_frequency(splits.train.source);
  const Vocabulary english = vocabulary_by_frequency(splits.train.target);
  CHECK(german.size() == 7856);
  CHECK(english.size() == 5893);
  // Two of the pairs that the tutorial shows, by their numbers there.
  CHECK(splits.train.source[15304] == Sentence{"ein", "grobschlächtiger", ",", "aber", "gut",
                                               "angezogener", "mann", "ist", "in", "der", "warmen",
                                               "sonne", "eingeschlafen", "."});
  CHECK(splits.train.target[20613][1] == "gray");
  CHECK(splits.train.target[20613][2] == "-");
}
