// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/mapped_text.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "elf/elf_image.h"

/* Some programs have a hundred libraries. Text beyond these limits has no names. */
enum { LINES_MAX = 4096, MAPPINGS_MAX = 256, PATH_BYTES_MAX = 16 << 10 };

/* The kernel reads build ids from the first page of a file, too. */
enum { HEAD_BYTES = 4096 };

/* A line of /proc/PID/maps. */
struct maps_line {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t inode;
	unsigned int major;
	unsigned int minor;
	bool exec;
	char *path;
};

/* False: it is not a line of a file. */
static bool parse_line(char *text, struct maps_line *line)
{
	char exec;
	int path = 0;

	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %*c%*c%c%*c %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &line->start, &line->end, &exec, &line->offset, &line->major, &line->minor,
		   &line->inode, &path) != 7)
		return false;
	line->exec = exec == 'x';
	line->path = text + path;
	return path && *line->path == '/' && line->end > line->start;
}

/* Removes the mark, because the file had this path when it was mapped. */
static void cut_mark(char *path)
{
	static const char mark[] = " (deleted)";

	if (text_ends_in(path, mark))
		path[strlen(path) - strlen(mark)] = '\0';
}

/* The head in memory has no section headers. Therefore remove their offset. */
union elf_head {
	unsigned char bytes[HEAD_BYTES];
	Elf64_Ehdr wide;
	Elf32_Ehdr narrow;
};

static void forget_sections(union elf_head *head)
{
	if (head->bytes[EI_CLASS] == ELFCLASS64) {
		head->wide.e_shoff = 0;
		head->wide.e_shnum = head->wide.e_shstrndx = 0;
	} else {
		head->narrow.e_shoff = 0;
		head->narrow.e_shnum = head->narrow.e_shstrndx = 0;
	}
}

static void read_facts(const struct process *process, uint64_t address, struct profile_object *file)
{
	union elf_head head = { .bytes = { 0 } };
	struct elf_facts facts;
	int64_t got = process_read_some(process, address, &head, sizeof(head));

	if (got < (int64_t)sizeof(head.wide))
		return;
	forget_sections(&head);
	if (elf_facts_read_memory(&head, (size_t)got, &facts, NULL))
		return;
	file->build_id = facts.build_id;
	file->text = facts.text;
	file->nr_text = facts.nr_text;
}

static int add_mapping(struct mapped_text *text, const struct maps_line *line)
{
	struct text_mapping *mapping;

	text->bytes += strlen(line->path);
	if (text->nr == MAPPINGS_MAX || text->bytes > PATH_BYTES_MAX)
		return -E2BIG;
	if (GROW(text->list, text->capacity, text->nr + 1))
		return -ENOMEM;
	mapping = &text->list[text->nr];
	*mapping = (struct text_mapping){ line->start,
					  line->end,
					  line->offset,
					  { .kind = PROFILE_FILE } };
	mapping->file.path = strdup(line->path);
	if (!mapping->file.path)
		return -ENOMEM;
	text->nr++;
	return 0;
}

/* A file's first mapping comes first. Therefore its head is known before its text. */
static int add_lines(const struct process *process, FILE *maps, struct mapped_text *text)
{
	char buffer[PATH_MAX + 128];
	struct maps_line line, head = { 0 };
	unsigned int left = LINES_MAX;
	int ret = 0;

	while (!ret && left-- && fgets(buffer, sizeof(buffer), maps)) {
		buffer[strcspn(buffer, "\n")] = '\0';
		if (!parse_line(buffer, &line))
			continue;
		cut_mark(line.path);
		if (!line.offset)
			head = line;
		if (!line.exec)
			continue;
		ret = add_mapping(text, &line);
		if (!ret && head.inode == line.inode && head.major == line.major &&
		    head.minor == line.minor)
			read_facts(process, head.start, &text->list[text->nr - 1].file);
	}
	return ret;
}

struct mapped_text *mapped_text_read(const struct process *process)
{
	cleanup_file FILE *maps = process_maps(process);
	struct mapped_text *text = maps ? calloc(1, sizeof(*text)) : NULL;

	if (!text)
		return NULL;
	text->users = 1;
	if (add_lines(process, maps, text) != -ENOMEM && text->nr)
		return text;
	mapped_text_free(text);
	return NULL;
}

struct mapped_text *mapped_text_share(struct mapped_text *text)
{
	if (text)
		__atomic_add_fetch(&text->users, 1, __ATOMIC_RELAXED);
	return text;
}

void mapped_text_free(struct mapped_text *text)
{
	size_t i;

	if (!text || __atomic_sub_fetch(&text->users, 1, __ATOMIC_ACQ_REL))
		return;
	for (i = 0; i < text->nr; i++)
		profile_object_free(&text->list[i].file);
	free(text->list);
	free(text);
}

const struct text_mapping *mapped_text_find(const struct mapped_text *text, uint64_t address,
					    uint64_t size)
{
	const size_t nr = text ? text->nr : 0, at = BISECT(i, nr, text->list[i].end <= address);
	const struct text_mapping *found;

	if (at == nr)
		return NULL;
	found = &text->list[at];
	return found->start <= address || found->start - address < size ? found : NULL;
}

int text_mapping_offset(const struct text_mapping *mapping, uint64_t address, uint64_t *result)
{
	if (address >= mapping->start)
		return __builtin_add_overflow(mapping->offset, address - mapping->start, result) ?
			       -ERANGE :
			       0;
	if (mapping->start - address > mapping->offset)
		return -ERANGE;
	*result = mapping->offset - (mapping->start - address);
	return 0;
}
