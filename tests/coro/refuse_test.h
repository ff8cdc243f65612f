/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REFUSE_TEST_H
#define REFUSE_TEST_H

/* A kernel that does not do everything: for a process of its own, which has it so until its end. */

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <unistd.h>

#define CANNOT 77 /* exit code: not to be had here */

/* Let a system call with this second or third argument (0: any) fail from here on. */
static inline void
refuse(unsigned int call, unsigned int argument, unsigned int value)
{
	const unsigned int at = offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t);
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(CANNOT);
}

#endif
