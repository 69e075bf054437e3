// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Which targets, processes and cgroups are let in.
'use strict';

// What time is shown, in a profile with waits.
const KINDS = [['cpu', 'CPU'], ['waits', 'waits'], ['wall', 'wall']];

class Filters {
	constructor(model, changed) {
		this.model = model;
		this.changed = changed;
		this.selects = {
			target: this.fill('target', this.targets().length > 1 ? this.targets() : []),
			process: this.fill('process', this.splits('process')),
			comm: this.fill('comm', this.splits('comm')),
			cgroup: this.fill('cgroup', this.splits('cgroup')),
		};
		byId('kind').hidden = !model.hasWaits;
		byId('filter-clear').addEventListener('click', () => this.clear());
		this.show();
	}

	targets() {
		return this.model.profile.targets.filter((of) => !of.waits).map((of, i) => ({ key: i, ticks: of.ticks.total,
			name: [of.kind, of.name, of.host && `on ${of.host}`].filter(Boolean).join(' ') }));
	}

	// By all their ticks; filters narrow each other, but what there is to choose stays.
	splits(kind) {
		const sums = new Map();

		if (!this.model.isSplit[kind])
			return [];
		for (const h of this.model.histograms)
			for (let i = h.from; i < h.to; i++)
				sums.set(h[kind], (sums.get(h[kind]) || 0) + (h.waits ? 0 : this.model.counts[i]));
		return [...sums].map(([name, ticks]) => ({ key: name, name, ticks }))
			.sort((a, b) => b.ticks - a.ticks);
	}

	fill(kind, entries) {
		const label = byId(`filter-${kind}`), select = label.querySelector('select');

		if (kind === 'process')
			label.firstChild.data = `${this.model.nouns.process} `;
		label.hidden = !entries.length;
		select.replaceChildren(new Option('all', ''), ...entries.map((entry, i) =>
			new Option(`${short(entry.name, 60) || '""'} · ${count(entry.ticks)}`, i)));
		select.addEventListener('change', () => {
			const entry = entries[select.value];

			this.choose({ [kind]: entry ? entry.key : null });
		});
		return { select, entries };
	}

	// The next kind of time.
	turn() {
		const at = KINDS.findIndex(([kind]) => kind === this.model.filter.kind);

		if (this.model.hasWaits)
			this.choose({ kind: KINDS[(at + 1) % KINDS.length][0] });
	}

	choose(change) {
		this.model.choose(change);
		this.show();
		this.changed();
	}

	clear() {
		this.choose({ target: null, process: null, comm: null, cgroup: null });
	}

	show() {
		const { filter, binned, account } = this.model;
		const any = Object.entries(filter).some(([kind, key]) => kind !== 'kind' && key !== null);
		const of = this.model.countsTime() ? ticksOf(binned.time) : `${count(binned.ticks)} of ${count(account.total)} ticks`;

		for (const [kind, { select, entries }] of Object.entries(this.selects)) {
			const at = entries.findIndex((entry) => entry.key === filter[kind]);

			select.value = at < 0 ? '' : String(at);
		}
		choice(byId('kind'), KINDS, filter.kind, (kind) => this.choose({ kind }));
		byId('filter-clear').hidden = !any;
		byId('chosen').textContent = any ?
			`${of}; shares are of ${filter.process === null && filter.comm === null && filter.cgroup === null ? 'the target’s' : 'these'}` : '';
	}
}
