// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/kernel_modules.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/util.h"

DEFINE_COMPARE(compare_starts, struct kernel_module, start)

int kernel_modules_parse(FILE *file, struct kernel_modules *result, struct error *err)
{
	cleanup_free char *line = NULL;
	struct kernel_module module;
	char name[64];
	size_t room = 0;

	while (getline(&line, &room, file) > 0) {
		/* NAME SIZE USES USERS STATE ADDRESS; a name has less than 56 bytes */
		if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &module.size,
			   &module.start) != 3 ||
		    !module.start)
			continue;
		if (GROW(result->list, result->capacity, result->nr + 1) ||
		    !(module.name = format_text("[%s]", name)))
			return error_no_memory(err, "kernel modules");
		result->list[result->nr++] = module;
	}
	SORT(result->list, result->nr, compare_starts);
	return 0;
}

/* The last module that starts at or before an address has it, if it reaches that far. */
size_t kernel_modules_find(const struct kernel_modules *modules, uint64_t address)
{
	const size_t behind = BISECT(i, modules->nr, modules->list[i].start <= address);
	const struct kernel_module *module = behind ? &modules->list[behind - 1] : NULL;

	return module && address - module->start < module->size ? behind - 1 : modules->nr;
}

void kernel_modules_free(struct kernel_modules *modules)
{
	size_t i;

	for (i = 0; i < modules->nr; i++)
		free(modules->list[i].name);
	free(modules->list);
	*modules = (struct kernel_modules){ 0 };
}
