// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Light or dark: as the system has it, until the switch says otherwise.
'use strict';

const systemDark = matchMedia('(prefers-color-scheme: dark)');

function isDark() {
	const chosen = document.documentElement.dataset.theme;
	return chosen ? chosen === 'dark' : systemDark.matches;
}

// changed() is called when the colours are others.
function themeSwitch(changed) {
	const button = byId('theme');
	const show = () => {
		button.textContent = isDark() ? 'Light' : 'Dark';
		button.title = `${button.textContent} theme (t)`;
		changed();
	};

	button.addEventListener('click', () => {
		document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
		show();
	});
	systemDark.addEventListener('change', show);
	show();
}
