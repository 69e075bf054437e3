// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "engine/grace.h"

#include <bpf/bpf.h>
#include <stdint.h>
#include <unistd.h>

void grace_init(struct grace *grace)
{
	*grace = (struct grace){ .fd = -1, .inner_fd = -1 };
}

static int make(struct grace *grace)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);

	grace->inner_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "bpfprofil_turn", 4, 4, 1, NULL);
	if (grace->inner_fd < 0)
		return grace->inner_fd;
	opts.inner_map_fd = grace->inner_fd;
	grace->fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "bpfprofil_grace", 4, 4, 1, &opts);
	if (grace->fd >= 0)
		return 0;
	close(grace->inner_fd);
	grace->inner_fd = -1;
	return grace->fd;
}

int grace_wait(struct grace *grace)
{
	uint32_t key = 0;
	int ret = grace->fd < 0 ? make(grace) : 0;

	return ret ? ret : bpf_map_update_elem(grace->fd, &key, &grace->inner_fd, BPF_ANY);
}

void grace_free(struct grace *grace)
{
	if (grace->fd >= 0)
		close(grace->fd);
	if (grace->inner_fd >= 0)
		close(grace->inner_fd);
	grace_init(grace);
}
