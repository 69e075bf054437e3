// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Shares of a table that all users share. */
#include <criterion/criterion.h>

#include "shared/call_share.h"

/* What a user gets who takes as much as possible. */
static __u32 take_all(__u32 size, __u32 *taken)
{
	__u32 held = 0;

	while (call_share_acquire(&held, size, taken, size))
		;
	return held;
}

/* What an owner gets of a table of which a part is lent. */
static __u32 borrow_all(__u32 size, __u32 lent, __u32 reserve, __u32 *taken)
{
	__u32 held = 0;

	while (share_admits(size, lent, reserve, *taken, held, 1)) {
		held++;
		++*taken;
	}
	return held;
}

/* Whoever comes first has what is lent, and whoever comes late half of what is left besides the reserve. */
Test(call_share, lent)
{
	__u32 taken = 0;

	cr_expect_eq(borrow_all(13000, 6000, 1000, &taken), 6000);
	cr_expect_eq(borrow_all(13000, 6000, 1000, &taken), 3000);
	cr_expect_eq(borrow_all(13000, 6000, 1000, &taken), 1500);
	cr_expect(share_admits(13000, 6000, 1000, taken, 0, 1));
	cr_expect(!share_admits(13000, 6000, 1000, 13000, 0, 1));
}

Test(call_share, first_ones)
{
	__u32 taken = 0, size = 16384;

	/* Three eighths, because as much is left besides the reserves. */
	cr_expect_eq(take_all(size, &taken), size * 3 / 8);
	cr_expect_eq(take_all(size, &taken), size * 3 / 16);
	cr_expect_eq(take_all(size, &taken), size * 3 / 32);
}

/* If many users take all they get, the last one still gets something, and root an eighth. */
Test(call_share, many)
{
	static const __u32 sizes[] = { 256, 2048, 14336, 16384, 131072 };
	__u32 taken, held, users, i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		taken = 0;
		for (users = 0; users < 20; users++) {
			held = 0;
			while (held < sizes[i] / 16 &&
			       call_share_acquire(&held, ~0U - 1, &taken, sizes[i]))
				;
			cr_expect_gt(held, 0, "size %u, user %u", sizes[i], users);
		}
		cr_expect_leq(taken, sizes[i] - sizes[i] / 8);
	}
}

Test(call_share, limits)
{
	__u32 taken = 0, held = 0;

	cr_expect(call_share_acquire(&held, 1, &taken, 1000));
	cr_expect(!call_share_acquire(&held, 1, &taken, 1000));
	cr_expect_eq(held, 1);
	cr_expect_eq(taken, 1);
	/* Only root may use what all others leave. */
	taken = 900;
	cr_expect(!call_share_acquire(&held, 2, &taken, 1000));
	cr_expect(call_share_acquire(&held, CALL_NO_LIMIT, &taken, 1000));
	call_share_release(&held, &taken);
	cr_expect_eq(taken, 900);
	/* No sum may wrap around. */
	cr_expect(!call_share_admits(~0U, ~0U, ~0U, ~0U));
}

/* A table of a few elements goes to whoever comes first. */
Test(call_share, small)
{
	__u32 taken = 0, size = 4;

	cr_expect_eq(take_all(size, &taken), 2);
	cr_expect_eq(take_all(size, &taken), 1);
	cr_expect_eq(take_all(size, &taken), 1);
}
