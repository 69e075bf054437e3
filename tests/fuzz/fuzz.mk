# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Seeds that are built: small programs with each of the things that readers of programs look at, as
# BUILD/fuzz/seeds/elf/NAME, and after a byte of choices as BUILD/fuzz/seeds/annotate/NAME. Their
# call-frame information is, after a byte of choices, BUILD/fuzz/seeds/unwind/NAME.

ELF_SEED_FLAGS_dwarf5 := -gdwarf-5
ELF_SEED_FLAGS_dwarf4 := -gdwarf-4 -fdebug-types-section
ELF_SEED_FLAGS_compressed := -g -gz=zlib
ELF_SEED_FLAGS_plt := -DCALL_OUTSIDE -fcf-protection=full
ELF_SEED_FLAGS_stripped := -s
ELF_SEED_FLAGS_pclntab := -s -fvisibility=hidden -DPCLNTAB
ELF_SEED_FLAGS_elf32 := -g -m32
ELF_SEEDS := $(addprefix $(BUILD)/fuzz/seeds/elf/,dwarf5 dwarf4 compressed plt stripped pclntab elf32)
ANNOTATE_SEEDS := $(subst /elf/,/annotate/,$(ELF_SEEDS))
# A file in another byte order is refused, because libelf would copy its sections.
ELF_SEED_FOREIGN := $(BUILD)/fuzz/seeds/elf/foreign
UNWIND_SEEDS := $(addprefix $(BUILD)/fuzz/seeds/unwind/,dwarf5 plt frames)
LAYER_NEEDS_fuzz = $(FUZZ_BIN) $(ELF_SEEDS) $(ELF_SEED_FOREIGN) $(ANNOTATE_SEEDS) $(UNWIND_SEEDS)

$(ELF_SEEDS): tests/fuzz/program.c | $$(@D)/
	$(call msg,SEED,$@)
	$(Q)$(CLANG) -O2 $(ELF_SEED_FLAGS_$(@F)) -fPIC -shared -nostdlib -Wl,--build-id \
		-Wl,-z,noseparate-code,-z,norelro -fdebug-prefix-map=$(CURDIR)=. -o $@ $<

$(ELF_SEED_FOREIGN): tests/fuzz/program.c | $$(@D)/
	$(call msg,SEED,$@)
	$(Q)$(CLANG) --target=s390x-linux-gnu -O2 -g -ffreestanding -fdebug-prefix-map=$(CURDIR)=. -c -o $@ $<

$(ANNOTATE_SEEDS): $$(subst /annotate/,/elf/,$$@) | $$(@D)/
	$(Q){ printf '\0'; cat $<; } > $@

# Its files are made as those of the unit tests.
$(SANITIZED)/tests/fuzz/fuzz_unwind.o $(SANITIZED)/tests/fuzz/fuzz_reader.o: private HOST_CPPFLAGS += -Itests/lib
$(BUILD)/fuzz/unwind: $(SANITIZED)/tests/lib/cfi_file.o

# $(call as_seed,CHOICES,SECTION): what follows a byte of choices is a section of $@.so.
as_seed = objcopy --dump-section $2=$@.bin $@.so && { printf '$1'; cat $@.bin; } > $@ && rm $@.so $@.bin

$(BUILD)/fuzz/seeds/unwind/frames: tests/fuzz/program.c | $$(@D)/
	$(call msg,SEED,$@)
	$(Q)$(CLANG) -g -O0 -fno-asynchronous-unwind-tables -fPIC -shared -nostdlib \
		-Wl,-Ttext=0x401000 -o $@.so $<
	$(Q)$(call as_seed,\1,.debug_frame)

$(filter-out %/frames,$(UNWIND_SEEDS)): $$(subst /unwind/,/elf/,$$@) | $$(@D)/
	$(Q)cp $< $@.so
	$(Q)$(call as_seed,\0,.eh_frame)
