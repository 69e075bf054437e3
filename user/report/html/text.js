// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Words and figures, and the elements they stand in.
'use strict';

// Names are other people's: what is invisible, or turns the text around, is shown as its number.
const UNSEEN = /[\u0000-\u001f\u007f-\u00a0\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]/g;

// What a cell shows of a name; a few are 64 KB long.
const NAME_MAX = 300;

function visible(text) {
	return text.replace(UNSEEN, (c) => {
		const code = c.charCodeAt(0).toString(16);
		return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
	});
}

function short(text, most = NAME_MAX) {
	return visible(text.length > most ? `${text.slice(0, most)}…` : text);
}

function basename(path) {
	const last = path.slice(path.lastIndexOf('/') + 1);
	return last || path;
}

const grouped = new Intl.NumberFormat('en-US');

function count(n) {
	return grouped.format(n);
}

// With waits, what is counted are nanoseconds.
let countsTime = false;

function setCountsTime(is) {
	countsTime = is;
}

function amountTitle() {
	return countsTime ? 'Seconds' : 'Ticks';
}

// The same without a unit, for a column.
function amount(n) {
	return countsTime ? (n / 1e9).toFixed(3) : count(n);
}

function ticksOf(n) {
	if (countsTime)
		return `${(n / 1e9).toFixed(3)} s`;
	return `${count(n)} ${n === 1 ? 'tick' : 'ticks'}`;
}

function percent(share) {
	return `${(100 * share).toFixed(2)}%`;
}

// base is hexadecimal, because it may have 64 bits.
function hex(base, offset) {
	return `0x${BigInt.asUintN(64, BigInt(base) + BigInt(offset)).toString(16)}`;
}

function bytes(n) {
	const units = ['bytes', 'KiB', 'MiB', 'GiB'];
	let unit = 0;

	while (n >= 10240 && unit < units.length - 1) {
		n /= 1024;
		unit++;
	}
	return `${count(Math.round(n))} ${n === 1 && !unit ? 'byte' : units[unit]}`;
}

function byId(id) {
	return document.getElementById(id);
}

// Data of the page, by their name; null: there are none.
function readJson(id) {
	const element = byId(id);
	return element ? JSON.parse(element.textContent) : null;
}

function make(tag, name, text) {
	const element = document.createElement(tag);

	if (name)
		element.className = name;
	if (text !== undefined)
		element.textContent = text;
	return element;
}

// Bins, cells and instructions alike: how hot beside the hottest, on a logarithmic scale, 0 to 7.
const HEAT_STEPS = 8;

function heat(value, least, most) {
	if (!(value > 0))
		return -1;
	if (!(most > least))
		return HEAT_STEPS - 1;
	const at = Math.log(value / least) / Math.log(most / least);
	return Math.max(0, Math.min(HEAT_STEPS - 1, Math.floor(at * HEAT_STEPS)));
}

// Buttons of which one is pressed. choose(key) is called when another one is.
function choice(box, words, current, choose) {
	box.replaceChildren(...words.map(([key, text]) => {
		const button = make('button', '', text);

		button.type = 'button';
		button.setAttribute('role', 'radio');
		button.setAttribute('aria-checked', String(key === current));
		button.dataset.key = key;
		button.addEventListener('click', () => choose(key));
		return button;
	}));
}

function canvasOf(canvas, height) {
	const scale = window.devicePixelRatio || 1, width = canvas.clientWidth;
	const context = canvas.getContext('2d');

	canvas.width = Math.round(width * scale);
	canvas.height = Math.round(height * scale);
	canvas.style.height = `${height}px`;
	context.scale(scale, scale);
	return { context, width };
}
