// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A squarified treemap (Bruls, Huizing, van Wijk 2000): objects, and in them their functions.
'use strict';

const MAP_CELLS = 500; // the hottest functions; of each object the others are put together
const MAP_LABEL = 17; // px
const MAP_LEAST = 26; // px², of a cell of its own

// Rectangles for values, which descend, in a box; the worst aspect ratio of a row decides its end.
function squarify(values, box) {
	const cells = [];
	let { x, y, w, h } = box, total = values.reduce((sum, value) => sum + value, 0), i = 0;

	while (i < values.length && total > 0 && w > 0 && h > 0) {
		const side = Math.min(w, h), scale = w * h / total;
		let sum = 0, end = i, worst = Infinity;

		for (; end < values.length; end++) {
			const next = sum + values[end], area = next * scale, deep = area / side;
			const ratio = Math.max(deep * deep / (values[end] * scale),
				values[i] * scale / (deep * deep));

			if (ratio > worst)
				break;
			worst = ratio;
			sum = next;
		}
		const deep = sum * scale / side;
		let at = 0;

		for (; i < end; i++) {
			const long = values[i] / sum * side;

			cells.push(w < h ? { x: x + at, y, w: long, h: deep } : { x, y: y + at, w: deep, h: long });
			at += long;
		}
		if (w < h)
			y += deep, h -= deep;
		else
			x += deep, w -= deep;
		total -= sum;
	}
	return cells;
}

class TreeMap {
	// open(functionId), zoom(objectId or null, how many of its hottest functions to leave out)
	constructor(model, { open, zoom }) {
		this.model = model;
		this.open = open;
		this.zoomTo = zoom;
		this.box = byId('map-cells');
		this.object = null;
		this.query = () => true;
		this.box.addEventListener('click', (event) => this.press(event.target.closest('button')));
		this.box.addEventListener('keydown', (event) => this.key(event));
		this.box.addEventListener('focusin', (event) => this.focused(event.target));
		new ResizeObserver(() => this.draw()).observe(this.box);
	}

	show({ object, skip, matches, chosen }) {
		this.object = object;
		this.skip = skip;
		this.matches = matches;
		this.chosen = chosen;
		this.path();
		this.draw(true);
	}

	path() {
		const nav = byId('map-path'), all = make('button', '', 'all objects');

		all.type = 'button';
		all.addEventListener('click', () => this.zoomTo(null));
		if (this.object === null)
			nav.replaceChildren(make('span', '', 'all objects'));
		else if (!this.skip)
			nav.replaceChildren(all, ' › ', make('span', '', short(this.model.objects[this.object].path)));
		else
			nav.replaceChildren(all, ' › ', this.whole(), ` › all but the ${count(this.skip)} hottest`);
	}

	whole() {
		const whole = make('button', '', short(basename(this.model.objects[this.object].path)));

		whole.type = 'button';
		whole.addEventListener('click', () => this.zoomTo(this.object));
		return whole;
	}

	// [{ id, ticks, time, rows, rest }], the hottest first; rest: how many functions are not in rows
	groups() {
		const { rows } = this.model, groups = new Map();
		let cells = 0, { skip } = this;

		for (const row of rows.objects)
			if (this.object === null || row.id === this.object)
				groups.set(row.id, { ...row, rows: [], rest: 0 });
		for (const row of rows.functions) {
			const group = groups.get(row.of.object);

			if (!group || !row.time)
				continue;
			if (skip-- > 0)
				group.time -= row.time;
			else if (cells++ < MAP_CELLS)
				group.rows.push(row);
			else
				group.rest++;
		}
		return [...groups.values()];
	}

	draw(anew) {
		const w = this.box.clientWidth, h = this.box.clientHeight;

		if (!w || (!anew && w === this.width && h === this.heightPx))
			return;
		const had = document.activeElement?.parentElement === this.box ?
			document.activeElement.dataset.key : null;

		this.width = w;
		this.heightPx = h;
		this.cells = [];
		this.scale();
		const groups = this.groups();

		squarify(groups.map((group) => group.time), { x: 0, y: 0, w, h }).forEach((cell, i) =>
			this.group(groups[i], cell));
		this.box.replaceChildren(...this.cells);
		if (!this.cells.length)
			this.box.append(make('p', 'empty', 'No tick is in a bin that was chosen.'));
		const current = this.cells.find((cell) => cell.dataset.key === had) || this.cells[0];

		if (current)
			current.tabIndex = 0;
		if (had && current)
			current.focus();
	}

	scale() {
		this.least = Infinity;
		this.most = 0;
		for (const row of this.model.rows.functions) {
			const dense = row.time / Math.max(1, row.of.size);

			if (!row.time)
				continue;
			this.least = Math.min(this.least, dense);
			this.most = Math.max(this.most, dense);
		}
	}

	group(group, cell) {
		const labelled = this.object === null && cell.w > 40 && cell.h > 2 * MAP_LABEL;
		const inner = labelled ? { x: cell.x, y: cell.y + MAP_LABEL, w: cell.w, h: cell.h - MAP_LABEL } : cell;
		const perTick = inner.w * inner.h / group.time;
		let rows = group.rows.filter((row) => row.time * perTick >= MAP_LEAST);
		const rest = group.time - rows.reduce((sum, row) => sum + row.time, 0);

		if (labelled)
			this.label(group, cell);
		const left = group.rest + group.rows.length - rows.length;

		// By how many there are: the difference of sums is not quite 0 where there are none.
		if (left && rest > 0)
			rows = [...rows, { rest: left, time: rest, group, shown: rows.length }];
		squarify(rows.map((row) => row.time), inner).forEach((place, i) =>
			this.cell(rows[i], place));
	}

	button(name, key, place) {
		const button = make('button', name);

		button.type = 'button';
		button.tabIndex = -1;
		button.dataset.key = key;
		button.style.left = `${place.x}px`;
		button.style.top = `${place.y}px`;
		button.style.width = `${Math.max(1, place.w)}px`;
		button.style.height = `${Math.max(1, place.h)}px`;
		this.cells.push(button);
		return button;
	}

	label(group, cell) {
		const button = this.button('object', `o${group.id}`, { ...cell, h: MAP_LABEL });

		button.textContent = `${short(basename(group.of.path), 100)} ${percent(this.model.share(group))}`;
		button.title = `${short(group.of.path, 1000)}\n${ticksOf(group.ticks)}, ${percent(this.model.share(group))}: zoom in`;
	}

	cell(row, place) {
		if (row.rest) {
			const more = this.button('rest', `r${row.group.id}`, place);

			more.title = `${count(row.rest)} more functions of ${short(basename(row.group.of.path))}, ${percent(this.model.share(row))}: open`;
			more.dataset.skip = this.skip + row.shown;
			if (place.w > 60 && place.h > 14)
				more.textContent = `${count(row.rest)} more`;
			more.setAttribute('aria-label', more.title);
			return;
		}
		const step = heat(row.time / Math.max(1, row.of.size), this.least, this.most);
		const button = this.button(`h${Math.max(0, step)}`, `f${row.id}`, place);

		button.title = `${short(row.of.name, 1000) || '""'}\n${short(this.model.objects[row.of.object].path)}\n${ticksOf(row.ticks)}, ${percent(this.model.share(row))}, in ${bytes(row.of.size)} of text`;
		button.setAttribute('aria-label', button.title);
		button.classList.toggle('faded', !this.matches(row));
		button.classList.toggle('chosen', row.id === this.chosen);
		if (place.w > 28 && place.h > 13)
			button.append(make('span', '', short(row.of.name, 120)));
		if (place.w > 50 && place.h > 30)
			button.append(make('small', '', percent(this.model.share(row))));
	}

	press(button) {
		if (!button)
			return;
		const id = Number(button.dataset.key.slice(1));

		if (button.dataset.key[0] === 'f')
			this.open(id);
		else
			this.zoomTo(id, Number(button.dataset.skip || 0));
	}

	focused(button) {
		for (const cell of this.cells)
			cell.tabIndex = cell === button ? 0 : -1;
	}

	key(event) {
		const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];

		if (!way || event.ctrlKey || event.metaKey || event.altKey)
			return;
		const next = this.neighbour(event.target, way);

		if (next)
			next.focus();
		event.preventDefault();
	}

	// The nearest cell that way, by the middles.
	neighbour(from, [dx, dy]) {
		const middle = (cell) => [cell.offsetLeft + cell.offsetWidth / 2, cell.offsetTop + cell.offsetHeight / 2];
		const [x, y] = middle(from);
		let best = null, least = Infinity;

		for (const cell of this.cells) {
			const [cx, cy] = middle(cell), along = (cx - x) * dx + (cy - y) * dy;
			const aside = Math.abs((cx - x) * dy) + Math.abs((cy - y) * dx);

			if (cell !== from && along > 1 && along + 2 * aside < least) {
				least = along + 2 * aside;
				best = cell;
			}
		}
		return best;
	}
}
