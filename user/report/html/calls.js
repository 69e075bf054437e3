// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Who called whom: contexts of frames, and the trees that are drawn of them.
'use strict';

const FOLD_PERIOD = 8; // frames that take turns in a recursion which is folded

// Frames below frames. A node has sums of its own while the tree is made, and then those of all below too.
class CallTree {
	constructor(nrSums, fold) {
		this.parent = [0];
		this.frame = [-1];
		this.sums = Array.from({ length: nrSums }, () => [0]);
		this.children = [null];
		this.times = [1]; // how often a recursion came there that is folded
		this.fold = fold;
	}

	// period: how many frames up the recursion went that is folded here; 0: none
	enter(node, frame) {
		this.period = this.fold ? this.repeats(node, frame) : 0;
		for (let up = 1; up < this.period; up++)
			node = this.parent[node];
		return this.period ? node : this.child(node, frame);
	}

	child(node, frame) {
		const children = this.children[node] || (this.children[node] = new Map());
		let child = children.get(frame);

		if (child === undefined) {
			child = this.parent.length;
			children.set(frame, child);
			this.parent.push(node);
			this.frame.push(frame);
			this.children.push(null);
			for (const sum of this.sums)
				sum.push(0);
		}
		return child;
	}

	// f, g, f and now g: the same two again. Every frame of the longer way is on the shorter one too, so
	// inclusive sums of functions stay the same.
	repeats(node, frame) {
		const last = [frame];

		for (let at = node; at && last.length <= 2 * FOLD_PERIOD; at = this.parent[at])
			last.push(this.frame[at]);
		for (let period = 1; 2 * period <= last.length; period++) {
			let same = 0;

			while (same < period && last[same] === last[same + period])
				same++;
			if (same === period)
				return period;
		}
		return 0;
	}

	add(node, own, context) {
		this.sums.forEach((sum, i) => {
			sum[node] += own[i][context];
		});
	}

	// width(sums, node): how wide it is drawn
	finish(width) {
		const nr = this.parent.length;

		this.children = null;
		this.self = Float64Array.from(this.sums[0]);
		for (const sum of this.sums)
			for (let node = nr - 1; node > 0; node--)
				sum[this.parent[node]] += sum[node];
		this.width = Float64Array.from(this.parent, (_, node) => width(this.sums, node));
		this.layOut(nr);
		return this;
	}

	// Children stand below their parent from its left edge on, the widest first. order is from the top down,
	// each node before its subtree, which is `size` long; levels have the nodes of each depth from the left.
	layOut(nr) {
		const { parent, width } = this, first = new Int32Array(nr + 1), next = new Int32Array(nr);
		const narrowest = Int32Array.from({ length: nr - 1 }, (_, i) => i + 1).sort((a, b) => width[a] - width[b] || b - a);

		this.start = new Float64Array(nr);
		this.depth = new Int32Array(nr);
		this.size = new Int32Array(nr).fill(1);
		this.order = new Int32Array(nr);
		this.levels = [];
		for (const node of narrowest) {
			next[node] = first[parent[node]];
			first[parent[node]] = node;
		}
		for (let at = 0, node = 0; at < nr; at++) {
			let x = this.start[node];

			this.order[at] = node;
			(this.levels[this.depth[node]] ||= []).push(node);
			for (let child = first[node]; child; child = next[child]) {
				this.start[child] = x;
				this.depth[child] = this.depth[node] + 1;
				x += width[child];
			}
			if (first[node]) {
				node = first[node];
				continue;
			}
			while (node && !next[node])
				node = parent[node];
			node = next[node];
		}
		for (let node = nr - 1; node > 0; node--)
			this.size[parent[node]] += this.size[node];
	}

	widest(node) {
		const below = this.levels[this.depth[node] + 1] || [];
		const at = firstOf(below.length, (i) => this.start[below[i]] >= this.start[node]);

		return at < below.length && this.parent[below[at]] === node ? below[at] : node;
	}

	// Of each frame, what is in it and below: a recursive function's outermost call counts.
	inclusive(nrFrames) {
		const sums = this.sums.map(() => new Float64Array(nrFrames)), on = new Int32Array(nrFrames), way = [];

		for (const node of this.order.subarray(1)) {
			while (way.length >= this.depth[node])
				on[this.frame[way.pop()]]--;
			way.push(node);
			if (!on[this.frame[node]]++)
				sums.forEach((sum, i) => {
					sum[this.frame[node]] += this.sums[i][node];
				});
		}
		return sums;
	}

	// What is in frames that match, and below them: how many there are, and how wide they are together.
	matched(matches) {
		let nr = 0, width = 0;

		for (let at = 1; at < this.order.length;) {
			const node = this.order[at];

			if (matches[this.frame[node]]) {
				nr++;
				width += this.width[node];
				at += this.size[node];
			} else {
				at++;
			}
		}
		return { nr, width };
	}
}

// The first number below nr for which it holds; it holds for all after it too.
function firstOf(nr, holds) {
	let low = 0, high = nr;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (holds(middle))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

class Calls {
	// texts: the frame of each text. Those of words come after them: there are nrFrames of text.
	constructor({ contexts, words }, texts, nrFrames) {
		const nr = contexts.length / 2 + 1;

		this.nr = nr;
		this.nrFrames = nrFrames + words.length;
		this.parent = new Int32Array(nr);
		this.frame = new Int32Array(nr).fill(-1);
		for (let i = 1; i < nr; i++) {
			const frame = contexts[2 * i - 1];

			this.parent[i] = i - contexts[2 * i - 2];
			this.frame[i] = frame < words.length ? nrFrames + frame : texts[frame - words.length];
		}
	}

	// Ticks and time of each context, of some histograms' chains.
	own(histograms) {
		const ticks = new Float64Array(this.nr), time = new Float64Array(this.nr);

		for (const chains of histograms)
			Calls.each(chains, (context, n, ns) => {
				ticks[context] += n;
				time[context] += ns;
			});
		return [ticks, time];
	}

	// visit(context, ticks, time)
	static each(chains, visit) {
		for (let i = 1, context = 0; i < chains.length; i += 2) {
			context += chains[i];
			visit(context, chains[i + 1], chains[i + 1] * chains[0]);
		}
	}

	// The chains of groups, each below some frames: contexts, and what is in them. Entries are of a context, its
	// ticks and time, one after the other.
	below(groups) {
		const parent = [0], frame = [-1], sums = [[0], [0]], firsts = new Map();
		const node = new Int32Array(this.nr), group = new Int32Array(this.nr); // the last one that has it, and its node there
		let number = 0;

		const add = (above, of) => {
			sums.forEach((sum) => sum.push(0));
			frame.push(of);
			return parent.push(above) - 1;
		};
		const first = (above, of) => {
			const key = `${above} ${of}`;

			if (!firsts.has(key))
				firsts.set(key, add(above, of));
			return firsts.get(key);
		};

		for (const { firsts: above, entries } of groups) {
			const has = [], top = above.reduce(first, 0);

			number++;
			for (let i = 0; i < entries.length; i += 3)
				for (let at = entries[i]; at && group[at] !== number; at = this.parent[at]) {
					group[at] = number;
					has.push(at);
				}
			for (const at of Int32Array.from(has).sort())
				node[at] = add(this.parent[at] ? node[this.parent[at]] : top, this.frame[at]);
			for (let i = 0; i < entries.length; i++)
				if (i % 3)
					sums[i % 3 - 1][node[entries[i - i % 3]]] += entries[i];
		}
		return { calls: Object.assign(Object.create(Calls.prototype), this, { nr: parent.length, parent, frame }),
			own: sums.map((sum) => Float64Array.from(sum)) };
	}

	// The contexts of two in one, and the ticks and time that each of them has there.
	static join(sides) {
		const tree = new CallTree(2 * sides.length, false);

		sides.forEach(([calls, own], side) => {
			const nodes = new Int32Array(calls.nr);

			for (let i = 1; i < calls.nr; i++) {
				nodes[i] = tree.child(nodes[calls.parent[i]], calls.frame[i]);
				own.forEach((sums, k) => {
					tree.sums[2 * side + k][nodes[i]] += sums[i];
				});
			}
		});
		return [Object.assign(Object.create(Calls.prototype), sides[0][0], { nr: tree.parent.length, parent: tree.parent, frame: tree.frame }), tree.sums];
	}

	// The same with all below.
	include(own) {
		return own.map((sums) => {
			const all = Float64Array.from(sums);

			for (let i = this.nr - 1; i > 0; i--)
				all[this.parent[i]] += all[i];
			return all;
		});
	}

	// All from the first frames on, or what one function called: what a recursive one did is what its innermost
	// call did.
	tree(own, fold, width, of = null) {
		const tree = new CallTree(own.length, fold), nodes = new Int32Array(this.nr).fill(of === null ? 0 : -1), all = this.include(own);
		const times = new Int32Array(this.nr).fill(1); // that the recursion came to its node

		for (let i = 1; i < this.nr; i++) {
			const above = nodes[this.parent[i]];
			let last = i;

			if (this.frame[i] === of)
				nodes[i] = 0;
			if (this.frame[i] !== of && above >= 0 && all.some((sums) => sums[i])) {
				nodes[i] = tree.enter(above, this.frame[i]);
				for (let up = 0; up < tree.period; up++)
					last = this.parent[last];
				times[i] = tree.period ? times[last] + 1 : 1;
				tree.times[nodes[i]] = Math.max(tree.times[nodes[i]] || 1, times[i]);
			}
			if (nodes[i] >= 0)
				tree.add(nodes[i], own, i);
		}
		return tree.finish(width);
	}

	// Who called a function, and a recursive one's outermost call: callers are below what they called.
	callers(of, own, fold, width) {
		const tree = new CallTree(own.length, fold), within = new Uint8Array(this.nr), all = this.include(own);

		for (let i = 1; i < this.nr; i++) {
			within[i] = within[this.parent[i]] || Number(this.frame[i] === of);
			if (this.frame[i] !== of || within[this.parent[i]])
				continue;
			const times = new Map();
			let node = 0;

			for (let at = this.parent[i]; at; at = this.parent[at]) {
				node = tree.enter(node, this.frame[at]);
				times.set(node, tree.period ? times.get(node) + 1 : 1);
				tree.times[node] = Math.max(tree.times[node] || 1, times.get(node));
			}
			tree.add(node, all, i);
		}
		return tree.finish(width);
	}
}
