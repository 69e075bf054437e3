# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# A layer of tests is a folder: tests/LAYER/*.c make one criterion program, build/tests/test_LAYER,
# and each tests/LAYER/*.sh is a test of its own (tests/run.sh says how they report). Helpers in
# tests/lib are linked into every layer. A folder may contain a *.mk, which may set
#
#   LAYER_CPPFLAGS_fault, LAYER_LDFLAGS_fault, LAYER_LIBS_fault   for build/tests/test_fault
#   LAYER_NEEDS_fault                                             what must be built to run it
#
# tests/live/workloads.mk builds the programs that are profiled, for every layer that profiles some.

# clang's sanitizers, and what else runs while the tests are built, are for the machine's own processor.
LAYERS := unit bpf $(if $(CROSS),,fuzz install fault) cli $(if $(CROSS),,html) client calls live hostile
PROGRAM_LAYERS := $(foreach l,$(filter-out fuzz install html,$(LAYERS)),$(if $(wildcard tests/$l/*.c),$l))
TEST_LIB_SRC := $(wildcard tests/lib/*.c)
TEST_LIB_OBJ := $(TEST_LIB_SRC:%.c=$(BUILD)/obj/%.o)
TEST_SRC := $(foreach l,$(PROGRAM_LAYERS),$(wildcard tests/$l/*.c)) $(TEST_LIB_SRC)
TEST_OBJ := $(TEST_SRC:%.c=$(BUILD)/obj/%.o)
TEST_BIN := $(PROGRAM_LAYERS:%=$(BUILD)/tests/test_%)

# The same sources once more, by clang with its sanitizers and with what libFuzzer needs to see. The
# fuzzers and the layer "fault" share these objects, because compiling them takes 90 s of CPU time.
# Of what a debugger reads they have lines only, which is all that a sanitizer prints.
# clang 14 takes NULL + 0, the end of an empty array, for a pointer that overflows: the fuzzers end at
# that (bytes.c), and the layer "fault", which meets it where a table is empty, goes on.
SANITIZED := $(BUILD)/sanitized
SANITIZED_CFLAGS := -std=gnu11 -O1 -gline-tables-only -fPIE -U_FORTIFY_SOURCE -fno-omit-frame-pointer \
	-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
	-fsanitize-recover=pointer-overflow
SANITIZED_SRC := $(LIB_SRC) $(MAIN_SRC)
SANITIZED_OBJ := $(SANITIZED_SRC:%.c=$(SANITIZED)/%.o) $(GEN_C:$(BUILD)/%.c=$(SANITIZED)/%.o)
SANITIZED_STAMP := $(call stamp,sanitized,$(CLANG) $(SANITIZED_CFLAGS) $(SANITIZED_SRC))

define compile_sanitized
$(call msg,CC,$@)
$(Q)$(CLANG) $(HOST_CPPFLAGS) $(SANITIZED_CFLAGS) -MMD -MP -c -o $@ $<
endef
$(SANITIZED)/%.o: %.c $(SANITIZED_STAMP) | $$(@D)/ $(SKELS) $(PROTO_H)
	$(compile_sanitized)
$(SANITIZED)/gen/%.o: $(BUILD)/gen/%.c $(SANITIZED_STAMP) | $$(@D)/
	$(compile_sanitized)

# The workloads come first, because a rule is expanded when it is read.
WORKLOADS_MK := $(wildcard tests/live/workloads.mk)
include $(WORKLOADS_MK) $(filter-out $(WORKLOADS_MK),$(wildcard tests/*/*.mk))

layer_of = $(word 2,$(subst /, ,$(patsubst $(BUILD)/obj/%,%,$@)))
$(BUILD)/obj/tests/%.o: private HOST_CPPFLAGS += -Itests/lib $(LIVE_DEFINES) \
	$(LAYER_CPPFLAGS_$(layer_of))
# Criterion's macros define functions without declaring them. With -O1 the tests take half as long to
# compile, and what they measure is in programs of their own.
$(BUILD)/obj/tests/%.o: private HOST_CFLAGS += -Wno-missing-prototypes -O1
TEST_STAMP := $(call stamp,tests,$(LIVE_DEFINES) \
	$(foreach l,$(PROGRAM_LAYERS),$(LAYER_CPPFLAGS_$l) $(LAYER_LDFLAGS_$l) $(LAYER_LIBS_$l)))
TEST_LIST_STAMP := $(call stamp,test_list,$(TEST_SRC))
$(TEST_OBJ): $(TEST_STAMP) | $(SKELS) $(TEST_SKELS) $(PROTO_H)

define layer_program
$(BUILD)/tests/test_$1: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/$1/*.c))
endef
$(foreach l,$(PROGRAM_LAYERS),$(eval $(call layer_program,$l)))

$(TEST_BIN): $(TEST_LIB_OBJ) $(LIB) $(LD_STAMP) $(TEST_STAMP) $(TEST_LIST_STAMP) | $$(@D)/
	$(call msg,LINK,$@)
	$(Q)$(CC) $(HOST_CFLAGS) $(HOST_LDFLAGS) $(LAYER_LDFLAGS_$(@F:test_%=%)) -o $@ \
		$(filter %.o,$^) $(filter %.a,$^) $(LAYER_LIBS_$(@F:test_%=%)) $(LIBS) -lcriterion -ljson-c -lm

# --- fuzzing --------------------------------------------------------------------------------------

FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(FUZZ_SRC))
FUZZ_BIN := $(FUZZ_NAMES:%=$(BUILD)/fuzz/%)
FUZZ_OBJ := $(FUZZ_SRC:%.c=$(SANITIZED)/%.o) $(SANITIZED)/tests/fuzz/bytes.o

$(BUILD)/fuzz/libfuzzed.a: $(filter-out %/main.o,$(SANITIZED_OBJ)) $(SANITIZED_STAMP) | $$(@D)/
	$(call msg,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcsD $@ $(filter %.o,$^)

$(FUZZ_BIN): $(BUILD)/fuzz/%: $(SANITIZED)/tests/fuzz/fuzz_%.o \
		$(SANITIZED)/tests/fuzz/bytes.o $(BUILD)/fuzz/libfuzzed.a
	$(call msg,LINK,$@)
	$(Q)$(CLANG) -fsanitize=fuzzer,address,undefined -Wl,--as-needed -o $@ $^ $(LIBS)

.SECONDARY: $(FUZZ_OBJ) $(SANITIZED_OBJ)

fuzz: $(LAYER_NEEDS_fuzz) | deps ## Fuzz each parser for FUZZ_SECONDS
	$(Q)tests/fuzz.sh $(BUILD) $(FUZZ_SECONDS) $(FUZZ_NAMES)

# --- running --------------------------------------------------------------------------------------

# Those of the soak and the benchmarks too, because nobody would notice otherwise that they do not build.
tests: all $(TEST_BIN) $(LIVE_WORKLOADS) $(foreach l,$(LAYERS),$(LAYER_NEEDS_$l)) ## Build all test programs, run none
tests: $(SOAK_BIN) $(BENCH_PROGRAMS)

check: tests deb | deps ## Install what is missing, build, run every test (as root)
	$(Q)tests/run.sh $(BUILD) $(LAYERS) $(if $(CROSS),,fleet) deb

check-unit: $(filter %_unit,$(TEST_BIN)) | deps ## Only the unit tests: no privilege, no kernel
check-bpf: $(filter %_bpf,$(TEST_BIN)) | deps ## Only the BPF logic, by prog run
check-live: $(BIN) $(filter %_live,$(TEST_BIN)) $(LIVE_WORKLOADS) | deps ## Only the tests that sample
check-client: $(BIN) $(filter %_client,$(TEST_BIN)) | deps ## Only the library that programs link or preload
check-calls: $(filter %_calls,$(TEST_BIN)) | deps ## Only profil(), sprofil() and pcsample() against a server
check-cli: $(BIN) $(filter %_cli,$(TEST_BIN)) $(LIVE_WORKLOADS) | deps ## Only the command line
check-hostile: $(BIN) $(filter %_hostile,$(TEST_BIN)) | deps ## Only what any user can do to root's profile and to the server
check-html: | deps ## Only the pages, in a browser
check-fault: export FAULT_ALL := 1
check-fault: $(BIN) $(filter %_fault,$(TEST_BIN)) $(LIVE_WORKLOADS) | deps ## Only the failing allocations and calls, and all of them
check-fuzz: | deps ## Only the seeds of the fuzzers
check-install: all | deps ## Only the build and the installation themselves
$(foreach l,$(LAYERS),$(eval check-$l: $(LAYER_NEEDS_$l)))
$(LAYERS:%=check-%):
	$(Q)tests/run.sh $(BUILD) $(@:check-%=%)

check-deb: deb | deps ## The Debian packages: lintian, installed, run and purged again
	$(Q)tests/run.sh $(BUILD) deb

check-image: image | deps ## The container image: runs under runc as on Kubernetes, and each capability is needed
	$(Q)tests/run.sh $(BUILD) image

# VM_KERNELS='6.1 6.12:v1' for some of them, also with another layout of cgroups: tests/vm/kernels. arm64's are booted
# after this machine's own, if its tests can be linked here.
VM_ARM64 = $(findstring /,$(shell aarch64-linux-gnu-gcc -print-file-name=libcriterion.so 2>/dev/null))
VM_FAILED := build/vm/failed
check-vm: $(BIN) $(TEST_BIN) $(LIVE_WORKLOADS) $(foreach l,bpf calls cli client,$(LAYER_NEEDS_$l)) | deps ## The tests that sample, on other kernels in VMs
ifneq ($(CROSS)$(VM_KERNELS),)
	$(Q)$(if $(CROSS),tests/install/hardening.sh $(BUILD))
	$(Q)tests/vm/run $(BUILD) $(VM_KERNELS)
else
	$(Q)rm -f $(VM_FAILED); tests/vm/run $(BUILD) || touch $(VM_FAILED)
	$(if $(VM_ARM64),$(Q)$(MAKE) CROSS=aarch64-linux-gnu- check-vm)
	$(if $(VM_ARM64),,$(Q)echo 'arm64 is left out: its tests cannot be linked here')
	$(Q)! rm $(VM_FAILED) 2>/dev/null
endif

# BENCH_ARGS='-r 1 -s 1' for a quick look, '-t all' for whole hosts only.
bench: $(BIN) | deps ## Measure what our sampling costs by itself
	$(Q)tests/bench/run $(BENCH_ARGS) $(BUILD)

bench-readme: ## Put the tables of the last `make bench-peers` into bpfprofil-cost(7), some medians into the README
	$(Q)tests/bench/publish $(BUILD)/bench user/man/bpfprofil-cost.7 README.md

# BENCH_ARGS="-l 'processes-1 processes-100'" for part of it, "-g '1 2:64'" for guests with more
# CPUs.
bench-scale: $(BIN) | deps ## Measure how cost and memory grow with processes, files, text, groups
	$(Q)tests/bench/scale $(BENCH_ARGS) $(BUILD)

# BENCH_ARGS="-r 1 -l 'sleep-50-100 dodge-900-1003' -c 'run perf-a'" for part of it, -a to add to
# what there is.
bench-truth: $(BIN) | deps ## Measure what profilers make of programs in bursts, by the scheduler's accounts
	$(Q)tests/bench/truth $(BENCH_ARGS) $(BUILD)

# BENCH_ARGS="-r 1 -s 5 -l 'redis-4 nginx-8' -t 'process perf'" for part of it, -a to add to what
# there is.
bench-servers: $(BIN) | deps ## Measure what profilers make of real servers and their clients, likewise
	$(Q)tests/bench/servers $(BENCH_ARGS) $(BUILD)

# BENCH_ARGS=1000 for fewer pairs than 20,000.
bench-noise: ## Simulate pairs of profiles: how often diff sees a change where there is one, or none
	$(Q)$(BUILD)/bench/noise $(BENCH_ARGS)

# BENCH_ARGS="-r 3 -F 99 -l 'gcc redis' -A 1" for a quick look, -a to add to what there is. What other
# profilers cost is measured where they are in PATH; some are in Debian.
bench-peers: $(BIN) | deps ## Measure what profilers of a whole host, and agents, cost beside real loads
	$(Q)tests/bench/peers/run $(BENCH_ARGS) $(BUILD)

# BENCH_ARGS="-r 1 -F 997 -l 'gcc redis'" for part of it. What is not in PATH is left out.
bench-callers: $(BIN) | deps ## Measure how many ticks of real programs are followed to their first caller
	$(Q)tests/bench/callers $(BENCH_ARGS) $(BUILD)

.PHONY: tests check $(LAYERS:%=check-%) check-deb check-image check-vm bench bench-readme bench-scale bench-truth \
	bench-servers bench-noise bench-peers bench-callers fuzz

DEP_FILES += $(patsubst %.o,%.d,$(TEST_OBJ) $(FUZZ_OBJ) $(SANITIZED_OBJ))
