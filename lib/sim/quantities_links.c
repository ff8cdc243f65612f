/* SPDX-License-Identifier: BSD-3-Clause */
/* What a replication tells of links, of windows that are asked of them, and of functions that look at their frames. */
#include <math.h>

#include "quantities.h"

#define PS_PER_NS 1e3

#define LINK(name, expression) QUANTITY(link, sim_link, link, links, name, expression)
#define REQUEST(name, expression)                                                                  \
	QUANTITY(request, sim_request, request, requests, name, expression)
#define PROCESS(name, expression)                                                                  \
	QUANTITY(process, sim_follower, follower, followers, name, expression)

LINK(received, (double)link->received)
LINK(stored, (double)link->stored)
LINK(late, (double)link->late)
LINK(expired, (double)link->expired)
LINK(evicted, (double)link->evicted)
LINK(jumps, (double)link->jumps)
LINK(missing, (double)link->missing)
LINK(gap, (double)link->seen[WEIR_BASE_LINE_GAP])
LINK(repeated, (double)link->seen[WEIR_BASE_LINE_DUPLICATE])
LINK(reordered, (double)link->seen[WEIR_BASE_LINE_REORDERED])
LINK(sequence_jump, (double)link->seen[WEIR_BASE_LINE_SEQUENCE_JUMP])
LINK(early, (double)link->seen[WEIR_BASE_LINE_EARLY])
LINK(behind, (double)link->seen[WEIR_BASE_LINE_LATE])
LINK(timestamp_jump, (double)link->seen[WEIR_BASE_LINE_TIMESTAMP_JUMP])
LINK(wrong_size, (double)link->dropped[SIM_LINK_WRONG_SIZE])
LINK(duplicate, (double)link->dropped[SIM_LINK_DUPLICATE])
LINK(slot_taken, (double)link->dropped[SIM_LINK_SLOT_TAKEN])
LINK(too_late, (double)link->dropped[SIM_LINK_TOO_LATE])
LINK(far_off, (double)link->dropped[SIM_LINK_FAR_OFF])
LINK(no_memory, (double)link->dropped[SIM_LINK_NO_MEMORY])
LINK(processed, (double)link->dropped[SIM_LINK_PROCESSED])
LINK(buffered, (double)(link->buffered.value + (link->timed != NULL ? link->timed->nb_doubted : 0)))
LINK(buffered_mean, weir_sim_level_mean(&link->buffered, sim->now_ps - sim->window_ps))
LINK(buffered_max, (double)link->buffered.max)

const struct quantity sim_link_quantities[SIM_LINK_QUANTITIES] = {
	{"received_frames", link_received},
	{"stored_frames", link_stored},
	{"late_frames", link_late},
	{"expired_frames", link_expired},
	{"buffered_frames", link_buffered},
	{"buffered_mean", link_buffered_mean},
	{"buffered_max", link_buffered_max},
	{"evicted_frames", link_evicted},
	{"jumps", link_jumps},
	{"missing_frames", link_missing},
	{"fault_gap", link_gap},
	{"fault_duplicate", link_repeated},
	{"fault_reordered", link_reordered},
	{"fault_sequence_jump", link_sequence_jump},
	{"fault_early", link_early},
	{"fault_late", link_behind},
	{"fault_timestamp_jump", link_timestamp_jump},
	{"dropped_wrong_size", link_wrong_size},
	{"dropped_duplicate", link_duplicate},
	{"dropped_slot_taken", link_slot_taken},
	{"dropped_too_late", link_too_late},
	{"dropped_far_off", link_far_off},
	{"dropped_no_memory", link_no_memory},
	{"dropped_processed", link_processed},
};

REQUEST(windows, (double)request->windows)
REQUEST(skipped, (double)request->skipped)
REQUEST(restarts, (double)request->restarts)
REQUEST(asked, (double)request->asked)
REQUEST(complete, (double)request->answered[SIM_ANSWER_COMPLETE])
REQUEST(partial, (double)request->answered[SIM_ANSWER_PARTIAL])
REQUEST(too_old, (double)request->answered[SIM_ANSWER_TOO_OLD])
REQUEST(not_yet, (double)request->answered[SIM_ANSWER_NOT_YET])
REQUEST(timed_out, (double)request->answered[SIM_ANSWER_TIMED_OUT])
REQUEST(refused, (double)request->refused)
REQUEST(waiting, (double)request->waiting)
REQUEST(frames, (double)request->frames)
REQUEST(bytes, (double)request->bytes)
REQUEST(latency_mean,
	request->latency_ps.count > 0 ? weir_sim_tally_mean(&request->latency_ps) / PS_PER_NS : NAN)
REQUEST(latency_max,
	request->latency_ps.count > 0 ? (double)request->latency_ps.max / PS_PER_NS : NAN)

const struct quantity sim_request_quantities[SIM_REQUEST_QUANTITIES] = {
	{"windows", request_windows},
	{"asked_fragments", request_asked},
	{"complete", request_complete},
	{"partial", request_partial},
	{"too_old", request_too_old},
	{"not_yet", request_not_yet},
	{"timed_out", request_timed_out},
	{"refused", request_refused},
	{"waiting", request_waiting},
	{"frames", request_frames},
	{"bytes", request_bytes},
	{"skipped_windows", request_skipped},
	{"restarts", request_restarts},
	{"latency_mean_ns", request_latency_mean},
	{"latency_max_ns", request_latency_max},
};

PROCESS(received, (double)follower->received)
PROCESS(passed, (double)follower->passed)
PROCESS(dropped, (double)follower->dropped)
PROCESS(missed, (double)follower->missed)
PROCESS(waiting, (double)follower->waiting.value)
PROCESS(waiting_mean, weir_sim_level_mean(&follower->waiting, sim->now_ps - sim->window_ps))
PROCESS(waiting_max, (double)follower->waiting.max)
PROCESS(jobs_full, (double)follower->jobs_full)
PROCESS(inside, (double)follower->inside)
PROCESS(jobs, (double)follower->jobs)

const struct quantity sim_process_quantities[SIM_PROCESS_QUANTITIES] = {
	{"received", process_received},
	{"passed", process_passed},
	{"dropped", process_dropped},
	{"missed", process_missed},
	{"waiting", process_waiting},
	{"waiting_mean", process_waiting_mean},
	{"waiting_max", process_waiting_max},
	{"jobs_full", process_jobs_full},
	{"inside", process_inside},
	{"jobs", process_jobs},
};
