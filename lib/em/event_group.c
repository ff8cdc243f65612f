/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Event groups: the words of event_group_state.h, their handles, and what is sent at the end.
 *
 * What events carry is no handle: it has the number of the group, and that of the cycle, see tag_of().
 */

#include <stdlib.h>

#include "check.h"

#include "event_group_state.h"

#define TAG_SHIFT 24

/* Each core's own, and one by atomic instructions, for who has none. */
struct counters {
	uint64_t nb_applied, nb_completed, nb_aborted, nb_events, nb_stale, nb_excess,
		nb_notifications, nb_undeliverable;
} EM_LINE;

struct event_groups {
	struct event_group *groups;
	struct counters *counters; /* nb_counters */
	unsigned int nb_counters;
	struct em_numbers numbers; /* under em->lock */
};

static struct event_groups *
groups_of(const struct weir_em *em)
{
	return em != NULL
		       ? (struct event_groups *)__atomic_load_n(&em->event_groups, __ATOMIC_ACQUIRE)
		       : NULL;
}

static struct counters *
counters_of(const struct event_groups *groups, const struct weir_em_core *core)
{
	return &groups->counters[core != NULL ? core->id : groups->nb_counters - 1];
}

static void
count(const struct weir_em_core *core, uint64_t *counter, uint64_t nb)
{
	if (core != NULL)
		em_count(counter, nb);
	else
		em_add(counter, nb);
}

/* Never 0, which is no group. */
static uint64_t
tag_of(weir_em_event_group handle, uint64_t cycle)
{
	return cycle << TAG_SHIFT | (em_handle_number(handle) + 1);
}

/* NULL: there never was one. */
static struct event_group *
group_of_tag(const struct event_groups *groups, uint64_t tag)
{
	uint32_t number = em_handle_number(tag) - 1;

	return groups != NULL && number < groups->numbers.nb ? &groups->groups[number] : NULL;
}

/* Where a group of this handle is, or was; NULL with *error. */
static struct event_group *
group_of(const struct weir_em *em, weir_em_event_group handle, int *error)
{
	struct event_groups *groups = groups_of(em);

	*error = -EINVAL;
	if (groups != NULL)
		*error = em_handle_errno(handle, EM_KIND_EVENT_GROUP, groups->numbers.nb);
	return *error == -ESTALE ? &groups->groups[em_handle_number(handle)] : NULL;
}

/* ---- the end of a cycle ---- */

static void
send_notifications(struct weir_em *em, struct weir_em_core *core, struct event_group_end *end)
{
	struct counters *counters = counters_of(groups_of(em), core);

	count(core, &counters->nb_completed, 1);
	for (uint32_t i = 0; i < end->nb; i++) {
		struct weir_em_notification *notification = &end->notifications[i];

		if (em_send_reserved(em, notification->queue, &notification->event) == 0) {
			count(core, &counters->nb_notifications, 1);
			continue;
		}
		weir_sched_unreserve(em->sched, 1);
		count(core, &counters->nb_undeliverable, 1);
		em_drop_unsent(
			em, core, notification->queue, &notification->event, WEIR_EM_DROP_DELETED);
	}
}

/* weir_em::group_processed */
static void
processed(struct weir_em *em, struct weir_em_core *core, uint64_t tag, uint32_t nb)
{
	struct event_groups *groups = groups_of(em);
	struct counters *counters = counters_of(groups, core);
	struct event_group *group = group_of_tag(groups, tag);
	struct event_group_end end = {0};
	int rc;

	if (group == NULL)
		return;
	rc = event_group_processed(group, tag >> TAG_SHIFT, nb, &end);
	if (rc == -ESTALE)
		count(core, &counters->nb_stale, nb);
	else
		count(core, &counters->nb_excess, nb - end.nb_counted);
	count(core, &counters->nb_events, end.nb_counted);
	if (rc == 1)
		send_notifications(em, core, &end);
}

/* ---- groups come and go ---- */

static void
groups_free(struct event_groups *groups)
{
	if (groups == NULL)
		return;
	em_numbers_fini(&groups->numbers);
	free(groups->counters);
	free(groups->groups);
	free(groups);
}

/* They are the application's again. */
static void
give_up(const struct weir_em *em, const struct weir_em_notification *notifications, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++)
		em_check_own_events(em, &notifications[i].event, 1);
}

/* They belong to the group, and are in none. @return 0; -EFAULT: not all were the caller's, so they stay as they were */
static int
keep(struct weir_em *em, const struct weir_em_notification *notifications, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++) {
		int rc = em_keep(em, NULL, notifications[i].queue, &notifications[i].event,
			"weir_em_event_group_apply");

		if (rc < 0) {
			give_up(em, notifications, i);
			return rc;
		}
	}
	return 0;
}

static void
hand_back(struct weir_em *em, struct weir_em_notification *notification)
{
	if (em->drain != NULL)
		em->drain(em->drain_arg, notification->queue, &notification->event);
	else
		em_event_free(em, NULL, &notification->event);
}

/* The instance ends: what has not been sent is handed back. */
static void
groups_fini(struct weir_em *em)
{
	struct event_groups *groups = em->event_groups;
	struct event_group_end end;

	for (uint32_t i = 0; i < groups->numbers.nb; i++) {
		struct event_group *group = &groups->groups[i];

		if (group->handle == 0 ||
			event_group_abort(group, group->handle, UINT32_MAX, &end) < 0)
			continue;
		em_add(&counters_of(groups, NULL)->nb_aborted, 1);
		give_up(em, end.notifications, end.nb);
		for (uint32_t j = 0; j < end.nb; j++)
			hand_back(em, &end.notifications[j]);
	}
	groups_free(groups);
	em->event_groups = NULL;
}

static struct event_groups *
groups_make(const struct weir_em *em)
{
	uint32_t nb = em->config.nb_event_groups;
	struct event_groups *groups = calloc(1, sizeof(*groups));
	void *memory = NULL;

	if (groups == NULL)
		return NULL;
	groups->nb_counters = em->nb_ports + 1;
	if (posix_memalign(&memory, 64, nb * sizeof(*groups->groups)) == 0)
		groups->groups = memset(memory, 0, nb * sizeof(*groups->groups));
	if (posix_memalign(&memory, 64, groups->nb_counters * sizeof(*groups->counters)) == 0)
		groups->counters =
			memset(memory, 0, groups->nb_counters * sizeof(*groups->counters));
	if (em_numbers_init(&groups->numbers, EM_KIND_EVENT_GROUP, nb, em->instance) == 0 &&
		groups->groups != NULL && groups->counters != NULL)
		return groups;
	groups_free(groups);
	return NULL;
}

/* Under the lock: an instance has no memory for groups before there is one. */
static struct event_groups *
groups_get(struct weir_em *em)
{
	struct event_groups *groups = em->event_groups;

	if (groups != NULL)
		return groups;
	groups = groups_make(em);
	if (groups == NULL)
		return NULL;
	em->group_processed = processed;
	em->event_groups_fini = groups_fini;
	__atomic_store_n(&em->event_groups, groups, __ATOMIC_RELEASE);
	__atomic_store_n(&em->uses_groups, true, __ATOMIC_RELEASE);
	return groups;
}

weir_em_event_group
weir_em_event_group_create(struct weir_em *em)
{
	struct event_groups *groups;
	uint64_t handle = 0;

	if (em == NULL)
		return em_fail(EINVAL);
	em_lock(em);
	groups = groups_get(em);
	if (groups != NULL)
		handle = em_numbers_get(&groups->numbers);
	if (handle != 0) {
		struct event_group *group = &groups->groups[em_handle_number(handle)];

		/* left behind by weir_em_event_group_delete() with others kept away */
		event_group_publish(group, event_group_cycle(group->word), 0);
		__atomic_store_n(&group->handle, handle, __ATOMIC_RELEASE);
	}
	em_unlock(em);
	if (groups == NULL)
		return em_fail(ENOMEM);
	return handle != 0 ? handle : em_fail(ENOSPC);
}

int
weir_em_event_group_delete(struct weir_em *em, weir_em_event_group handle)
{
	struct event_group *group;
	uint64_t cycle;
	int rc;

	group = group_of(em, handle, &rc);
	if (group == NULL)
		return rc;
	rc = event_group_claim(group, handle, &cycle);
	if (rc < 0)
		return rc;
	__atomic_store_n(&group->handle, 0, __ATOMIC_RELEASE);
	em_lock(em);
	em_numbers_put(&groups_of(em)->numbers, em_handle_number(handle));
	em_unlock(em);
	return 0;
}

static int
check_notifications(
	struct weir_em *em, const struct weir_em_notification *notifications, unsigned int nb)
{
	if (nb > WEIR_EM_NOTIFICATIONS_MAX || (nb > 0 && notifications == NULL))
		return -EINVAL;
	for (unsigned int i = 0; i < nb; i++) {
		struct weir_em_queue_info info;
		int rc = weir_em_queue_info(em, notifications[i].queue, &info);

		if (rc < 0)
			return rc;
		if (info.type > WEIR_EM_QUEUE_ORDERED)
			return -ENOTSUP;
	}
	return 0;
}

int
weir_em_event_group_apply(struct weir_em *em, weir_em_event_group handle, uint32_t nb_events,
	const struct weir_em_notification *notifications, unsigned int nb)
{
	struct event_group *group;
	uint32_t granted;
	int rc;

	group = group_of(em, handle, &rc);
	if (group == NULL)
		return rc;
	if (nb_events < 1 || nb_events > WEIR_EM_EVENT_GROUP_COUNT_MAX)
		return -EINVAL;
	rc = check_notifications(em, notifications, nb);
	if (rc == 0)
		rc = keep(em, notifications, nb);
	if (rc < 0)
		return rc;
	granted = nb > 0 ? weir_sched_reserve(em->sched, nb) : 0;
	rc = granted == nb ? event_group_apply(group, handle, nb_events, notifications, nb)
			   : -ENOSPC;
	if (rc < 0) {
		give_up(em, notifications, nb);
		weir_sched_unreserve(em->sched, granted);
	}
	if (rc == 0)
		em_add(&counters_of(groups_of(em), NULL)->nb_applied, 1);
	return rc;
}

int
weir_em_event_group_abort(struct weir_em *em, weir_em_event_group handle,
	struct weir_em_notification *notifications, unsigned int room, unsigned int *nb)
{
	struct event_group *group;
	struct event_group_end end = {0};
	int rc;

	group = group_of(em, handle, &rc);
	if (group == NULL)
		return rc;
	rc = event_group_abort(group, handle, notifications != NULL ? room : UINT32_MAX, &end);
	if (rc < 0)
		return rc;
	weir_sched_unreserve(em->sched, end.nb);
	give_up(em, end.notifications, end.nb);
	for (uint32_t i = 0; i < end.nb; i++)
		if (notifications != NULL)
			notifications[i] = end.notifications[i];
		else
			em_event_free(em, NULL, &end.notifications[i].event);
	if (nb != NULL)
		*nb = end.nb;
	em_add(&counters_of(groups_of(em), NULL)->nb_aborted, 1);
	return 0;
}

/* ---- events ---- */

/* Who takes events out of a ring, or is an output function, does not tell when an event has been processed. */
static bool
counts(const struct weir_em *em, weir_em_queue handle)
{
	const struct em_queue *queue = em_queue_at(em, handle);
	uint8_t type;

	if (queue == NULL || !em_queue_is(queue, handle))
		return true; /* who sends finds that there is none */
	type = __atomic_load_n(&queue->type, __ATOMIC_RELAXED); /* it may be another one's by now */
	return type != WEIR_EM_QUEUE_UNSCHEDULED && type != WEIR_EM_QUEUE_OUTPUT;
}

/* The tag for events that are to count now; 0 with *error. */
static uint64_t
current_tag(const struct weir_em *em, weir_em_event_group handle, int *error)
{
	struct event_group *group = group_of(em, handle, error);
	uint64_t cycle;

	if (group == NULL)
		return 0;
	*error = event_group_running(group, handle, &cycle);
	return *error == 0 ? tag_of(handle, cycle) : 0;
}

/* What events to a queue are tagged with; 0 with rte_errno: they cannot be. */
static uint64_t
tag_for(struct weir_em_core *core, weir_em_queue queue, weir_em_event_group group)
{
	int rc = -EINVAL;
	uint64_t tag = core != NULL ? current_tag(core->em, group, &rc) : 0;

	if (tag != 0 && !counts(core->em, queue)) {
		tag = 0;
		rc = -ENOTSUP;
	}
	if (tag == 0)
		rte_errno = -rc;
	return tag;
}

uint16_t
weir_em_event_group_send(struct weir_em_core *core, weir_em_queue queue, struct rte_event *events,
	uint16_t nb, weir_em_event_group group)
{
	uint64_t tag = tag_for(core, queue, group);

	return tag != 0 ? em_send(core, queue, events, nb, tag) : 0;
}

uint16_t
weir_em_event_group_forward(struct weir_em_core *core, weir_em_queue queue,
	struct rte_event *events, uint16_t nb, weir_em_event_group group)
{
	uint64_t tag = tag_for(core, queue, group);

	return tag != 0 ? em_forward(core, queue, events, nb, tag) : 0;
}

weir_em_event_group
weir_em_event_group_current(const struct weir_em_core *core)
{
	struct event_group *group;
	weir_em_event_group handle;
	uint64_t word;

	if (core == NULL || core->event_group == 0)
		return WEIR_EM_NONE;
	group = group_of_tag(groups_of(core->em), core->event_group);
	if (group == NULL)
		return WEIR_EM_NONE;
	/* a cycle that is under way has kept its group from being deleted */
	handle = __atomic_load_n(&group->handle, __ATOMIC_ACQUIRE);
	word = event_group_load(group);
	return event_group_check(word, core->event_group >> TAG_SHIFT) == 0 ? handle : WEIR_EM_NONE;
}

int
weir_em_event_group_assign(struct weir_em_core *core, weir_em_event_group group)
{
	uint64_t tag;
	int rc;

	if (core == NULL || core->nb_batch == 0)
		return -EINVAL;
	if (core->event_group != 0)
		return -EBUSY;
	tag = current_tag(core->em, group, &rc);
	if (tag != 0)
		core->event_group = tag;
	return rc;
}

int
weir_em_event_group_increment(struct weir_em_core *core, uint32_t nb)
{
	struct event_group *group;

	if (core == NULL || nb == 0)
		return -EINVAL;
	group = core->event_group != 0 ? group_of_tag(groups_of(core->em), core->event_group)
				       : NULL;
	if (group == NULL)
		return -ENOENT;
	if (nb > WEIR_EM_EVENT_GROUP_COUNT_MAX)
		return -ERANGE;
	return event_group_increment(group, core->event_group >> TAG_SHIFT, nb);
}

void
weir_em_event_group_processing_end(struct weir_em_core *core)
{
	uint64_t tag = core != NULL ? core->event_group : 0;

	if (tag == 0)
		return;
	core->event_group = 0;
	processed(core->em, core, tag, core->nb_batch);
}

/* ---- looking ---- */

int
weir_em_event_group_info(
	struct weir_em *em, weir_em_event_group handle, struct weir_em_event_group_info *info)
{
	const struct event_group *group;
	uint64_t word, nb;
	int rc;

	if (info == NULL)
		return -EINVAL;
	group = group_of(em, handle, &rc);
	if (group == NULL)
		return rc;
	word = event_group_load(group);
	if (!event_group_is(group, handle))
		return -ESTALE;
	event_group_copy64(&nb, &group->nb_notifications);
	*info = (struct weir_em_event_group_info){.cycle = event_group_cycle(word),
		.count = event_group_count(word) != EVENT_GROUP_SETUP
				 ? (uint32_t)event_group_count(word)
				 : 0,
		.nb_notifications = (uint32_t)nb};
	return 0;
}

weir_em_event_group
weir_em_event_group_next(struct weir_em *em, weir_em_event_group after)
{
	struct event_groups *groups = groups_of(em);
	uint32_t number = after != WEIR_EM_NONE ? em_handle_number(after) + 1 : 0;

	for (; groups != NULL && number < groups->numbers.nb; number++) {
		uint64_t handle = __atomic_load_n(&groups->groups[number].handle, __ATOMIC_ACQUIRE);

		if (handle != 0)
			return handle;
	}
	return WEIR_EM_NONE;
}

void
weir_em_event_group_stats(const struct weir_em *em, struct weir_em_event_group_stats *stats)
{
	const struct event_groups *groups = groups_of(em);

	if (stats == NULL)
		return;
	*stats = (struct weir_em_event_group_stats){0};
	if (groups == NULL)
		return;
	em_lock(em);
	stats->nb_groups = groups->numbers.nb - groups->numbers.nb_free;
	em_unlock(em);
	for (unsigned int i = 0; i < groups->nb_counters; i++) {
		const struct counters *counters = &groups->counters[i];

		stats->nb_applied += em_read(&counters->nb_applied);
		stats->nb_completed += em_read(&counters->nb_completed);
		stats->nb_aborted += em_read(&counters->nb_aborted);
		stats->nb_events += em_read(&counters->nb_events);
		stats->nb_stale += em_read(&counters->nb_stale);
		stats->nb_excess += em_read(&counters->nb_excess);
		stats->nb_notifications += em_read(&counters->nb_notifications);
		stats->nb_undeliverable += em_read(&counters->nb_undeliverable);
	}
}
