// The one main() of the tests; every other file below tests/ only adds cases to it.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
