// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// An object's text by address: all of it in one line, and below it a window that zooms down to bytes.
'use strict';

const STRIP_GAP = 1 << 20; // bytes without a segment or a tick that are left out
const STRIP_LEAST = 32; // bytes in the window
const STRIP_BARS = 54, STRIP_HEAT = 14, STRIP_NAMES = 18; // px

// Offsets to places in a line that leaves out what is empty between segments.
class Axis {
	constructor(object, functions) {
		const spans = [...object.text.map(([offset, , size]) => [offset, offset + size]),
			...functions.map((of) => [of.offset, of.offset + Math.max(1, of.size)])]
			.sort((a, b) => a[0] - b[0]);

		this.pieces = [];
		this.size = 0;
		for (const [start, end] of spans) {
			const last = this.pieces[this.pieces.length - 1];

			if (last && start <= last.end + STRIP_GAP)
				last.end = Math.max(last.end, end);
			else
				this.pieces.push({ start, end });
		}
		for (const piece of this.pieces) {
			piece.at = this.size;
			this.size += piece.end - piece.start;
		}
	}

	place(offset) {
		const piece = this.pieces.findLast((of) => of.start <= offset) || this.pieces[0];

		return piece.at + Math.max(0, Math.min(offset, piece.end) - piece.start);
	}

	offset(place) {
		const piece = this.pieces.findLast((of) => of.at <= place) || this.pieces[0];

		return piece.start + Math.min(place - piece.at, piece.end - piece.start);
	}
}

class Strip {
	// open(functionId, stay); stay: the window is not to move
	constructor(model, { open }) {
		this.model = model;
		this.open = open;
		this.box = byId('strip');
		this.whole = byId('strip-whole');
		this.canvas = byId('strip-window');
		this.object = null;
		this.canvas.addEventListener('keydown', (event) => this.key(event));
		this.canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
		for (const canvas of [this.canvas, this.whole]) {
			canvas.addEventListener('pointerdown', (event) => this.down(event, canvas));
			canvas.addEventListener('pointermove', (event) => this.move(event, canvas));
			canvas.addEventListener('pointerup', (event) => this.up(event, canvas));
			canvas.addEventListener('pointercancel', () => this.cancel());
		}
		this.canvas.addEventListener('pointerleave', () => this.say(null));
		this.box.addEventListener('click', (event) => this.act(event.target.dataset.strip));
		new ResizeObserver(() => this.draw()).observe(this.box);
	}

	// of: a function of the object to frame, or null for all of it; keep: the window is to stay
	show(object, of, keep) {
		const same = object === this.object;

		this.object = object;
		this.chosen = of;
		this.box.hidden = object === null;
		if (object === null)
			return;
		this.functions = this.model.functions.filter((f) => f.object === object)
			.sort((a, b) => a.offset - b.offset);
		this.axis = new Axis(this.model.objects[object], this.functions);
		this.bins = this.model.binsOf(object);
		for (const bin of this.bins) {
			bin.from = this.axis.place(bin.offset);
			bin.to = this.axis.place(bin.offset + bin.size);
		}
		this.canvas.setAttribute('aria-label', `Heat by address of ${short(this.model.objects[object].path, 100)}; plus and minus zoom, arrow keys move, Enter opens the hottest function`);
		if (!(keep && same))
			this.frame(of);
		this.draw();
	}

	frame(of) {
		this.from = 0;
		this.to = this.axis.size;
		if (of === null)
			return;
		const start = this.axis.place(of.offset), size = Math.max(STRIP_LEAST / 2, of.size);

		this.from = Math.max(0, start - size * 0.05);
		this.to = Math.min(this.axis.size, start + size * 1.05);
	}

	zoom(factor, at = (this.from + this.to) / 2) {
		const span = Math.max(Math.min(STRIP_LEAST, this.axis.size), Math.min(this.axis.size, (this.to - this.from) * factor));
		const share = (at - this.from) / (this.to - this.from);

		this.move2(at - span * share, span);
	}

	pan(share) {
		const span = this.to - this.from;

		this.move2(this.from + span * share, span);
	}

	move2(from, span) {
		this.from = Math.max(0, Math.min(this.axis.size - span, from));
		this.to = this.from + span;
		this.draw();
	}

	act(name) {
		if (name === 'in' || name === 'out')
			this.zoom(name === 'in' ? 0.5 : 2);
		else if (name === 'left' || name === 'right')
			this.pan(name === 'left' ? -0.25 : 0.25);
		else if (name === 'whole')
			this.move2(0, this.axis.size);
	}

	key(event) {
		const name = { '+': 'in', '=': 'in', '-': 'out', 0: 'whole', Home: 'whole', ArrowUp: 'in',
			ArrowDown: 'out', ArrowLeft: 'left', ArrowRight: 'right' }[event.key];

		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (event.key === 'Enter')
			this.openHottest();
		else if (name)
			this.act(name);
		else
			return;
		event.preventDefault();
	}

	isWhole() {
		return this.object === null || this.to - this.from >= this.axis.size;
	}

	wheel(event) {
		if (event.deltaY && !event.ctrlKey) {
			this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.pointed(event, this.canvas));
			event.preventDefault();
		}
	}

	// --- the pointer: a click opens, a drag chooses the window --------------------------------------

	pointed(event, canvas) {
		const box = canvas.getBoundingClientRect(), share = (event.clientX - box.left) / box.width;

		return canvas === this.whole ? share * this.axis.size : this.from + share * (this.to - this.from);
	}

	down(event, canvas) {
		this.drag = { x: event.clientX, from: this.pointed(event, canvas) };
		canvas.setPointerCapture(event.pointerId);
	}

	move(event, canvas) {
		const at = this.pointed(event, canvas);

		if (canvas === this.canvas)
			this.say(at);
		if (this.drag && Math.abs(event.clientX - this.drag.x) > 4) {
			this.drag.to = at;
			this.draw();
		}
	}

	up(event, canvas) {
		const drag = this.drag, at = this.pointed(event, canvas);

		this.drag = null;
		if (drag && drag.to !== undefined)
			this.move2(Math.min(drag.from, drag.to), Math.max(STRIP_LEAST, Math.abs(drag.to - drag.from)));
		else if (drag && canvas === this.whole)
			this.move2(at - (this.to - this.from) / 2, this.to - this.from);
		else if (drag)
			this.openAt(at);
	}

	cancel() {
		this.drag = null;
		this.draw();
	}

	openAt(place) {
		const bin = this.nearest(place), of = this.functionAt(place);

		if (of || bin)
			this.open(of ? of.id : bin.owner, true);
	}

	openHottest() {
		const sums = new Map();
		let best = null;

		for (const bin of this.inWindow()) {
			const ticks = (sums.get(bin.owner) || 0) + bin.ticks;

			sums.set(bin.owner, ticks);
			if (best === null || ticks > sums.get(best))
				best = bin.owner;
		}
		if (best !== null)
			this.open(best, false);
	}

	functionAt(place) {
		const offset = this.axis.offset(place);

		return this.functions.find((of) => offset >= of.offset && offset < of.offset + of.size);
	}

	// The hottest bin within three pixels.
	nearest(place) {
		const reach = 3 * (this.to - this.from) / (this.canvas.clientWidth || 1);

		return this.bins.filter((bin) => bin.from <= place + reach && bin.to >= place - reach)
			.reduce((best, bin) => (best && best.ticks >= bin.ticks ? best : bin), null);
	}

	inWindow() {
		return this.bins.filter((bin) => bin.from < this.to && bin.to > this.from);
	}

	// --- drawing ------------------------------------------------------------------------------------

	address(place) {
		return this.model.address(this.object, Math.floor(this.axis.offset(place)));
	}

	say(place) {
		const bin = place === null ? null : this.nearest(place), of = place === null ? null : this.functionAt(place);
		const words = [];

		if (place !== null)
			words.push(bin ? this.model.address(this.object, bin.offset) : this.address(place));
		if (of)
			words.push(short(of.name, 80));
		if (bin)
			words.push(bin.size > 1 ? `${ticksOf(bin.ticks)} in ${bytes(bin.size)}` : ticksOf(bin.ticks));
		byId('strip-status').textContent = words.join(' · ');
	}

	draw() {
		if (this.object === null || !this.canvas.clientWidth)
			return;
		this.colors = stripColors();
		byId('strip-range').dataset.bytes = Math.round(this.to - this.from);
		byId('strip-range').textContent = `${this.address(this.from)} – ${this.address(this.to)}, ${bytes(Math.round(this.to - this.from))}`;
		drawWhole(this);
		drawWindow(this);
	}
}
