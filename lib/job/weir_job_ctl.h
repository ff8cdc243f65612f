/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_JOB_CTL_H
#define WEIR_JOB_CTL_H

/**
 * @file
 * Jobs over the control socket.
 */

#ifdef __cplusplus
extern "C" {
#endif

struct weir_base_ctl;
struct weir_job_service;

/**
 * Offer a service's commands:
 *
 *  - "job/stats": counters, and histograms of slices, waits for a core, time on cores, and lives, in nanoseconds; "offload", "channels":
 *    counters of the process' pools of helper threads and channels. Read-only
 *  - "job/list": jobs that are alive: state, what they wait for, slices, cores, overruns; {"max": N}: so many at most (1,000);
 *    {"name": NAME}: those of that name. "left": how many more there are. Read-only
 *  - "job/cancel": {"job": HANDLE}, as "job/list" shows it: weir_job_cancel()
 *
 * @return 0; -EEXIST: another service has them; -EINVAL, -ENOMEM
 */
int weir_job_ctl_register(struct weir_job_service *service, struct weir_base_ctl *ctl);

/** Take the commands back; before the service is destroyed. */
void weir_job_ctl_unregister(struct weir_job_service *service, struct weir_base_ctl *ctl);

#ifdef __cplusplus
}
#endif

#endif
