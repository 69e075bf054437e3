// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/programs.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "host/engine/kernel_btf.h"

/* What a program attaches to, by its section: "tp_btf/NAME" is the type btf_trace_NAME. */
static const struct section {
	const char *name, *prefix;
	enum bpf_attach_type attach;
	uint32_t kind;
} sections[] = {
	{ "tp_btf/", "btf_trace_", BPF_TRACE_RAW_TP, BTF_KIND_TYPEDEF },
	{ "fentry/", "", BPF_TRACE_FENTRY, BTF_KIND_FUNC },
	{ "iter/", "bpf_iter_", BPF_TRACE_ITER, BTF_KIND_FUNC },
};

#define NR_SECTIONS (sizeof(sections) / sizeof(*sections))

/* libbpf's callbacks get no pointer. */
static _Thread_local const struct kernel_types *loading;

static const struct section *find_section(const char *name)
{
	size_t i;

	for (i = 0; i < NR_SECTIONS; i++)
		if (!strncmp(name, sections[i].name, strlen(sections[i].name)))
			return &sections[i];
	return NULL;
}

static int set_target(struct bpf_program *program, struct bpf_prog_load_opts *opts, long cookie)
{
	const struct section *section = &sections[cookie];
	char name[256];
	int number;

	if (!loading)
		return -EINVAL;
	snprintf(name, sizeof(name), "%s%s", section->prefix,
		 bpf_program__section_name(program) + strlen(section->name));
	number = kernel_types_number(loading, name, section->kind);
	if (number < 0)
		return number;
	opts->attach_btf_id = (__u32)number;
	return bpf_program__set_type(program, BPF_PROG_TYPE_TRACING);
}

/*
 * If a program is for tracing from the start, libbpf reads all types of the kernel, despite
 * btf_custom_path. Therefore ours have another type until they are loaded. If that fails, libbpf
 * reads all types.
 */
static void register_sections(void)
{
	size_t i;

	for (i = 0; i < NR_SECTIONS; i++) {
		LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = (long)i,
			    .prog_prepare_load_fn = set_target);

		libbpf_register_prog_handler(sections[i].name, BPF_PROG_TYPE_RAW_TRACEPOINT,
					     sections[i].attach, &opts);
	}
}

int programs_open(struct programs_file *file, struct error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_sections);
	*file = (struct programs_file){ .fd = memfd_create("types", MFD_CLOEXEC) };
	if (file->fd < 0)
		return error_errno(err, -errno, "memory for the kernel's types");
	file->opts.sz = sizeof(file->opts);
	file->opts.btf_custom_path = fd_path(file->fd, file->path);
	return 0;
}

void programs_close(struct programs_file *file)
{
	kernel_types_free(&file->types);
	close_fd(&file->fd);
}

/* libbpf also uses the part of a name before "___". */
static void write_name(FILE *to, const char *name)
{
	const char *flavor = *name ? strstr(name + 1, "___") : NULL;

	fprintf(to, "%s%c", name, 0);
	if (flavor)
		fprintf(to, "%.*s%c", (int)(flavor - name), name, 0);
}

/* All texts in the object's own BTF, and the attach points of its programs. */
static int write_names(const struct bpf_object *object, FILE *to)
{
	const struct bpf_program *program = NULL;
	const struct btf_header *head;
	const struct section *section;
	const char *text, *end, *name;
	uint32_t size;

	head = btf__raw_data(bpf_object__btf(object), &size);
	if (!head)
		return -ENOMEM;
	text = (const char *)head + head->hdr_len + head->str_off;
	for (end = text + head->str_len; text < end; text += strlen(text) + 1)
		write_name(to, text);
	while ((program = bpf_object__next_program(object, (struct bpf_program *)program))) {
		name = bpf_program__section_name(program);
		section = find_section(name);
		if (section)
			fprintf(to, "%s%s%c", section->prefix, name + strlen(section->name), 0);
	}
	return 0;
}

static int read_types(const struct bpf_object *object, struct kernel_types *types,
		      struct error *err)
{
	cleanup_free char *names = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&names, &size);
	int ret = to ? write_names(object, to) : -ENOMEM;

	if (to) {
		fwrite(kernel_btf_names.text, 1, kernel_btf_names.size, to);
		ret = fclose(to) ? -ENOMEM : ret;
	}
	return ret ? error_no_memory(err, "names of types") :
		     kernel_types_read(KERNEL_TYPES, names, size, types, err);
}

int programs_find_types(struct programs_file *file, const struct bpf_object *object,
			struct error *err)
{
	int ret = read_types(object, &file->types, err);
	const char *bytes;
	uint32_t size, done;
	ssize_t part = 0;

	if (ret)
		return ret;
	kernel_btf_know(&file->types);
	bytes = btf__raw_data(file->types.btf, &size);
	for (done = 0; bytes && part >= 0 && done < size; done += part)
		part = write(file->fd, bytes + done, size - done);
	return bytes && part >= 0 ? 0 : error_no_memory(err, "the kernel's types");
}

int programs_load(const struct programs_file *file, struct bpf_object_skeleton *skeleton,
		  struct error *err)
{
	int ret;

	loading = &file->types;
	ret = bpf_object__load_skeleton(skeleton);
	loading = NULL;
	if (!ret)
		return 0;
	error_errno(err, ret, "loading the BPF programs");
	/* An old kernel answers -EINVAL, which would suggest that the options are wrong. */
	return ret == -EINVAL ? -EOPNOTSUPP : ret;
}

/* Clocks and iterators are started when they are used. */
static bool is_attached(const struct bpf_program *program)
{
	enum bpf_attach_type type = bpf_program__expected_attach_type(program);

	return bpf_program__autoload(program) && bpf_program__autoattach(program) &&
	       (type == BPF_TRACE_RAW_TP || type == BPF_TRACE_FENTRY);
}

int programs_attach(struct bpf_object_skeleton *skeleton)
{
	int i;

	for (i = 0; i < skeleton->prog_cnt; i++) {
		struct bpf_prog_skeleton *row =
			(void *)((char *)skeleton->progs + (size_t)i * skeleton->prog_skel_sz);

		if (!is_attached(*row->prog))
			continue;
		*row->link = bpf_program__attach_trace(*row->prog);
		if (!*row->link)
			return -errno;
	}
	return 0;
}

int programs_walk(struct bpf_program *program, uint32_t tid, struct error *err)
{
	union bpf_iter_link_info info = { .task.tid = tid };
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info, .link_info_len = sizeof(info));
	struct bpf_link *link = bpf_program__attach_iter(program, tid ? &opts : NULL);
	cleanup_fd int fd = -1;
	char nothing[64];
	ssize_t got;
	int ret;

	if (!link)
		return error_errno(err, -errno, "walking over all threads");
	fd = bpf_iter_create(bpf_link__fd(link));
	ret = fd < 0 ? -errno : 0;
	/* The iterator prints nothing, and returns EAGAIN after a million threads. */
	while (!ret && (got = read(fd, nothing, sizeof(nothing)))) {
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			ret = -errno;
	}
	bpf_link__destroy(link);
	return ret ? error_errno(err, ret, "walking over all threads") : 0;
}
