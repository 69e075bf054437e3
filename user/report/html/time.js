// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Functions over time, of profiles that were added up: a row for each, a column for each file.
'use strict';

const TIME_ROW = 18; // px
const TIME_RANGE = 16; // of all together: the busiest file beside the palest colour's

class TimeMap {
	// open(functionId)
	constructor(model, { open }) {
		this.model = model;
		this.box = byId('time');
		this.parts = model.profile.timeline ? model.profile.timeline.parts : [];
		this.rows = [{ id: -1, name: 'all', ns: this.parts.map(([, , , ns]) => ns) },
			...(model.profile.timeline ? model.profile.timeline.functions : [])
				.map(([id, ns]) => ({ id, name: this.name(id), ns }))];
		this.edges = this.measure();
		this.scale();
		byId('time-rows').append(...this.rows.map((row) => this.line(row, open)));
		if (this.parts.length) {
			byId('time-first').textContent = TimeMap.clock(this.parts[0][0]);
			byId('time-last').textContent = TimeMap.clock(this.parts[this.parts.length - 1][0]);
		}
		byId('time-rows').addEventListener('pointermove', (event) => this.say(event));
		byId('time-rows').addEventListener('pointerleave', () => this.say(null));
		new ResizeObserver(() => this.draw()).observe(this.box);
	}

	// Functions of one name in several objects are told apart by these.
	name(id) {
		const { name, object } = this.model.functions[id], { functions } = this.model.profile.timeline;
		const alone = functions.every(([other]) => other === id || this.model.functions[other].name !== name);

		return alone ? name : `${name} ${basename(this.model.objects[object].path)}`;
	}

	static clock(started) {
		return visible(started.replace('T', ' ').replace(/\.\d+/, ''));
	}

	// Where each file begins, from 0 to 1, and where the last one ends.
	measure() {
		const whole = this.parts.reduce((sum, [, duration]) => sum + (duration || 1), 0), edges = [0];

		for (const [, duration] of this.parts)
			edges.push(edges[edges.length - 1] + (duration || 1) / whole);
		return edges;
	}

	// CPUs that a row kept busy in a file's time.
	busy(row, i) {
		return this.parts[i][1] ? row.ns[i] / this.parts[i][1] : 0;
	}

	scale() {
		const values = this.rows.slice(1).flatMap((row) => row.ns.map((_, i) => this.busy(row, i))).filter((value) => value > 0);

		this.least = values.reduce((a, b) => Math.min(a, b), Infinity);
		this.most = values.reduce((a, b) => Math.max(a, b), 0);
	}

	line(row, open) {
		const line = make('button', row.id < 0 ? 'time-all' : ''), name = make('span', 'name', short(row.name) || '""');

		line.type = 'button';
		row.canvas = make('canvas');
		row.line = line;
		line.dataset.function = row.id;
		line.append(name, row.canvas);
		line.title = short(row.name, 1000);
		if (row.id >= 0)
			line.addEventListener('click', () => open(row.id));
		return line;
	}

	show({ shown, matches, chosen }) {
		this.box.hidden = !shown;
		for (const row of this.rows) {
			const of = this.model.functions[row.id];

			row.line.classList.toggle('faded', Boolean(of) && !matches({ of }));
			row.line.classList.toggle('chosen', row.id === chosen);
		}
		this.draw();
	}

	draw() {
		if (this.box.hidden || !this.box.clientWidth)
			return;
		const colors = stripColors();

		for (const row of this.rows)
			this.drawRow(row, colors);
	}

	// A file is as wide as its time; where that is less than a pixel, the hottest of each pixel's.
	drawRow(row, colors) {
		const { context, width } = canvasOf(row.canvas, TIME_ROW), nr = this.parts.length;
		const top = row.ns.reduce((a, _, i) => Math.max(a, this.busy(row, i)), 0);
		const [least, most] = row.id < 0 ? [top / TIME_RANGE, top] : [this.least, this.most];

		context.fillStyle = colors.band;
		context.fillRect(0, 0, width, TIME_ROW);
		for (let i = 0; i < nr;) {
			const from = this.edges[i] * width;
			let value = 0, wide = 0;

			for (; i < nr && wide < 1; i++) {
				value = Math.max(value, this.busy(row, i));
				wide = this.edges[i + 1] * width - from;
			}
			if (value > 0) {
				context.fillStyle = colors.heat[heat(value, least, most)];
				context.fillRect(from, 1, Math.max(1, wide - (wide > 4 ? 1 : 0)), TIME_ROW - 2);
			}
		}
	}

	say(event) {
		const line = event?.target.closest('button[data-function]'), status = byId('time-status');

		if (!line || event.target.tagName !== 'CANVAS') {
			status.textContent = '';
			return;
		}
		const row = this.rows.find((of) => of.line === line), box = row.canvas.getBoundingClientRect();
		const i = Math.max(0, this.edges.slice(0, -1).filter((edge) => edge <= (event.clientX - box.left) / box.width).length - 1);
		const [started, duration, , ns] = this.parts[i];

		status.textContent = `${TimeMap.clock(started)}, ${(duration / 1e9).toFixed(1)} s: ${short(row.name, 60)} ${(row.ns[i] / 1e9).toFixed(3)} s${row.id < 0 ? '' : `, ${percent(ns ? row.ns[i] / ns : 0)}`}`;
	}
}
