// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The page of a comparison: one table, and the calls of both.
'use strict';

const CHANCE = 2.576; // standard deviations that chance exceeds once in a hundred times
const SUM_ERROR = 1e-9; // of a share: its sums are rounded
const CHANGE_STEPS = [-1, -0.6, -0.3, 0, 0.3, 0.6, 1]; // of the legend

function points(change) {
	return `${change >= 0 ? '+' : '−'}${Math.abs(change).toFixed(2)}`;
}

function keyOf(name, path) {
	return `${name}\n${path}`;
}

// The calls of two profiles, in one tree with the sums of both.
class DiffCalls {
	constructor(sides) {
		this.frames = [];
		this.ids = new Map();
		const texts = sides.map((side) => this.textsOf(side)), words = sides[0].callers.words;

		[this.calls, this.own] = Calls.join(sides.map(({ callers }, i) => {
			const calls = new Calls(callers, texts[i], this.frames.length);

			return [calls, calls.own(callers.chains)];
		}));
		this.frames.push(...words.map((name) => ({ name, path: '' })));
		this.times = sides.map((side) => side.ns || 1);
		this.counts = sides.map((side, i) => this.times[i] / (side.unit || 1)); // of equal, independent ticks
		this.centre = null; // whose callers and callees are shown; null: all are
		this.last = 0; // whose were shown last
		this.flame = new Flame({ tell: (place) => this.tell(place), paint: (place) => DiffCalls.color(this.change(place)),
			open: (frame) => { this.last = frame; }, look: (frame) => this.look(frame) });
		byId('map').hidden = false;
		document.querySelector('main').classList.add('of-calls');
		byId('calls').hidden = false;
	}

	// Functions of one stem are one frame, by the shortest name. Text in none is one frame of its object.
	textsOf({ texts, functions, callers }) {
		const ids = texts.map(([name, path, stem]) => {
			const called = name || `${basename(path)}+0x...`, key = keyOf(stem ?? called, path);

			if (!this.ids.has(key))
				this.ids.set(key, this.frames.push({ name: called, path }) - 1);
			const id = this.ids.get(key);

			if (called.length < this.frames[id].name.length)
				this.frames[id].name = called;
			this.ids.set(keyOf(called, path), id);
			return id;
		});

		return [...ids.slice(0, functions), ...callers.places.map(([object]) => ids[functions + object])];
	}

	show(query) {
		const { times, calls, own, frames } = this;

		this.query = query;
		choice(byId('map-view'), [['flame', 'flame graph'], ['function', 'callers and callees']], this.centre === null ? 'flame' : 'function',
			(word) => this.look(word === 'flame' ? null : this.last));
		this.flame.show({ calls, own, frames, width: ([, before, , now], i) => (before[i] / times[0] + now[i] / times[1]) / 2 },
			this.centre, query && ((frame) => isNamed(frame, query)));
	}

	draw() {
		[...byId('calls-legend').querySelectorAll('i')].forEach((swatch, i) => {
			swatch.style.background = DiffCalls.color(CHANGE_STEPS[i]);
		});
		this.flame.draw();
	}

	look(frame) {
		this.centre = frame;
		this.last = frame ?? this.last;
		this.show(this.query);
		this.flame.canvas.focus();
	}

	lookAt(row) {
		const frame = this.ids.get(keyOf(row.function ?? `${basename(row.object)}+0x...`, row.object));

		if (frame !== undefined)
			this.look(frame);
	}

	shares({ tree, node }) {
		return [tree.sums[1][node] / this.times[0], tree.sums[3][node] / this.times[1]];
	}

	// How much more of the time it is in the new one, of the larger share, from -1 to 1; 0: chance may do that.
	change(place) {
		const [was, is] = this.shares(place), [old, now] = this.counts, mean = (was * old + is * now) / (old + now);
		const deviation = Math.sqrt(mean * Math.max(0, 1 - mean) * (1 / old + 1 / now));

		return Math.abs(is - was) <= CHANCE * deviation + SUM_ERROR ? 0 : (is - was) / Math.max(is, was);
	}

	// Red and blue, which all eyes tell apart, the paler the less it changed.
	static color(change) {
		const [ground, more, less] = isDark() ? [[58, 63, 71], [214, 84, 70], [64, 132, 214]] : [[232, 231, 227], [232, 84, 66], [72, 140, 222]];
		const part = change && 0.2 + 0.65 * Math.abs(change);

		return `rgb(${ground.map((value, i) => Math.round(value + part * ((change > 0 ? more : less)[i] - value))).join()})`;
	}

	tell(place) {
		const sums = place.tree.sums.map((all) => all[place.node]), [before, after] = this.shares(place);

		return `${percent(before)} → ${percent(after)} of the time, ${points(100 * (after - before))}${this.change(place) ? '' : ', as chance may have it'} · ${(sums[1] / 1e9).toFixed(3)} → ${(sums[3] / 1e9).toFixed(3)} s · ${count(sums[0])} → ${ticksOf(sums[2])}`;
	}
}

const DIFF_TABLES = { inclusive: 'functions, inclusive', calls: 'calls', alone: 'functions alone' };

class DiffPage {
	// tables: by what a row stands for; only "alone", if not both profiles have callers
	constructor(tables, callers) {
		this.calls = callers[0] && new DiffCalls(callers);
		this.tables = tables;
		this.table = new Table(byId('table'), { label: 'Changes', columns: [], open: (row, go) => go && this.calls?.lookAt(row) });
		this.showSides(tables.alone);
		this.showBy(tables.inclusive ? 'inclusive' : 'alone');
		byId('search').addEventListener('input', () => this.show());
		byId('beyond').addEventListener('change', () => this.show());
		byId('filters').addEventListener('submit', (event) => event.preventDefault());
		document.addEventListener('keydown', (event) => this.key(event));
		themeSwitch(() => this.calls?.draw());
	}

	showBy(kind) {
		const diff = this.tables[kind];

		this.diff = diff;
		this.rows = diff.rows.map((row, id) => ({ ...row, id, rank: diff.rows.length - id }));
		byId('by-bar').hidden = !this.tables.inclusive;
		choice(byId('by'), Object.entries(DIFF_TABLES), kind, (word) => this.showBy(word));
		byId('facts').textContent = `${count(diff.significant)} of ${count(diff.of)} ${diff.by}${kind === 'inclusive' ? ', with all that they called,' : ''} changed beyond noise, at ${100 * diff.level} % for all together`;
		this.table.setColumns(this.columns());
		this.show();
	}

	showSides(diff) {
		const list = byId('sides');

		document.title = `${[diff.old, diff.new].map((side) => short(basename(side.file || ''), 60)).join(' → ')} · bpfprofil diff`;
		for (const name of ['old', 'new']) {
			const side = diff[name], words = make('dd');
			const seconds = diff.rows.reduce((sum, row) => sum + row[name].seconds, 0);

			words.append(make('b', '', short(side.file || name)), ` ${[short(side.title || '', 200),
				side.started && side.started.replace('T', ' ').replace(/\.\d+/, ''), ticksOf(side.ticks),
				side.cpu_ns === undefined ? `${seconds.toFixed(3)} s in these rows` : `${(side.cpu_ns / 1e9).toFixed(3)} s of CPU time`]
				.filter(Boolean).map(visible).join(' · ')}`);
			list.append(make('dt', '', name), words);
		}
		for (const note of diff.notes)
			byId('notes').append(make('li', '', short(note, 1000)));
	}

	columns() {
		const most = Math.max(...this.rows.map((row) => Math.abs(row.change)), 1e-9);
		const side = (title, name) => ({ title, name: `side ${name}`, down: true,
			value: (row) => row[name].percent,
			fill: (cell, row) => {
				fillShare(cell, row[name].percent / 100);
				cell.title = `${ticksOf(row[name].ticks)}, ${row[name].seconds.toFixed(3)} s`;
			} });
		const seconds = (title, name) => ({ title, name: `seconds ${name}`, down: true,
			value: (row) => row[name].seconds,
			fill: (cell, row) => cell.append(row[name].seconds.toFixed(3)) });
		const named = (title, name, full, value = full) => ({ title, name, value, text: value,
			fill: (cell, row) => fillName(cell, value(row), full(row)) });
		const columns = [
			{ title: 'Change', name: 'change', down: true, value: (row) => row.rank,
			  fill: (cell, row) => {
				  fillShare(cell, Math.abs(row.change) / most);
				  cell.textContent = points(row.change);
				  cell.title = `${points(row.change)} % of the time; ${row.old.seconds.toFixed(3)} s before, ${row.new.seconds.toFixed(3)} s now`;
				  if (row.significant)
					  cell.classList.add(row.change > 0 ? 'more' : 'less');
			  } },
			side('Old', 'old'), side('New', 'new'),
			{ title: 'P', name: 'p', value: (row) => row.probability,
			  fill: (cell, row) => {
				  cell.textContent = !row.significant ? 'noise' :
					  row.probability < 1e-4 ? '<.0001' : row.probability.toFixed(4);
			  } },
			seconds('Old s', 'old'), seconds('New s', 'new'),
		];

		if (this.diff.by === 'objects')
			return [...columns, { title: 'Object', name: 'name', value: (row) => row.object, fill: (cell, row) => fillPath(cell, row.object) }];
		const text = (name, object) => name ?? (object ? `${basename(object)}+0x...` : '');

		columns.push(this.diff.by === 'calls' ?
			named('Call', 'name', (row) => `${text(row.caller, row.caller_object)} → ${text(row.function, row.object)}`) :
			named('Function', 'name', (row) => text(row.function, row.object)));
		if (this.diff.by === 'lines')
			columns.push({ title: 'Line', name: 'line', value: (row) => (row.file ? `${row.file}:${String(row.line).padStart(9, '0')}` : ''),
				fill: (cell, row) => fillName(cell, row.file ? `${basename(row.file)}:${row.line}` : '-', row.file ? `${row.file}:${row.line}` : '') });
		columns.push(named('Object', 'object', (row) => row.object, (row) => basename(row.object)));
		return columns;
	}

	show() {
		const query = byId('search').value.trim().toLowerCase(), beyond = byId('beyond').checked;
		const rows = this.rows.filter((row) => (!beyond || row.significant) &&
			`${row.caller || ''}\n${row.function || ''}\n${row.object}\n${row.file || ''}`.toLowerCase().includes(query));

		this.table.setRows(rows);
		this.calls?.show(query);
		byId('chosen').textContent = rows.length < this.rows.length ? `${count(rows.length)} of ${count(this.rows.length)}` : '';
	}

	key(event) {
		const { target, key } = event, search = byId('search');

		if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (key === 'Escape' && search.value) {
			search.value = '';
			this.show();
		} else if ((key === 'Escape' || key === 'ArrowDown') && target === search) {
			byId('table').focus();
		} else if (target.matches('input[type=search]')) {
			return;
		} else if (key === 'Escape' && target === this.calls?.flame.canvas) {
			if (!this.calls.flame.zoomOut())
				this.calls.look(null);
		} else if (key === 'f' && this.calls) {
			this.calls.look(null);
		} else if (key === '/') {
			search.focus();
		} else if (key === 't') {
			byId('theme').click();
		} else {
			return;
		}
		event.preventDefault();
	}
}

new DiffPage({ inclusive: readJson('diff-inclusive'), calls: readJson('diff-calls'), alone: readJson('diff') }, ['callers-old', 'callers-new'].map(readJson));
