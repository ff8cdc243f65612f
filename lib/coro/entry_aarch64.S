/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bottom of every coroutine's stack on AArch64; see entry_x86_64.S. x29 is what %rbp is there.
 */
#if defined(__aarch64__) && !defined(WEIR_CORO_FCONTEXT)
	.text
	.p2align 4
	.hidden	coro_entry
	.globl	coro_entry
	.type	coro_entry, %function
	.hidden	coro_main
	.hidden	coro_personality
coro_entry:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_personality 0x1b, coro_personality		/* pcrel, sdata4 */
	.cfi_escape 0x0f, 0x03, 0x8d, 0x00, 0x06	/* CFA: *(x29 + 0), the caller's stack pointer */
	.cfi_escape 0x10, 0x1d, 0x02, 0x8d, 0x08	/* x29: at x29 + 8 */
	.cfi_escape 0x10, 0x1e, 0x02, 0x8d, 0x10	/* x30, the return address: at x29 + 16 */
	hint	#36					/* bti j */
	bl	coro_main
	brk	#0
	.cfi_endproc
	.size	coro_entry, . - coro_entry
#endif
	.section .note.GNU-stack, "", %progbits
