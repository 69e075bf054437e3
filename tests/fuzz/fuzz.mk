# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Seeds that are built: small programs with each of the things that readers of programs look at, as
# BUILD/fuzz/seeds/elf/NAME, and after a byte of choices as BUILD/fuzz/seeds/annotate/NAME.

ELF_SEED_FLAGS_dwarf5 := -gdwarf-5
ELF_SEED_FLAGS_dwarf4 := -gdwarf-4 -fdebug-types-section
ELF_SEED_FLAGS_compressed := -g -gz=zlib
ELF_SEED_FLAGS_plt := -DCALL_OUTSIDE -fcf-protection=full
ELF_SEED_FLAGS_stripped := -s
ELF_SEED_FLAGS_pclntab := -s -fvisibility=hidden -DPCLNTAB
ELF_SEED_FLAGS_elf32 := -g -m32
ELF_SEEDS := $(addprefix $(BUILD)/fuzz/seeds/elf/,dwarf5 dwarf4 compressed plt stripped pclntab elf32)
ANNOTATE_SEEDS := $(subst /elf/,/annotate/,$(ELF_SEEDS))
LAYER_NEEDS_fuzz = $(FUZZ_BIN) $(ELF_SEEDS) $(ANNOTATE_SEEDS)

$(ELF_SEEDS): tests/fuzz/program.c | $$(@D)/
	$(call msg,SEED,$@)
	$(Q)$(CLANG) -O2 $(ELF_SEED_FLAGS_$(@F)) -fPIC -shared -nostdlib -Wl,--build-id \
		-Wl,-z,noseparate-code,-z,norelro -fdebug-prefix-map=$(CURDIR)=. -o $@ $<

$(ANNOTATE_SEEDS): $$(subst /annotate/,/elf/,$$@) | $$(@D)/
	$(Q){ printf '\0'; cat $<; } > $@
