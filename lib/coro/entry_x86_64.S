/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bottom of every coroutine's stack on x86-64: calls what a coroutine does, which never returns.
 *
 * The frame pointer, %rbp, is that of struct weir_coro_context of who resumed the coroutine: stack pointer, frame pointer,
 * where it goes on. The unwind information finds the caller's frame through it, so a backtrace goes on on
 * the resumer's stack. It is marked as a signal frame: debuggers expect those to change stacks, and
 * the address found to be the next instruction rather than one behind a call. Exceptions go no further: see unwind.c.
 */
#if defined(__x86_64__) && !defined(WEIR_CORO_FCONTEXT)
	.text
	.p2align 4
	.hidden	coro_entry
	.globl	coro_entry
	.type	coro_entry, @function
	.hidden	coro_main
	.hidden	coro_personality
coro_entry:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_personality 0x1b, coro_personality		/* pcrel, sdata4 */
	.cfi_escape 0x0f, 0x03, 0x76, 0x00, 0x06	/* CFA: *(rbp + 0), the caller's stack pointer */
	.cfi_escape 0x10, 0x06, 0x02, 0x76, 0x08	/* rbp: at rbp + 8 */
	.cfi_escape 0x10, 0x10, 0x02, 0x76, 0x10	/* return address: at rbp + 16 */
	endbr64
	call	coro_main
	ud2
	.cfi_endproc
	.size	coro_entry, . - coro_entry
#endif
	.section .note.GNU-stack, "", @progbits
