// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <bpf/bpf.h>
#include <errno.h>

#include "host/engine/task_storage.h"

#define TRIES 100

int task_storage_set(int map_fd, int pid_fd, const void *value)
{
	int ret = -EAGAIN, i;

	for (i = 0; i < TRIES && ret == -EAGAIN; i++)
		ret = bpf_map_update_elem(map_fd, &pid_fd, value, BPF_ANY);
	return ret;
}
