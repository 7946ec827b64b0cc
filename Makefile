# Builds labgrad. `make help` lists the targets and options; `make V=1 ...` prints whole commands.

MAKEFLAGS += -r
SHELL := /bin/sh
VERSION := 0.1.0

# ---- options -------------------------------------------------------------------------------------
ifeq ($(origin CXX),default)
CXX := g++
endif
ARCH ?= native
BUILD ?= build
PREFIX ?= /usr/local
DEBUG ?=
SANITIZE ?=
WERROR ?=
TIDY ?= 1
TESTS ?=
SIMT ?=
CUDA ?=
CUDA_HOME ?= /usr/local/cuda
NVCC ?= $(CUDA_HOME)/bin/nvcc
CUDA_ARCH ?= native
ARGS ?=

comma := ,
empty :=
space := $(empty) $(empty)

# Each flavour has its own folder, so that none overwrites another's objects; the plain one
# (g++, release, -march=native) has none. ccache in front of the compiler makes no flavour.
compiler := $(strip $(filter-out ccache,$(CXX)))
flavour := $(filter-out g++,$(notdir $(compiler))) \
           $(if $(filter 1,$(DEBUG)),debug) $(subst $(comma),-,$(SANITIZE)) $(filter-out native,$(ARCH))
OUT := $(BUILD)$(if $(strip $(flavour)),/$(subst $(space),-,$(strip $(flavour))))
OBJ := $(OUT)/obj
# SIMT=1 and CUDA=1 add the objects of engine/cuda to each program; all others are the same, so only
# the programs have folders of their own.
device := $(if $(filter 1,$(CUDA)),cuda,$(if $(filter 1,$(SIMT)),simt))
BIN := $(OUT)$(device:%=/%)/bin
LIB := $(OUT)/lib/liblabgrad.a

# ---- flags ---------------------------------------------------------------------------------------
# -ffp-contract=off: the compiler fuses no a*b + c by itself, so g++ and clang++ round alike and a
# loop's tail like its body. engine/cpu alone is compiled with fast: there an a*b + c in one
# expression on vector types, which have no fma function, is meant to be one instruction. For the
# same reason no flag here may relax IEEE arithmetic.
# -Wno-restrict: g++ 12 warns of overlaps inside std::string that cannot happen (GCC bug 105651).
warnings := -Wall -Wextra -Wpedantic -Wshadow -Wconversion $(if $(filter 1,$(WERROR)),-Werror) \
            $(if $(findstring clang,$(compiler)),,-Wno-restrict)
ifneq ($(SANITIZE),)
# Without -g it compiles in two thirds of the time; a report names the functions all the same.
optimise := -O1 $(if $(filter 1,$(DEBUG)),-g) -D_GLIBCXX_ASSERTIONS -fno-omit-frame-pointer \
  -fsanitize=$(SANITIZE) -fno-sanitize-recover=all
else ifeq ($(DEBUG),1)
optimise := -O0 -g -D_GLIBCXX_ASSERTIONS
else
optimise := -O2 -DNDEBUG
optimise_kernels := -O3 -fno-math-errno \
  $(if $(filter x86_64%,$(shell $(CXX) -dumpmachine)),-mprefer-vector-width=512)
endif
optimise_kernels += -ffp-contract=fast
flags := $(strip -std=c++20 -I. -pthread $(warnings) -march=$(ARCH) -ffp-contract=off $(optimise) \
         $(CPPFLAGS) $(CXXFLAGS))
link := -pthread $(if $(SANITIZE),-fsanitize=$(SANITIZE)) $(LDFLAGS)
# nvcc hands what is not device code to the host compiler, whose warnings are ours, but for
# -Wpedantic: nvcc's own output has line directives of the GNU kind.
cuda_flags = -std=c++20 -I. -O3 --expt-relaxed-constexpr $(if $(filter native,$(CUDA_ARCH)),\
  -arch=native,$(foreach a,$(subst $(comma), ,$(CUDA_ARCH)),\
  -gencode=arch=$(subst sm_,compute_,$(a))$(comma)code=$(a))) \
  -Xcompiler $(subst $(space),$(comma),$(filter-out -Wpedantic -Werror,$(warnings))) \
  $(if $(filter 1,$(WERROR)),-Werror all-warnings)
ifeq ($(device),cuda)
ifeq ($(shell command -v $(NVCC)),)
$(error CUDA=1 needs nvcc, and $(NVCC) is not here: set CUDA_HOME, or use SIMT=1, which needs none)
endif
endif
cuda_link := $(if $(filter cuda,$(device)),-L$(CUDA_HOME)/lib64 -lcudart_static -ldl -lrt)

# ---- sources -------------------------------------------------------------------------------------
find = $(sort $(shell find $(1) -path data/files -prune -o \( $(2) \) -print 2>/dev/null))
sources := $(call find,engine nn data labs tests,-name '*.cpp')
headers := $(call find,engine nn data labs tests,-name '*.h')
objects = $(patsubst %.cpp,$(OBJ)/%.o,$(1))
kernels := $(call find,engine/cuda,-name '*.cu')
in_device = $(if $(device),$(patsubst %.cu,$(OBJ)/$(device)/%.o,$(1)))
kernel_objects := $(call in_device,$(filter-out $(if $(filter simt,$(device)),%/gpu.cu) \
                    engine/cuda/gemm_ladder/%,$(kernels)))
ladder_objects := $(call in_device,$(filter engine/cuda/gemm_ladder/%,$(kernels)))
ladder_main := engine/cuda/gemm_ladder/main.cpp
under = $(foreach folder,$(1),$(filter $(folder)/%,$(sources)))

lib_objects := $(call objects,$(filter-out $(ladder_main),$(call under,engine nn data)))
common_objects := $(call objects,$(call under,labs/common))
bench_objects := $(call objects,$(call under,tests/bench))
# TESTS=FILES builds the tests of those files alone, with what all tests share.
test_sources := $(if $(TESTS),$(TESTS) tests/main.cpp $(wildcard tests/*.cpp),$(call under,tests))
test_objects := $(filter-out $(bench_objects),$(sort $(call objects,$(test_sources))))

LABS := $(sort $(filter-out common,$(foreach f,$(call under,labs),$(word 2,$(subst /, ,$(f))))))
lab_objects = $(call objects,$(call under,labs/$(1)))
lab_binaries := $(LABS:%=$(BIN)/%)
# The labs that `make run` runs; the others are listed at its end.
run_labs := $(strip $(foreach lab,autograd attention,$(filter $(lab),$(LABS))))
other_labs := $(filter-out $(run_labs),$(LABS))
# A lab with tests of its own (tests/labs/<lab>/) is linked to them as an archive: only the files
# that a test uses are taken, and never the one with the lab's main().
tested_labs := $(strip $(foreach lab,$(LABS),$(if $(call under,tests/labs/$(lab)),$(lab))))
tested_lab_library := $(if $(tested_labs),$(OBJ)/labs.a)

# ---- what one asks for ---------------------------------------------------------------------------
.PHONY: default help all lib run labs test bench gemm-ladder data deps format lint clean install FORCE
.DEFAULT_GOAL := default
.DELETE_ON_ERROR:
.SUFFIXES:

# `make` alone explains itself, `make -j` builds everything; make knows about -j only in recipes.
default:
	+@$(MAKE) --no-print-directory $(if $(filter -j% j,$(MAKEFLAGS)),all,help)

help:
	@echo 'labgrad $(VERSION): automatic differentiation from scratch, and the labs that stand on it'
	@echo
	@echo '  make run          install what is missing, build, run the labs autograd and attention'
	@echo '  make test         install what is missing, build and run the tests; ARGS="-tc=*matmul*"'
	@echo
	@echo '  make -j2          build the library and the labs (the same as make -j2 all)'
	@echo '  make lib          build $(LIB) only'
	@echo '  make lab-NAME     build one lab, $(BIN)/NAME'
	@echo '  make labs         build and run every lab; ARGS=--quick for a short look'
	@echo '  make data         get the real data sets into data/files'
	@echo '  make bench        measure; ARGS=NAME for one table'
	@echo '  make gemm-ladder  the steps to a fast matrix product on a GPU; with SIMT=1 or CUDA=1'
	@echo '  make deps         install what the build and the tests need (apt-get)'
	@echo '  make format       lay out the code by .clang-format'
	@echo '  make lint         check layout, size, includes, and clang-tidy (TIDY=0 leaves that out)'
	@echo '  make install      headers, library, labgrad.pc and labs below PREFIX=$(PREFIX), DESTDIR='
	@echo '  make clean        remove $(BUILD)/'
	@echo
	@echo 'options, each with an output folder of its own below $(BUILD)/'
	@echo '  CXX=clang++-14    another compiler (g++ is the default; "ccache g++" works)'
	@echo '  DEBUG=1           no optimisation, debug information, checks of the standard library'
	@echo '  SANITIZE=LIST     address,undefined or thread'
	@echo '  SIMT=1            with the device simt: the CUDA kernels, emulated on the CPU'
	@echo '  CUDA=1            with the device cuda; CUDA_ARCH=sm_75,sm_90 (native), CUDA_HOME='
	@echo '  ARCH=CPU          code for -march=CPU (native is the default; x86-64-v2 is portable)'
	@echo 'more options'
	@echo '  BUILD=DIR         output folder (build)         V=1  print whole commands'
	@echo '  TESTS=FILES       build and run the tests of these files alone'
	@echo '  WERROR=1          warnings are errors           CXXFLAGS= LDFLAGS=  added at the end'
	@echo
	@echo 'labs: $(if $(LABS),$(LABS),none yet)'

all: $(LIB) $(lab_binaries) compile_commands.json
lib: $(LIB)

.PHONY: $(LABS:%=lab-%)
$(LABS:%=lab-%): lab-%: $(BIN)/%
	@echo '$< is up to date; $< --help lists its options'
lab-%:
	@echo 'there is no lab $*; the labs are: $(LABS)' >&2; exit 1

say = @printf '  %-5s %s\n'
quiet := $(if $(filter 1,$(V)),,@)

# $(1): the labs to run. All of them run even if one fails; the reports stand where the labs put
# them by default.
run_each = status=0; [ -n '$(1)' ] || { echo 'there is no lab yet'; exit 1; }; \
  for lab in $(1); do \
    printf '\n==== $(BIN)/%s\n' "$$lab $(ARGS)"; $(BIN)/$$lab $(ARGS) || status=1; \
  done; \
  printf '\nThe reports, to open in a browser:\n'; \
  for lab in $(1); do echo "  build/out/$$lab/report.html"; done

run: $(run_labs:%=$(BIN)/%)
	@$(call run_each,$(run_labs)); \
	if [ -n '$(other_labs)' ]; then \
	  printf '\nThe other labs (about 3 minutes each; --quick: 20 seconds; --full: hours):\n'; \
	  for lab in $(other_labs); do \
	    printf '  %-46s %s\n' "make lab-$$lab && $(BIN)/$$lab" \
	      "$$(sed -n '1s/^# *//p' labs/$$lab/README.md 2>/dev/null)"; \
	  done; \
	fi; \
	exit $$status

labs: $(lab_binaries)
	@$(call run_each,$(LABS)); exit $$status

test: $(BIN)/tests
	@$(BIN)/tests $(ARGS)

bench: $(BIN)/bench
	@$(BIN)/bench $(ARGS)

gemm-ladder: $(if $(device),$(BIN)/gemm_ladder)
	@$(if $(device),$< $(ARGS),echo 'the ladder needs a device: make SIMT=1 $@, or make CUDA=1 $@' >&2; exit 1)

data:
	@if [ -f data/fetch.sh ]; then sh data/fetch.sh $(ARGS); \
	else echo 'data/fetch.sh does not exist: the labs run on their embedded data'; fi

clean:
	rm -rf '$(BUILD)' compile_commands.json

# ---- how it is made ------------------------------------------------------------------------------
# $(call remember,FILE,TEXT): FILE holds TEXT and is rewritten only when TEXT has changed, so that
# what depends on it is made again when flags change or when a source comes or goes.
define remember
$(if $(filter-out $(strip $(file <$(1))),$(strip $(2)))$(filter-out $(strip $(2)),$(strip $(file <$(1)))),$(1): FORCE)
$(1):
	@mkdir -p $$(@D) && printf '%s\n' '$(strip $(2))' >$$@
endef
$(eval $(call remember,$(OBJ)/flags,$(compiler) $(flags) / $(optimise_kernels) / $(link)))
$(if $(filter cuda,$(device)),$(eval $(call remember,$(OBJ)/flags.cuda,$(cuda_flags))))
$(eval $(call remember,$(OBJ)/list.kernels$(device:%=.%),$(kernel_objects) $(ladder_objects)))
$(eval $(call remember,$(OBJ)/list.lib,$(lib_objects)))
$(eval $(call remember,$(OBJ)/list.tests,$(test_objects) $(common_objects) $(tested_labs)))
$(eval $(call remember,$(OBJ)/list.bench,$(bench_objects)))
$(eval $(call remember,$(OBJ)/list.labs,$(common_objects) $(foreach lab,$(LABS),$(call lab_objects,$(lab)))))
$(eval $(call remember,$(OBJ)/list.sources,$(sources)))
FORCE:

# What the build needs from the system is looked for once for each output folder. The targets that
# a newcomer types install it, the others say in one line what to install.
install_missing := $(if $(filter run test labs bench deps,$(MAKECMDGOALS)),--install)
$(OBJ)/have.build:
	@sh .ci/need $(install_missing) '$(compiler)' fmt && mkdir -p $(@D) && touch $@
$(OBJ)/have.tests: $(OBJ)/have.build
	@sh .ci/need $(install_missing) '$(compiler)' doctest && touch $@
deps:
	@sh .ci/need --install '$(compiler)' fmt doctest

$(OBJ)/engine/cpu/%.o $(OBJ)/tests/bench/%.o: optimise_file := $(optimise_kernels)
# Tests are compiled once and run once: quick to compile counts for more than quick to run.
$(test_objects): optimise_file := $(if $(SANITIZE)$(filter 1,$(DEBUG)),,-O1) -DDOCTEST_CONFIG_SUPER_FAST_ASSERTS
$(test_objects): | $(OBJ)/have.tests
$(OBJ)/%.o: %.cpp $(OBJ)/flags | $(OBJ)/have.build
	$(say) CXX $<
	@mkdir -p $(@D)
	$(quiet)$(CXX) $(flags) $(optimise_file) -MMD -MP -c $< -o $@

# Kernels: CUDA C++ for nvcc, or for the C++ compiler with engine/cuda/simt.h.
$(OBJ)/simt/%.o: %.cu $(OBJ)/flags | $(OBJ)/have.build
	$(say) SIMT $<
	@mkdir -p $(@D)
	$(quiet)$(CXX) $(flags) -MMD -MP -x c++ -c $< -o $@
$(OBJ)/cuda/%.o: %.cu $(OBJ)/flags.cuda | $(OBJ)/have.build
	$(say) NVCC $<
	@mkdir -p $(@D)
	$(quiet)$(NVCC) $(cuda_flags) -MMD -MP -c $< -o $@

$(LIB): $(lib_objects) $(OBJ)/list.lib
	$(say) AR $@
	@mkdir -p $(@D) && rm -f $@
	$(quiet)ar rcs $@ $(filter %.o,$^)

$(OBJ)/labs.a: $(foreach lab,$(tested_labs),$(call lab_objects,$(lab))) $(OBJ)/list.tests
	@rm -f $@ && ar rcs $@ $(filter %.o,$^)

define link_binary
	$(say) LINK $@
	@mkdir -p $(@D)
	$(quiet)$(CXX) $(flags) $(link) $(filter %.o,$^) $(filter %.a,$^) -lfmt $(cuda_link) -o $@
endef

$(BIN)/tests: $(test_objects) $(kernel_objects) $(ladder_objects) $(common_objects) $(tested_lab_library) $(LIB) $(OBJ)/list.tests $(OBJ)/list.kernels$(device:%=.%)
	$(link_binary)

$(BIN)/bench: $(bench_objects) $(kernel_objects) $(common_objects) $(tested_lab_library) $(LIB) $(OBJ)/list.bench $(OBJ)/list.kernels$(device:%=.%)
	$(if $(bench_objects),,$(error there is no benchmark in tests/bench))
	$(link_binary)

$(BIN)/gemm_ladder: $(call objects,$(ladder_main)) $(kernel_objects) $(ladder_objects) $(LIB) $(OBJ)/list.kernels$(device:%=.%)
	$(link_binary)

define lab_rule
$(BIN)/$(1): $(call lab_objects,$(1)) $(kernel_objects) $(common_objects) $(LIB) $(OBJ)/list.labs $(OBJ)/list.kernels$(device:%=.%)
	$$(link_binary)
endef
$(foreach lab,$(LABS),$(eval $(call lab_rule,$(lab))))

compile_commands.json: $(OBJ)/flags $(OBJ)/list.sources
	@{ before='['; for f in $(sources); do \
	  printf '%s\n{"directory": "%s", "file": "%s", "command": "%s"}' \
	    "$$before" '$(CURDIR)' "$$f" "$(compiler) $(flags) -c $$f"; before=','; \
	done; printf '\n]\n'; } >$@

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)

# ---- style ---------------------------------------------------------------------------------------
format:
	clang-format -i $(sources) $(headers) $(kernels)

# clang-tidy looks again only at files whose object was made anew.
tidied := $(if $(filter 1,$(TIDY)),$(if $(shell command -v clang-tidy),\
            $(patsubst %.cpp,$(OBJ)/%.tidy,$(filter-out tests/%,$(sources)))))
$(OBJ)/%.tidy: %.cpp $(OBJ)/%.o .clang-tidy
	$(say) TIDY $<
	@clang-tidy --quiet $< -- $(filter-out -W%,$(flags)) 2>/dev/null && touch $@

lint: $(tidied)
	@sh .ci/lint $(sources) $(headers) $(kernels)

# ---- install -------------------------------------------------------------------------------------
define pkg_config
prefix=$(PREFIX)
includedir=$${prefix}/include/labgrad
libdir=$${prefix}/lib

Name: labgrad
Description: Reverse-mode automatic differentiation from scratch in C++20
Version: $(VERSION)
Cflags: -I$${includedir} -pthread
Libs: -L$${libdir} -llabgrad -lfmt -pthread
endef
export pkg_config

to := $(DESTDIR)$(PREFIX)
install: $(LIB) $(lab_binaries)
	for h in $(filter engine/% nn/% data/%,$(headers)); do \
	  install -D -m 644 "$$h" "$(to)/include/labgrad/$$h" || exit 1; done
	install -D -m 644 $(LIB) "$(to)/lib/liblabgrad.a"
	install -d "$(to)/lib/pkgconfig"
	printf '%s\n' "$$pkg_config" >"$(to)/lib/pkgconfig/labgrad.pc"
	for lab in $(LABS); do install -D -m 755 "$(BIN)/$$lab" "$(to)/bin/labgrad-$$lab" || exit 1; done
	for f in $(wildcard labs/*/*.safetensors labs/*/*.txt); do \
	  install -D -m 644 "$$f" "$(to)/share/labgrad/$${f##*/}" || exit 1; done
