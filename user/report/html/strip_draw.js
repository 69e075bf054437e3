// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The pixels of a strip.
'use strict';

// A canvas knows no style sheet: its colours are those that elements of the page have.
function stripColors() {
	const probe = make('i'), color = (name, property) => {
		probe.className = name;
		return getComputedStyle(probe)[property];
	};

	document.body.append(probe);
	const colors = {
		heat: Array.from({ length: HEAT_STEPS }, (_, i) => color(`h${i}`, 'backgroundColor')),
		text: color('', 'color'),
		line: color('rule', 'backgroundColor'),
		band: color('band', 'backgroundColor'),
		accent: color('accent', 'backgroundColor'),
		font: `11px ${getComputedStyle(document.body).fontFamily}`,
	};

	probe.remove();
	return colors;
}

// Ticks of each pixel column between two places; a bin that is wider is spread over what it covers.
function columnsOf(strip, from, to, width) {
	const columns = new Float64Array(width), scale = width / (to - from);

	for (const bin of strip.bins) {
		const start = (bin.from - from) * scale;
		const end = Math.max(start + 1, (bin.to - from) * scale);
		const first = Math.max(0, Math.floor(start)), last = Math.min(width, Math.ceil(end));

		for (let x = first; x < last; x++)
			columns[x] += bin.ticks * Math.max(0, Math.min(x + 1, end) - Math.max(x, start)) / (end - start);
	}
	return columns;
}

function extremes(columns) {
	let least = Infinity, most = 0;

	for (const value of columns)
		if (value) {
			least = Math.min(least, value);
			most = Math.max(most, value);
		}
	return { least, most };
}

function drawHeat(context, columns, colors, top, height) {
	const { least, most } = extremes(columns);

	for (let x = 0; x < columns.length; x++)
		if (columns[x]) {
			context.fillStyle = colors.heat[heat(columns[x], least, most)];
			context.fillRect(x, top, 1, height);
		}
}

function drawWhole(strip) {
	const height = 16, { context, width } = canvasOf(strip.whole, height);
	const { colors, axis } = strip, scale = width / axis.size;

	context.fillStyle = colors.band;
	context.fillRect(0, 0, width, height);
	drawHeat(context, columnsOf(strip, 0, axis.size, width), colors, 0, height);
	for (const piece of axis.pieces.slice(1)) {
		context.fillStyle = colors.line;
		context.fillRect(piece.at * scale, 0, 1, height);
	}
	if (strip.isWhole())
		return;
	context.strokeStyle = colors.accent;
	context.lineWidth = 2;
	context.strokeRect(strip.from * scale, 1, Math.max(3, (strip.to - strip.from) * scale), height - 2);
}

function drawNames(strip, context, width) {
	const { colors, axis, from, to } = strip, scale = width / (to - from);
	const top = STRIP_BARS + STRIP_HEAT + 2;
	let end = -Infinity;

	context.font = colors.font;
	context.textBaseline = 'middle';
	for (const of of strip.functions) {
		const x = Math.max(0, (axis.place(of.offset) - from) * scale);
		const w = Math.min(width, (axis.place(of.offset + of.size) - from) * scale) - x;

		if (w <= 0 || x >= width || x + w <= end)
			continue;
		end = x + w;
		context.fillStyle = of === strip.chosen ? colors.accent : colors.line;
		context.fillRect(x, top, Math.max(1, w - 1), STRIP_NAMES - 2);
		if (w < 30)
			continue;
		context.save();
		context.beginPath();
		context.rect(x, top, w - 4, STRIP_NAMES);
		context.clip();
		context.fillStyle = of === strip.chosen ? colors.band : colors.text;
		context.fillText(short(of.name, 80), x + 4, top + STRIP_NAMES / 2 - 1);
		context.restore();
	}
}

function drawWindow(strip) {
	const height = STRIP_BARS + STRIP_HEAT + STRIP_NAMES + 2;
	const { context, width } = canvasOf(strip.canvas, height);
	const { colors, from, to } = strip;
	const columns = columnsOf(strip, from, to, width), { most } = extremes(columns);

	context.fillStyle = colors.band;
	context.fillRect(0, STRIP_BARS, width, STRIP_HEAT);
	drawHeat(context, columns, colors, STRIP_BARS, STRIP_HEAT);
	context.fillStyle = colors.text;
	for (let x = 0; x < width; x++)
		if (columns[x]) {
			const bar = Math.max(1, columns[x] / most * (STRIP_BARS - 4));

			context.fillRect(x, STRIP_BARS - bar, 1, bar);
		}
	drawNames(strip, context, width);
	if (strip.drag && strip.drag.to !== undefined) {
		const at = (place) => (place - from) / (to - from) * width;

		context.globalAlpha = 0.2;
		context.fillStyle = colors.accent;
		context.fillRect(at(Math.min(strip.drag.from, strip.drag.to)), 0,
			Math.abs(at(strip.drag.to) - at(strip.drag.from)), height);
	}
}
