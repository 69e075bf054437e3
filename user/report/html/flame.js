// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Calls as bars, each as wide as its time: all of them from the first frame on, or of one function its
// callers above and its callees below. Only bars that can be seen are drawn, so that a hundred thousand of
// them are no slower than a thousand.
'use strict';

const FLAME_ROW = 18, FLAME_LEAST = 0.5, FLAME_PAD = 4; // px
const FLAME_FONT = 11;
const FLAME_HUES = [28, 212, 140, 275, 52, 330, 178, 96]; // of the objects with the most time

function isNamed(frame, query) {
	frame.key ??= `${frame.name}\n${frame.path}`.toLowerCase();
	return frame.key.includes(query);
}

class Flame {
	// page: tell(place, tree): its figures; paint(place, frame): its colour; open(frame, go): shows its code;
	// look(frame): shows its callers and callees. A place is { tree, node }.
	constructor(page) {
		this.page = page;
		this.box = byId('calls-box');
		this.canvas = byId('calls-canvas');
		this.fold = byId('calls-fold');
		this.flip = byId('calls-flip');
		this.apart = byId('calls-apart'); // null: there is nothing that chains could belong to
		this.apart?.addEventListener('change', () => this.load());
		this.matches = null;
		this.fold.addEventListener('change', () => this.load());
		this.flip.addEventListener('change', () => {
			this.draw();
			this.reveal();
		});
		this.box.addEventListener('scroll', () => this.draw());
		this.canvas.addEventListener('pointermove', (event) => this.say(this.hit(event)));
		this.canvas.addEventListener('pointerleave', () => this.say(this.at));
		this.canvas.addEventListener('click', (event) => this.press(this.hit(event)));
		this.canvas.addEventListener('keydown', (event) => this.key(event));
		this.canvas.addEventListener('focus', () => this.say(this.at));
		new ResizeObserver(() => this.draw()).observe(this.box);
	}

	// data: { calls, own, frames, width }, of what the filters let in; with apart: the same below what chains
	// belong to; and the tree of all, if it is there;
	// centre: a frame, or null for all
	show(data, centre, matches) {
		this.matches = matches && Uint8Array.from(data.frames, (frame) => Number(matches(frame)));
		if (this.matches?.[centre])
			this.matches = null; // it is the function that was searched
		if (data.own === this.data?.own && centre === this.centre) {
			this.showFound();
			this.draw();
			return;
		}
		this.data = data;
		this.centre = centre;
		this.load();
	}

	load() {
		const { calls, own, tree, apart, width } = this.data, fold = this.fold.checked;

		if (this.apart)
			this.apart.parentNode.hidden = !apart || this.centre !== null;
		if (this.centre === null) {
			const all = this.apart?.checked && apart || { calls, own };

			this.down = (!fold && Boolean(apart) === (all === apart) && tree) || all.calls.tree(all.own, fold, width);
			this.up = null;
		} else {
			this.down = calls.tree(own, fold, width, this.centre);
			this.up = calls.callers(this.centre, own, fold, width);
		}
		this.upper = this.up ? this.up.levels.length - 1 : 0;
		this.rows = this.upper + this.down.levels.length;
		this.canvas.hidden = !(this.down.width[0] > 0);
		this.zoomTo(0);
		this.showFound();
	}

	frameOf({ tree, node }) {
		return node ? tree.frame[node] : this.centre;
	}

	nameOf(place) {
		const frame = this.frameOf(place), times = place.tree.times[place.node];
		const name = frame === null ? 'all' : this.data.frames[frame]?.name || '""';

		return times > 1 ? `${name} x ${count(times)}` : name;
	}

	// --- zoom ----------------------------------------------------------------------------------------

	zoomTo(node) {
		this.zoomed = node;
		this.at = { tree: this.down, node };
		this.showPath();
		this.draw();
		this.reveal();
		this.say(this.at);
	}

	// Returns whether there was something to zoom out of.
	zoomOut() {
		const was = this.zoomed;

		if (was)
			this.zoomTo(this.down.parent[was]);
		return was > 0;
	}

	// The way down to what is zoomed in on; a long one without its middle.
	showPath() {
		const nav = byId('calls-path'), way = [];

		for (let node = this.zoomed; node; node = this.down.parent[node])
			way.unshift(node);
		way.unshift(0);
		nav.replaceChildren(...way.flatMap((node, i) => {
			const name = short(this.nameOf({ tree: this.down, node }), 40), separator = i ? [' › '] : [];

			if (way.length > 6 && i > 1 && i < way.length - 3)
				return i === 2 ? [' › …'] : [];
			if (i === way.length - 1)
				return [...separator, make('b', '', name)];
			const button = make('button', '', name);

			button.type = 'button';
			button.addEventListener('click', () => this.zoomTo(node));
			return [...separator, button];
		}));
	}

	// --- places --------------------------------------------------------------------------------------

	// Rows count from where the first frames are.
	rowOf({ tree, node }) {
		return tree === this.up ? this.upper - tree.depth[node] : this.upper + tree.depth[node];
	}

	levelOf(row) {
		const tree = row < this.upper ? this.up : this.down;

		return { tree, level: tree?.levels[Math.abs(row - this.upper)] || [] };
	}

	top(row) {
		return (this.flip.checked ? this.rows - 1 - row : row) * FLAME_ROW;
	}

	// What of a tree's width is in view, from and to.
	range(tree) {
		const from = tree === this.down ? tree.start[this.zoomed] : 0;

		return [from, from + tree.width[tree === this.down ? this.zoomed : 0]];
	}

	// The first bar of a level that ends beyond a place.
	static firstBeyond(tree, level, x) {
		return firstOf(level.length, (i) => tree.start[level[i]] + tree.width[level[i]] > x);
	}

	hit(event) {
		const { left, top, width } = this.canvas.getBoundingClientRect();
		const y = Math.floor((event.clientY - top + this.box.scrollTop) / FLAME_ROW);
		const row = this.flip.checked ? this.rows - 1 - y : y;

		if (row < 0 || row >= this.rows)
			return null;
		const { tree, level } = this.levelOf(row), [from, to] = this.range(tree);
		const x = from + (event.clientX - left) / width * (to - from), i = Flame.firstBeyond(tree, level, x);

		return i < level.length && tree.start[level[i]] <= x ? { tree, node: level[i] } : null;
	}

	// --- the picture ---------------------------------------------------------------------------------

	draw() {
		const height = this.box.clientHeight, style = getComputedStyle(this.canvas);

		if (!this.data || !height || this.canvas.hidden)
			return;
		byId('calls-space').style.height = `${Math.max(height, this.rows * FLAME_ROW)}px`;
		const { context, width } = canvasOf(this.canvas, height);

		this.pen = { context, width, drawn: 0, text: style.color, accent: style.textDecorationColor };
		context.font = `${FLAME_FONT}px ${style.fontFamily}`;
		context.textBaseline = 'middle';
		this.pen.character = context.measureText('M').width;
		context.translate(0, -this.box.scrollTop);
		for (let row = 0; row < this.rows; row++) {
			const y = this.top(row) - this.box.scrollTop;

			if (y > -FLAME_ROW && y < height)
				this.drawRow(row);
		}
		this.mark();
		this.canvas.dataset.drawn = this.pen.drawn;
	}

	drawRow(row) {
		const { tree, level } = this.levelOf(row), [from, to] = this.range(tree);
		const scale = this.pen.width / (to - from), least = FLAME_LEAST / scale;

		for (let i = Flame.firstBeyond(tree, level, from); i < level.length && tree.start[level[i]] < to; i++) {
			const node = level[i], start = tree.start[node];

			if (tree.width[node] >= least)
				this.bar({ tree, node }, this.span(tree, node), row);
			else
				i = Math.max(i, Flame.firstBeyond(tree, level, start + least) - 1);
		}
	}

	// Where a bar is from left to right.
	span(tree, node) {
		const [from, to] = this.range(tree), scale = this.pen.width / (to - from);
		const left = Math.max(0, (tree.start[node] - from) * scale);

		return { left, width: Math.min(this.pen.width, (tree.start[node] + tree.width[node] - from) * scale) - left };
	}

	bar(place, { left, width }, row) {
		const { context, character, text } = this.pen, frame = this.frameOf(place), top = this.top(row);
		const fits = Math.floor((width - 2 * FLAME_PAD) / character);

		context.globalAlpha = this.matches && !(frame !== null && this.matches[frame]) ? 0.25 : 1;
		context.fillStyle = this.page.paint(place, this.data.frames[frame]);
		context.fillRect(left, top, Math.max(FLAME_LEAST, width - (width > 3 ? 1 : 0)), FLAME_ROW - 1);
		this.pen.drawn++;
		if (fits < 2)
			return;
		const name = short(this.nameOf(place), fits + 1);

		context.fillStyle = text;
		context.fillText(name.length > fits ? `${name.slice(0, fits - 1)}…` : name, left + FLAME_PAD, top + FLAME_ROW / 2);
	}

	// The bar that keys are at.
	mark() {
		const { context, accent } = this.pen, { left, width } = this.span(this.at.tree, this.at.node);

		context.globalAlpha = 1;
		context.strokeStyle = accent;
		context.lineWidth = 2;
		context.strokeRect(left + 1, this.top(this.rowOf(this.at)) + 1, Math.max(1, width - 3), FLAME_ROW - 3);
	}

	reveal() {
		const top = this.top(this.rowOf(this.at)), { scrollTop, clientHeight } = this.box;

		if (this.at.node === 0 && this.centre !== null)
			this.box.scrollTop = top - (clientHeight - FLAME_ROW) / 2;
		else if (top < scrollTop)
			this.box.scrollTop = top;
		else if (top + FLAME_ROW > scrollTop + clientHeight)
			this.box.scrollTop = top + FLAME_ROW - clientHeight;
	}

	// --- words ---------------------------------------------------------------------------------------

	say(place) {
		const status = byId('calls-status'), frame = place && this.frameOf(place);

		if (!place || !this.data || this.canvas.hidden) {
			status.textContent = this.canvas.hidden ? 'No tick that the filters let in has such a chain of callers.' : '';
			return;
		}
		const path = frame === null ? '' : this.data.frames[frame].path;
		const role = this.centre === null || !place.node ? '' : place.tree === this.up ? 'caller ' : 'callee ';

		status.replaceChildren(role, make('b', '', short(this.nameOf(place), 200)), path ? ` ${short(basename(path), 60)}` : '',
			` · ${this.page.tell(place, this.centre === null ? null : this.down)}`);
		status.dataset.row = this.rowOf(place) - this.upper;
		status.dataset.node = place.node;
		status.title = frame === null ? '' : short(`${this.data.frames[frame].name} ${path}`, 1000);
	}

	showFound() {
		const found = byId('calls-found');

		found.hidden = !this.matches;
		if (!this.matches)
			return;
		const { nr, width } = this.down.matched(this.matches), whole = this.down.width[0];

		found.textContent = `${count(nr)} found, ${percent(whole > 0 ? width / whole : 0)}`;
	}

	// --- pointer and keys ----------------------------------------------------------------------------

	press(place) {
		if (!place)
			return;
		this.choose(place);
		if (this.centre === null && place.node)
			this.page.open(this.frameOf(place), false);
	}

	// All: zoom in; one function: its caller or callee becomes the one.
	choose(place) {
		if (this.centre === null)
			this.zoomTo(place.node);
		else if (place.node)
			this.page.look(this.frameOf(place));
	}

	move(place) {
		this.at = place;
		this.draw();
		this.reveal();
		this.say(place);
	}

	// One row away from where the first frames are, or back to them.
	step(away) {
		const { tree, node } = this.at;

		if (node === 0 && this.up)
			return away ? { tree, node: tree.widest(0) } : { tree: this.up, node: this.up.widest(0) };
		if (away !== (tree === this.up))
			return { tree, node: this.within(tree, node) };
		return { tree: tree.parent[node] ? tree : this.down, node: tree.parent[node] };
	}

	// The bar that a step goes to: the widest of a level, or the one that is on the way to what is zoomed in on.
	within(tree, node) {
		let at = this.zoomed;

		if (tree !== this.down || tree.depth[node] >= tree.depth[at])
			return tree.widest(node);
		while (tree.parent[at] !== node)
			at = tree.parent[at];
		return at;
	}

	// The next bar of the row that can be seen.
	beside(by) {
		const { tree, node } = this.at, level = tree.levels[tree.depth[node]], [from, to] = this.range(tree);
		const least = FLAME_LEAST * (to - from) / this.canvas.clientWidth;
		let i = firstOf(level.length, (other) => tree.start[level[other]] >= tree.start[node]);

		while (level[i] !== node)
			i++;
		for (i += by; i >= 0 && i < level.length; i += by) {
			const other = level[i];

			if (tree.start[other] >= to || tree.start[other] + tree.width[other] <= from)
				break;
			if (tree.width[other] >= least)
				return { tree, node: other };
		}
		return this.at;
	}

	key(event) {
		const down = !this.flip.checked, frame = this.frameOf(this.at), { key } = event;

		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (key === 'ArrowDown' || key === 'ArrowUp')
			this.move(this.step((key === 'ArrowDown') === down));
		else if (key === 'ArrowLeft' || key === 'ArrowRight')
			this.move(this.beside(key === 'ArrowRight' ? 1 : -1));
		else if (key === 'Home')
			this.zoomTo(0);
		else if (key === 'Enter')
			this.choose(this.at);
		else if (key === 'o' && frame !== null)
			this.page.open(frame, true);
		else if (key === 'c' && frame !== null)
			this.page.look(frame);
		else
			return;
		event.preventDefault();
	}
}
