// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Any bytes as a request to the server, from a process that burns CPU time and into whose memory
 * they may ask to count. The server must survive, answer, and have an exact account. Needs root and
 * BPF.
 */
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls/calls.h"
#include "calls/worker.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SKIPPED = 77, REQUEST_MAX = 56 + CALL_ENTRIES_MAX * sizeof(struct call_entry) };

static struct calls *calls;
static pid_t victim;
static uint8_t proof[CALL_PROOF_BYTES];

/* A request and its reply, on the way to the thread that carries it out. */
struct asking {
	struct job job;
	uid_t uid;
	const struct call_request *request;
	size_t size;
	struct call_reply *reply;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static int answers;

static void check(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

static int open_proc(const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", victim, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	check(fd >= 0, path);
	return fd;
}

/* Reads what the victim would send to identify itself. */
static void read_proof(void)
{
	int auxv = open_proc("auxv"), mem = open_proc("mem");
	Elf64_auxv_t entry;

	while (read(auxv, &entry, sizeof(entry)) == sizeof(entry) && entry.a_type)
		if (entry.a_type == AT_RANDOM)
			check(pread(mem, proof, sizeof(proof), (off_t)entry.a_un.a_val) ==
				      sizeof(proof),
			      "the victim's random bytes can be read");
	close(auxv);
	close(mem);
}

static void start_victim(void)
{
	int ready[2];
	char byte;

	check(!pipe2(ready, O_CLOEXEC), "pipe");
	victim = fork();
	if (!victim) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl("/bin/sh", "sh", "-c", "while :; do :; done", NULL);
		_exit(127);
	}
	close(ready[1]);
	/* The pipe closes at the exec. */
	check(read(ready[0], &byte, 1) == 0, "the victim starts");
	close(ready[0]);
	read_proof();
}

static void open_calls(void)
{
	struct calls_options options;
	struct error err;

	calls_options_init(&options);
	options.memory = 4 << 20;
	options.max_calls = 64;
	options.user_memory = 1 << 20;
	options.record = true;
	if (calls_open(&options, &calls, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (geteuid()) {
		fprintf(stderr, "needs root\n");
		exit(SKIPPED);
	}
	open_calls();
	start_victim();
	return 0;
}

/* Restarts the victim if counting into its memory has ended it. */
static void keep_victim(void)
{
	if (waitpid(victim, NULL, WNOHANG) == victim)
		start_victim();
}

/* Makes requests plausible, because otherwise nearly all inputs would fail the first check. */
static size_t shape_request(const uint8_t *data, size_t size, struct call_request *request)
{
	uint8_t help = *data;
	size_t entries;

	memcpy(request, data + 1, size - 1);
	size--;
	if (size < sizeof(*request) || !(help & 3))
		return size;
	request->magic = CALL_MAGIC;
	request->version = CALL_VERSION;
	request->pointer = help & 4 ? 4 : 8;
	request->op %= CALL_STATUS + 1;
	request->dialect %= DIALECT_COUNT;
	request->flags &= CALL_USER_ONLY;
	memcpy(request->proof, proof, sizeof(proof));
	entries = (size - sizeof(*request)) / sizeof(struct call_entry);
	request->nr_entries = (uint32_t)entries;
	if (help & 8)
		request->count = (int64_t)entries;
	if (help & 16)
		request->profil_flags &= 3;
	if (request->op == CALL_PCSAMPLE && entries && help & 32)
		request->count = (int64_t)request->entries[0].size;
	return sizeof(*request) + entries * sizeof(struct call_entry);
}

static void print_state(const struct call_state *state)
{
	fprintf(stderr,
		"on %u stopped %u dialect %u: %llu = %llu binned + %llu overflow + %llu outside + "
		"%llu filtered + %llu lost\n",
		state->on, state->stopped, state->dialect, (unsigned long long)state->total,
		(unsigned long long)state->binned, (unsigned long long)state->overflow,
		(unsigned long long)state->outside, (unsigned long long)state->filtered,
		(unsigned long long)state->lost);
}

static void check_reply(const struct call_reply *reply)
{
	const struct call_state *state = &reply->state;

	if (state->total !=
	    state->binned + state->overflow + state->outside + state->filtered + state->lost)
		print_state(state);
	check(reply->magic == CALL_MAGIC && reply->version == CALL_VERSION, "a reply");
	check(reply->error >= 0 && reply->error < 4096, "its error is an errno");
	check(state->stopped <= CALL_STOP_FAULT, "it was stopped by something known");
	check(state->total == state->binned + state->overflow + state->outside + state->filtered +
				      state->lost,
	      "its account adds up");
}

static struct worker *answer(struct job *job, struct worker *worker)
{
	struct asking *asking = (struct asking *)job;
	struct worker *other = calls_worker(worker, victim, asking->uid);

	if (other != worker)
		return other;
	calls_request(worker, victim, asking->uid, asking->request, asking->size, asking->reply);
	pthread_mutex_lock(&lock);
	answers++;
	pthread_cond_signal(&answered);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void give_up(struct job *job)
{
	(void)job;
	check(0, "the victim's memory is there");
}

static void ask(uid_t uid, const struct call_request *request, size_t size,
		struct call_reply *reply)
{
	struct asking *asking = calloc(1, sizeof(*asking));

	check(asking != NULL, "memory");
	*asking = (struct asking){
		.job = { .run = answer, .give_up = give_up },
		.uid = uid,
		.request = request,
		.size = size,
		.reply = reply,
	};
	answers = 0;
	check(!calls_enqueue(calls, victim, uid, &asking->job), "there is a thread for it");
	pthread_mutex_lock(&lock);
	while (!answers)
		pthread_cond_wait(&answered, &lock);
	pthread_mutex_unlock(&lock);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static union {
		struct call_request request;
		uint8_t bytes[REQUEST_MAX];
	} space;
	static unsigned int runs;
	struct call_reply reply;
	struct error err;

	if (!size || size > sizeof(space))
		return 0;
	/* The record grows all the time, so the server is restarted now and then. */
	if (++runs % 20000 == 0) {
		calls_close(calls);
		open_calls();
	}
	keep_victim();
	size = shape_request(data, size, &space.request);
	ask(*data & 64 ? 0 : 65534, &space.request, size, &reply);
	check_reply(&reply);
	check(!calls_poll(calls, &err), "the server goes on");
	return 0;
}
