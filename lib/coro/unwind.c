/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where unwinding ends. Backtraces go on from the bottom of a coroutine's stack to who resumed it, and so
 * would an exception that nobody caught: into frames that know nothing of it, while the coroutine counts as running
 * for good. So coro_entry() has a personality routine, which unwinders ask and debuggers do not.
 *
 * An exception is refused while a handler is still looked for: then nothing has been unwound yet, and
 * std::terminate() is called where it was thrown, so that the backtrace shows it. Forced unwinding, of a thread that is
 * cancelled or calls pthread_exit(), does not look for any.
 */

#include <stdlib.h>
#include <unwind.h>

#include "coro_private.h"

_Unwind_Reason_Code coro_personality(int version, _Unwind_Action actions,
	_Unwind_Exception_Class class, struct _Unwind_Exception *exception,
	struct _Unwind_Context *context);

void
coro_thread_ends(void)
{
	CORO_LOG(ERROR,
		"coroutine %u: its thread is cancelled, or ends by pthread_exit(), while it runs: "
		"the process ends",
		weir_coro_self_id());
	abort();
}

_Unwind_Reason_Code
coro_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
	struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	if ((actions & _UA_FORCE_UNWIND) != 0)
		coro_thread_ends();
	CORO_LOG(ERROR, "coroutine %u: an exception leaves the function that it runs",
		weir_coro_self_id());
	return _URC_FATAL_PHASE1_ERROR;
}
