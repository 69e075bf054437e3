/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROGRAMS_H
#define BPFPROFIL_PROGRAMS_H

#include <bpf/libbpf.h>

#include "base/error.h"
#include "base/util.h"
#include "host/engine/kernel_types.h"

/*
 * Loads an object of BPF programs without all of the kernel's BTF. libbpf gets only the types that
 * the object refers to (kernel_types.h), and the attach points of its programs are looked up here.
 *
 *     ret = programs_open(&file, err);
 *     skel = NAME_bpf__open_opts(&file.opts);
 *     ret = programs_find_types(&file, skel->obj, err);
 *     ret = programs_load(&file, skel->skeleton, err);
 *     ret = programs_attach(skel->skeleton);
 *     programs_close(&file);
 */
struct programs_file {
	int fd; /* the types, for libbpf */
	char path[FD_PATH];
	struct bpf_object_open_opts opts;
	struct kernel_types types;
};

/*
 * Close the file in any case. All return 0 or a negative errno. programs_find_types() also reads
 * the facts of kernel_btf_read().
 */
int programs_open(struct programs_file *file, struct error *err);
int programs_find_types(struct programs_file *file, const struct bpf_object *object,
			struct error *err);
int programs_load(const struct programs_file *file, struct bpf_object_skeleton *skeleton,
		  struct error *err);
void programs_close(struct programs_file *file);

/*
 * Use it in place of NAME_bpf__attach, which since libbpf 1.2 skips programs that were loaded like
 * this. Returns 0 or a negative errno.
 */
int programs_attach(struct bpf_object_skeleton *skeleton);

/* Runs an iterator program once over all threads of the host or, if tid is not 0, over that one. */
int programs_walk(struct bpf_program *program, uint32_t tid, struct error *err);

#endif
