// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/top/screen.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/text.h"
#include "host/top/line.h"
#include "host/top/ui.h"

struct terminal {
	SCREEN *screen;
	int fd;
	attr_t looks[TOP_STYLES];
};

static void choose_looks(attr_t looks[TOP_STYLES])
{
	looks[TOP_BOLD] = A_BOLD;
	looks[TOP_DIM] = A_DIM;
	looks[TOP_HOT] = A_BOLD;
	looks[TOP_HEADING] = A_UNDERLINE;
	looks[TOP_SORTED] = A_UNDERLINE | A_BOLD;
	looks[TOP_SELECTED] = A_REVERSE;
	looks[TOP_NOTE] = A_BOLD;
}

static void choose_colors(attr_t looks[TOP_STYLES])
{
	enum { PAIR_HOT = 1, PAIR_WARM, PAIR_HEADING, PAIR_NOTE };

	if (start_color() == ERR || use_default_colors() == ERR || COLORS < 8)
		return;
	init_pair(PAIR_HOT, COLOR_RED, -1);
	init_pair(PAIR_WARM, COLOR_GREEN, -1);
	init_pair(PAIR_HEADING, COLOR_CYAN, -1);
	init_pair(PAIR_NOTE, COLOR_YELLOW, -1);
	looks[TOP_HOT] = A_BOLD | (attr_t)COLOR_PAIR(PAIR_HOT);
	looks[TOP_WARM] = (attr_t)COLOR_PAIR(PAIR_WARM);
	looks[TOP_HEADING] = A_UNDERLINE | (attr_t)COLOR_PAIR(PAIR_HEADING);
	looks[TOP_SORTED] = A_BOLD | looks[TOP_HEADING];
	looks[TOP_NOTE] = (attr_t)COLOR_PAIR(PAIR_NOTE);
}

/* Names are UTF-8 in every locale, but in others than UTF-8 ncurses would show single bytes. */
static void use_utf8(void)
{
	if (!strcmp(nl_langinfo(CODESET), "UTF-8"))
		return;
	text_draw_ascii();
	setlocale(LC_CTYPE, "C.UTF-8");
}

/* Without this capability the terminal is a printer, whatever its name. */
static bool has_cursor(void)
{
	const char *move_to = tigetstr("cup");

	return move_to && move_to != (const char *)-1;
}

int terminal_open(const char *type, FILE *out, FILE *in, bool color, struct terminal **result,
		  struct error *err)
{
	struct terminal *terminal = calloc(1, sizeof(*terminal));

	if (!terminal)
		return error_no_memory(err, "terminal");
	use_utf8();
	/* By default ncurses waits a second for the rest of a sequence that begins with Esc. */
	set_escdelay(50);
	terminal->screen = newterm(type, out, in);
	if (!terminal->screen || !has_cursor()) {
		terminal_close(terminal);
		return error_set(err, -ENOTTY, "terminal '%.64s': cannot be used", type);
	}
	terminal->fd = fileno(out);
	set_term(terminal->screen);
	choose_looks(terminal->looks);
	if (color)
		choose_colors(terminal->looks);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	*result = terminal;
	return 0;
}

void terminal_close(struct terminal *terminal)
{
	if (!terminal)
		return;
	if (terminal->screen) {
		endwin();
		delscreen(terminal->screen);
	}
	free(terminal);
}

void terminal_resized(struct terminal *terminal)
{
	struct winsize size;

	if (!ioctl(terminal->fd, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
}

void terminal_size(const struct terminal *terminal, size_t *rows, size_t *columns)
{
	(void)terminal;
	*rows = (size_t)getmaxy(stdscr);
	*columns = (size_t)getmaxx(stdscr);
}

static uint32_t translate(wint_t code)
{
	static const struct {
		wint_t code;
		uint32_t key;
	} keys[] = {
		{ KEY_UP, TOP_KEY_UP },		{ KEY_DOWN, TOP_KEY_DOWN },
		{ KEY_PPAGE, TOP_KEY_PAGE_UP }, { KEY_NPAGE, TOP_KEY_PAGE_DOWN },
		{ KEY_HOME, TOP_KEY_HOME },	{ KEY_END, TOP_KEY_END },
		{ KEY_BTAB, TOP_KEY_BACK_TAB }, { KEY_BACKSPACE, TOP_KEY_BACKSPACE },
		{ KEY_ENTER, TOP_KEY_ENTER },	{ KEY_F(1), TOP_KEY_HELP },
		{ KEY_F(10), TOP_KEY_QUIT },
	};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].code == code)
			return keys[i].key;
	return TOP_KEY_OTHER;
}

bool terminal_key(struct terminal *terminal, uint32_t *result)
{
	wint_t code;
	int kind = wget_wch(stdscr, &code);

	(void)terminal;
	if (kind == ERR)
		return false;
	if (kind == KEY_CODE_YES)
		*result = translate(code);
	else
		*result = code == '\r' ? TOP_KEY_ENTER : (uint32_t)code;
	return true;
}

/* Writes text of one style, or changes the style. Returns the rest. */
static const char *show_part(const struct terminal *terminal, const char *at)
{
	size_t length;

	if (*at < TOP_STYLES) {
		attrset((int)terminal->looks[(unsigned char)*at]);
		return at + 1;
	}
	length = strcspn(at, "\001\002\003\004\005\006\007\010\011\n");
	addnstr(at, (int)length);
	return at + length;
}

void terminal_show(struct terminal *terminal, const char *picture)
{
	int y = 0;

	erase();
	for (; *picture && y < getmaxy(stdscr); y++) {
		move(y, 0);
		attrset(A_NORMAL);
		while (*picture && *picture != '\n')
			picture = show_part(terminal, picture);
		picture += *picture == '\n';
	}
	refresh();
}
