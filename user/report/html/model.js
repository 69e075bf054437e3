// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The profile, and the sums of what its filters let in.
'use strict';

function splitName(histogram) {
	if (histogram.pid === undefined)
		return histogram.process || '(no single process)';
	return `${histogram.process || ''} ${histogram.pid}`.trim();
}

// What the filters and tabs call it by.
function namesOf(of) {
	return { process: splitName(of), comm: of.process || '(no single process)',
		cgroup: of.cgroup === undefined ? '(no single cgroup)' : of.cgroup };
}

class Model {
	// callers: who called whom, or null
	constructor(profile, callers) {
		this.profile = profile;
		this.objects = profile.objects;
		this.functions = profile.functions.map(([object, offset, size, name]) =>
			({ object, offset, size, name }));
		this.functions.forEach((of, id) => {
			of.id = id;
			if (of.name.startsWith(this.placeName(of.object, of.offset)))
				of.address = this.address(of.object, of.offset);
		});
		this.nrNamed = this.functions.length;
		this.joinJit();
		this.readBins();
		if (callers)
			this.readCallers(callers);
		this.hasWaits = profile.targets.some((of) => of.waits);
		this.filter = { kind: 'cpu', target: null, process: null, comm: null, cgroup: null };
		this.choose({});
	}

	// A JIT compiles a function anew and again, each time to another place: as in report that is one.
	joinJit() {
		const first = new Map();

		this.sameAs = Int32Array.from(this.functions, ({ id, object, name }) => {
			const key = `${object} ${name}`;

			if (this.objects[object].kind !== 'jit')
				return id;
			if (!first.has(key))
				first.set(key, id);
			return first.get(key);
		});
	}

	readCallers(callers) {
		const places = callers.places.map(([object, offset, size]) => this.place(object, offset, size));

		this.calls = new Calls(callers, [...this.sameAs, ...places], this.functions.length);
		this.walks = callers.walks;
		this.histograms.forEach((h, i) => {
			h.chains = callers.chains[i];
		});
		this.frames = [...this.functions.map(({ name, object }) => ({ name, object, path: this.objects[object].path })),
			...callers.words.map((name) => ({ name, path: '' }))];
		this.readPrograms();
	}

	// The program of a chain is the first file in it that is no library, as in the exports.
	readPrograms() {
		const { calls, frames, objects } = this;

		this.firsts = new Map();
		this.programs = new Int32Array(calls.nr).fill(-1);
		for (let i = 1; i < calls.nr; i++) {
			const { object } = frames[calls.frame[i]], above = this.programs[calls.parent[i]];

			this.programs[i] = above >= 0 || !objects[object]?.program ? above : object;
		}
	}

	// A frame that is no text: what chains belong to.
	first(name, object) {
		const key = `${object} ${name}`;

		if (!this.firsts.has(key))
			this.firsts.set(key, this.frames.push({ name, object, path: object === undefined ? '' : this.objects[object].path }) - 1);
		return this.firsts.get(key);
	}

	// -1: none
	programOf(context) {
		const { object } = this.frames[this.calls.frame[context]], program = this.programs[context];

		return program < 0 && this.objects[object]?.kind === 'kernel' ? object : program;
	}

	// The chains by what they belong to: target, cgroup and process where these are several, and without
	// processes their program, as in export --format folded.
	readGroups() {
		const several = (kind) => new Set(this.chosen.map((h) => h[kind])).size > 1;
		const kinds = ['target', 'cgroup', 'comm'].filter((kind) => (kind === 'target' || this.isSplit[kind]) && several(kind));
		const groups = new Map();

		for (const h of this.chosen) {
			const names = kinds.map((kind) => kind === 'target' ? this.profile.targets[h.target].name : h[kind]), ofH = new Map();

			Calls.each(h.chains, (context, ticks, time) => {
				const program = this.isSplit.process ? null : this.programOf(context);

				if (!ofH.has(program)) {
					const key = [program, ...names].join('\n');

					if (!groups.has(key))
						groups.set(key, { program, firsts: names.map((name) => this.first(name)), entries: [] });
					ofH.set(program, groups.get(key).entries);
				}
				ofH.get(program).push(context, this.countsTime() ? time : ticks, time);
			});
		}
		return [...groups.values()];
	}

	// Each group below frames of its own; null: there is only one.
	readApart() {
		const groups = this.readGroups();

		if (groups.length < 2)
			return null;
		if (groups.some(({ program }) => program !== groups[0].program))
			for (const { program, firsts } of groups)
				firsts.push(program < 0 ? this.first('[unknown]') : this.first(basename(this.objects[program].path), program));
		return this.calls.below(groups);
	}

	readBins() {
		const nr = this.profile.histograms.reduce((sum, h) => sum + h.bins.length / 2, 0);
		let at = 0;

		this.offsets = new Float64Array(nr);
		this.counts = new Float64Array(nr);
		this.owners = new Int32Array(nr);
		// Functions of the source: those that have numbers, and behind them those of the profile.
		this.named = (this.profile.inlined || []).map(([object, name, inlined]) =>
			({ object, name: inlined ? `${name} (inlined)` : name }));
		this.sources = new Int32Array(this.profile.inlined ? nr : 0);
		this.histograms = this.profile.histograms.map((h) => {
			const from = at;

			at = this.readHistogram(h, at);
			return {
				from, to: at, object: h.object, size: h.bytes_per_bin,
				target: this.profile.targets[h.target].waits_of ?? h.target,
				waits: Boolean(this.profile.targets[h.target].waits),
				...namesOf(h),
				weight: h.weight, own: h.own,
				counts: this.profile.targets[h.target].counts,
				stopped: h.stopped,
			};
		});
		// The time of processes and cgroups that is in no bin.
		this.rests = this.profile.rests.map((r) => ({
			...namesOf(r), target: r.target, ns: r.ns, counts: this.profile.targets[r.target].counts,
		}));
		const { split } = this.profile.sampling;

		// JIT text is told apart by process even in profiles that were not split.
		const byProcess = this.profile.histograms.some((h) => h.pid !== undefined &&
			(this.objects[h.object].kind !== 'jit' || (split && split !== 'cgroup')));

		this.isSplit = {
			process: byProcess,
			comm: byProcess,
			cgroup: this.profile.histograms.some((h) => h.cgroup !== undefined),
		};
		this.nouns = {
			process: split === 'thread' ? 'Thread' : 'Process',
			processes: split === 'thread' ? 'threads' : 'processes',
			comm: 'Comm',
			cgroup: 'Cgroup',
		};
	}

	// Numbers and how often each stands: [number, times, ...]
	static unrun(runs, numbers, at) {
		for (let i = 0; i < runs.length; at += runs[i + 1], i += 2)
			numbers.fill(runs[i], at, at + runs[i + 1]);
	}

	readHistogram(h, at) {
		const size = h.bytes_per_bin;
		let place = h.offset, run = 0, owner = 0, next = 0;

		if (h.inlined)
			Model.unrun(h.inlined, this.sources, at);
		for (let i = 0; i < h.bins.length; i += 2, at++) {
			if (!run) {
				owner = h.owners[next] - 1;
				run = h.owners[next + 1];
				next += 2;
			}
			run--;
			place += h.bins[i] * size;
			this.offsets[at] = place;
			this.counts[at] = h.bins[i + 1];
			this.owners[at] = owner >= 0 ? this.sameAs[owner] : this.place(h.object, place, size);
		}
		return at;
	}

	// What has no name is called by its offset, as in report. It is found by its address too.
	placeName(object, offset, size = 1) {
		const { path, base } = this.objects[object], name = `${basename(path)}+${hex(base, offset)}`;

		return size > 1 ? `${name}..${hex(base, offset + size - 1)}` : name;
	}

	// Text of no function is a place of its own, as it is in report.
	place(object, offset, size) {
		const key = `${object} ${offset} ${size}`;
		let id;

		this.places = this.places || new Map();
		id = this.places.get(key);
		if (id === undefined) {
			id = this.functions.length;
			this.functions.push({ id, object, offset, size, name: this.placeName(object, offset, size),
				address: this.address(object, offset) });
			this.places.set(key, id);
		}
		return id;
	}

	// Ticks are CPU time; with waits, time itself is counted.
	countsTime() {
		return this.filter.kind !== 'cpu';
	}

	// change: those of kind, target, process, name and cgroup that are to be others; null lets in all.
	choose(change) {
		const { kind, target, process, comm, cgroup } = Object.assign(this.filter, change);

		setCountsTime(this.countsTime());
		const fits = (of) => (kind === 'wall' || Boolean(of.waits) === (kind === 'waits')) && (target === null ? of.counts : of.target === target) &&
			(process === null || of.process === process) &&
			(comm === null || of.comm === comm) &&
			(cgroup === null || of.cgroup === cgroup);

		this.chosen = this.histograms.filter(fits);
		this.chosenRests = this.rests.filter(fits);
		this.sum();
		this.account = target === null ? this.profile.ticks : this.profile.targets[target].ticks;
		this.time = process === null && comm === null && cgroup === null ? this.timeOf(target) : this.binned.time;
	}

	// The time of each chosen class of waits, the longest first.
	classTimes() {
		const sums = new Map();

		for (const h of this.chosen)
			for (let i = h.from; h.waits && i < h.to; i++)
				sums.set(this.owners[i], (sums.get(this.owners[i]) || 0) + this.counts[i]);
		return [...sums].map(([owner, time]) => [this.functions[owner].name.slice(1, -1), time]).sort((a, b) => b[1] - a[1]);
	}

	// CPU time of the account in nanoseconds, what no tick stands for too.
	timeOf(target) {
		const { kind } = this.filter, waits = this.classTimes().reduce((sum, [, time]) => sum + time, 0);

		return waits + (kind === 'waits' ? 0 : this.cpuTimeOf(target));
	}

	cpuTimeOf(target) {
		const { targets, ticks, sampling } = this.profile;

		if (target !== null)
			return targets[target].ns;
		const counted = targets.filter((of) => of.counts && !of.waits);
		const elsewhere = counted.reduce((left, of) => left - of.ticks.total, ticks.total);

		return counted.reduce((time, of) => time + of.ns, Math.max(0, elsewhere) * sampling.period_ns);
	}

	sum() {
		const make = (nr) => ({ ticks: new Float64Array(nr), time: new Float64Array(nr) });
		const functions = make(this.functions.length), objects = make(this.objects.length);
		const sources = make(this.sources.length ? this.named.length + this.functions.length : 0);
		const splits = { process: new Map(), comm: new Map(), cgroup: new Map() };

		this.binned = { ticks: 0, time: 0 };
		for (const h of this.chosen) {
			const unit = this.countsTime() ? h.weight : 1; // of what is counted
			let ticks = 0;

			for (let i = h.from; i < h.to; i++) {
				functions.ticks[this.owners[i]] += this.counts[i] * unit;
				functions.time[this.owners[i]] += this.counts[i] * h.weight;
				if (sources.ticks.length) {
					sources.ticks[this.source(i)] += this.counts[i] * unit;
					sources.time[this.source(i)] += this.counts[i] * h.weight;
				}
				ticks += this.counts[i];
			}
			objects.ticks[h.object] += ticks * unit;
			objects.time[h.object] += ticks * h.weight;
			this.binned.ticks += ticks * unit;
			this.binned.time += ticks * h.weight;
			Model.addSplit(splits, h, ticks * unit, ticks * h.own);
		}
		for (const r of this.chosenRests)
			Model.addSplit(splits, r, 0, r.ns);
		if (this.calls)
			this.includeCalls(functions);
		this.rows = {
			functions: Model.rowsOf(functions, this.functions),
			inlined: Model.rowsOf(sources, sources.ticks.length ? [...this.named, ...this.functions] : []),
			objects: Model.rowsOf(objects, this.objects),
			process: Model.splitsOf(splits.process),
			comm: Model.splitsOf(splits.comm),
			cgroup: Model.splitsOf(splits.cgroup),
		};
	}

	// What functions called counts for them too.
	includeCalls(functions) {
		this.own = this.calls.own(this.chosen.map((h) => h.chains));
		if (this.countsTime())
			this.own[0] = this.own[1];
		this.apart = this.readApart();
		const { calls, own } = this.apart || this;

		this.tree = calls.tree(own, false, Model.widthOf);
		[functions.inclusiveTicks, functions.inclusiveTime] = this.tree.inclusive(this.frames.length);
	}

	static widthOf([, time], node) {
		return time[node];
	}

	static addSplit(splits, of, ticks, time) {
		for (const [by, map] of Object.entries(splits)) {
			const sum = map.get(of[by]) || { ticks: 0, time: 0 };

			sum.ticks += ticks;
			sum.time += time;
			map.set(of[by], sum);
		}
	}

	// The function of the source that a bin is of.
	source(bin) {
		return this.sources[bin] ? this.sources[bin] - 1 : this.named.length + this.owners[bin];
	}

	// The function that has the most of a function of the source.
	ownerOf(source) {
		const sums = new Map();
		let best = 0;

		if (source >= this.named.length)
			return source - this.named.length;
		for (const h of this.chosen)
			for (let i = h.from; i < h.to; i++)
				if (this.source(i) === source)
					sums.set(this.owners[i], (sums.get(this.owners[i]) || 0) + this.counts[i]);
		for (const [owner, ticks] of sums)
			if (ticks > (sums.get(best) || 0))
				best = owner;
		return best;
	}

	static rowsOf(sums, of) {
		const rows = [];

		for (let id = 0; id < of.length; id++)
			if (sums.ticks[id] || sums.inclusiveTicks?.[id])
				rows.push({ id, ticks: sums.ticks[id], time: sums.time[id], of: of[id],
					inclusiveTicks: sums.inclusiveTicks?.[id], inclusiveTime: sums.inclusiveTime?.[id] });
		return rows.sort((a, b) => b.time - a.time || b.inclusiveTime - a.inclusiveTime);
	}

	static splitsOf(sums) {
		return [...sums].map(([name, { ticks, time }]) => ({ id: name, name, ticks, time }))
			.sort((a, b) => b.time - a.time);
	}

	share(row) {
		return this.time > 0 ? row.time / this.time : 0;
	}

	seconds(row) {
		return row.time / 1e9;
	}

	// What an object's own disassembly calls an offset; the end of text is still its own.
	address(object, offset) {
		const of = this.objects[object];
		const text = of.text.find(([start, , size]) => offset >= start && offset - start < size) ||
			of.text.find(([start, , size]) => offset - start === size);

		return hex(of.base, text ? offset - text[0] + text[1] : offset);
	}

	// The chosen bins of an object, ascending: [{ offset, size, ticks, owner }]
	binsOf(object) {
		const bins = [];

		for (const h of this.chosen)
			if (h.object === object)
				for (let i = h.from; i < h.to; i++)
					bins.push({ offset: this.offsets[i], size: h.size,
						ticks: this.counts[i] * (this.countsTime() ? h.weight : 1), owner: this.owners[i] });
		bins.sort((a, b) => a.offset - b.offset || a.size - b.size);
		return bins.filter((bin, i) => {
			const last = i && bins[i - 1];

			if (!last || last.offset !== bin.offset || last.size !== bin.size)
				return true;
			bin.ticks += last.ticks;
			last.ticks = 0;
			return true;
		}).filter((bin) => bin.ticks);
	}
}
