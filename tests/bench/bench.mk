# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The programs of `make bench`. BENCH_ARGS is passed to tests/bench/run: BENCH_ARGS='-r 1 -s 1'.

BENCH_NR_OBJECTS := 64
BENCH_NUMBERS := $(shell seq -w 1 $(BENCH_NR_OBJECTS))
BENCH_PROGRAMS := $(BUILD)/bench/measure $(BUILD)/bench/empty $(BUILD)/bench/workload \
	$(BUILD)/bench/calls $(BUILD)/bench/copy_back $(BUILD)/bench/gets $(BUILD)/bench/handler \
	$(BUILD)/bench/noise
BENCH_OBJECTS := $(BENCH_NUMBERS:%=$(BUILD)/bench/objects/object%.so)
BENCH_CC = $(CC) -std=gnu11 -O2 -g -MMD -MP -MF $@.d -Wall -Wextra -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wformat-signedness -Wvla $(if $(WERROR),-Werror)

$(BUILD)/bench/measure: tests/bench/measure.c tests/bench/account.c
$(BUILD)/bench/measure: private CPPFLAGS += -Iinclude
$(BUILD)/bench/empty: tests/bench/empty.c
$(BUILD)/bench/workload: tests/bench/workload.c
$(BUILD)/bench/calls: tests/bench/calls.c tests/bench/libc_profil.c tests/bench/account.c $(CLIENT_A)
$(BUILD)/bench/calls: private CPPFLAGS += -Iinclude
$(BUILD)/bench/copy_back: tests/bench/copy_back.c $(LIB)
$(BUILD)/bench/copy_back: private CPPFLAGS += -D_GNU_SOURCE= -Iuser -Iinclude
$(BUILD)/bench/copy_back: private BENCH_LIBS := $(LIBS)
$(BUILD)/bench/gets: tests/bench/gets.c
$(BUILD)/bench/handler: $(wildcard tests/bench/handler/*.c) tests/lib/spread.c $(LIB)
$(BUILD)/bench/handler: private CPPFLAGS += -D_GNU_SOURCE= -Iuser -Iinclude -I$(BUILD)/gen -Itests -Itests/lib
$(BUILD)/bench/handler: private BENCH_LIBS := $(LIBS)
$(BUILD)/bench/noise: tests/bench/noise.c tests/lib/noise_trial.c tests/lib/sample.c $(LIB)
$(BUILD)/bench/noise: private CPPFLAGS += -D_GNU_SOURCE= -Iuser -Iinclude -Itests/lib
$(BUILD)/bench/noise: private BENCH_LIBS := $(LIBS) -lcriterion
$(BENCH_PROGRAMS): tests/bench/bench.mk | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(BENCH_CC) $(CPPFLAGS) $(filter %.c %.a,$^) -o $@ -lbpf -pthread -ldl $(BENCH_LIBS)

# One loop, which gprof and libc's profil() count too.
BENCH_STEADY := $(BUILD)/bench/steady $(BUILD)/bench/steady-gprof $(BUILD)/bench/steady-libc
$(BUILD)/bench/steady-gprof: private BENCH_HOW := -pg
$(BUILD)/bench/steady-libc: private BENCH_HOW := -DLIBC -no-pie
$(BENCH_STEADY): tests/bench/steady.c tests/bench/bench.mk | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(BENCH_CC) -D_GNU_SOURCE= $(BENCH_HOW) $< -o $@

# Makes more of something than a host has: a static program, and text that it copies.
$(BUILD)/bench/many: tests/bench/many.c tests/bench/bench.mk | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(BENCH_CC) $< -o $@ -static -pthread

$(BUILD)/bench/stub: tests/bench/stub.c tests/bench/bench.mk | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(BENCH_CC) -g0 -fno-asynchronous-unwind-tables -nostdlib -static \
		-Wl,-e,stub,-Ttext-segment=0,-z,noseparate-code,--build-id=none $< -o $@

# Built one by one from the same source. A 1 is put before the number, because 08 is not a valid
# octal number.
$(BENCH_OBJECTS): $(BUILD)/bench/objects/object%.so: tests/bench/object.c tests/bench/bench.mk | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(BENCH_CC) -shared -fPIC -DOBJECT=1$* $< -o $@

bench: $(BENCH_PROGRAMS) $(BENCH_OBJECTS) $(BUILD)/soak/brief

bench-peers: $(BUILD)/bench/empty $(BENCH_STEADY) $(BUILD)/soak/brief

bench-scale: $(BUILD)/bench/measure $(BUILD)/bench/empty $(BUILD)/bench/many $(BUILD)/bench/stub

bench-truth: $$(WL_OUT)/bursts | $(BUILD)/bench/

bench-servers: $(BUILD)/bench/gets

bench-noise: $(BUILD)/bench/noise

DEP_FILES += $(BUILD)/bench/many.d $(BUILD)/bench/stub.d $(BENCH_PROGRAMS:%=%.d) $(BENCH_STEADY:%=%.d) $(BENCH_OBJECTS:%=%.d)
