// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * mapper THREADS UNITS: THREADS pairs of threads in one address space; one of each pair maps and
 * unmaps memory all the time, the other burns alpha and beta 5 : 3, UNITS in all. So ticks find the
 * address space locked, by the thread itself and by others.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

#include "rawcall.h"
#include "spin.h"

#define MAX_PAIRS 16
#define PIECE 65536

static volatile int done;
static unsigned long share;

SPIN_FUNCTION(alpha)
SPIN_FUNCTION(beta)

static void *map_without_end(void *unused)
{
	(void)unused;
	while (!done) {
		char *p = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);

		if (p == MAP_FAILED)
			return NULL;
		p[0] = 1;
		/* A second mapping with other rights makes the kernel split and join mappings. */
		mprotect(p, PIECE / 2, PROT_READ);
		rawcall(SYS_munmap, (long)p, PIECE, 0);
	}
	return NULL;
}

static void *burn(void *unused)
{
	unsigned long i;

	(void)unused;
	for (i = 0; i < share; i += 80) {
		alpha(50);
		beta(30);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long n = spin_argument(argc, argv, 1, 1), i;
	pthread_t mappers[MAX_PAIRS], burners[MAX_PAIRS];

	if (!n || n > MAX_PAIRS)
		return 2;
	share = spin_argument(argc, argv, 2, 1000) / n;
	for (i = 0; i < n; i++) {
		if (pthread_create(&mappers[i], NULL, map_without_end, NULL) ||
		    pthread_create(&burners[i], NULL, burn, NULL)) {
			perror("pthread_create");
			return 1;
		}
	}
	for (i = 0; i < n; i++)
		pthread_join(burners[i], NULL);
	done = 1;
	for (i = 0; i < n; i++)
		pthread_join(mappers[i], NULL);
	return 0;
}
