/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that give links what their feeds have. */
#include <errno.h>
#include <stdlib.h>

#include <rte_lcore.h>

#include <weir_base.h>

#include "config.h"
#include "links_consume.h"
#include "links_feeder.h"
#include "links_run.h"
#include "links_share.h"

/* ---- who polls what ---- */

static bool
has_own(const struct links_feed *feed)
{
	return weir_base_doc_count(feed->cpus) > 0;
}

/* The first feeder rests as the most impatient of its receivers has it. */
static void
set_pace(struct links_feeder *first, const struct config *config)
{
	const struct config_receivers *receivers = &config->receivers;
	bool has_one = false;
	unsigned int i;

	first->rest_ns = LINKS_THREAD_REST_NS;
	for (i = 0; i < receivers->nb; i++) {
		const uint64_t rest_ns = receivers->list[i].lcore_sleep_us * UINT64_C(1000);

		if (receivers->list[i].nb_cpus > 0)
			continue;
		first->rest_ns = has_one ? RTE_MIN(first->rest_ns, rest_ns) : rest_ns;
		has_one = true;
	}
}

static struct links_feeder *
add_feeder(struct links_run *run)
{
	struct links_feeder *feeder = &run->feeders[run->nb_feeders++];

	links_thread_init(&feeder->thread);
	feeder->run = run;
	return feeder;
}

/* The links of a feed are of its feeders. */
static void
share_links(struct links_run *run, const struct config *config, const struct links_feed *feed,
	unsigned int first)
{
	unsigned int i, j;

	for (i = 0; i < config->links.nb; i++) {
		const struct config_link *link = &config->links.list[i];

		for (j = 0; links_feed_is_of(feed, config, link) && j < link->nb; j++)
			run->feeder_of[link->first + j] = first + links_feed_poller(feed, link, j);
	}
}

static void
add_own_feeders(struct links_run *run, const struct config *config, struct links_feed *feed)
{
	const unsigned int first = run->nb_feeders;
	uint16_t i;

	if (!has_own(feed))
		return;
	for (i = 0; i < links_feed_nb_pollers(feed); i++) {
		struct links_feeder *feeder = add_feeder(run);

		feeder->feed = feed;
		feeder->poller = i;
		feeder->cpu = weir_base_doc_at(feed->cpus, i);
		feeder->rest_ns = feed->receiver != NULL
					  ? feed->receiver->lcore_sleep_us * UINT64_C(1000)
					  : LINKS_THREAD_REST_NS;
	}
	share_links(run, config, feed, first);
}

int
links_feeders_open(struct links_run *run, const struct config *config)
{
	unsigned int nb = 1, i;

	for (i = 0; i < run->nb_feeds; i++)
		nb += links_feed_nb_pollers(&run->feeds[i]);
	run->feeders = calloc(nb, sizeof(*run->feeders));
	run->feeder_of = calloc(run->nb + 1, sizeof(*run->feeder_of));
	if (run->feeders == NULL || run->feeder_of == NULL)
		return -ENOMEM;
	set_pace(add_feeder(run), config);
	for (i = 0; i < run->nb_feeds; i++)
		add_own_feeders(run, config, &run->feeds[i]);
	return 0;
}

/* ---- their threads ---- */

static bool
is_polled_by(const struct links_feeder *feeder, const struct links_feed *feed)
{
	return feeder->feed != NULL ? feeder->feed == feed : !has_own(feed);
}

/* All counters of one moment: between two polls nothing is on its way from a feed to its links. */
static void
look(void *arg)
{
	const struct links_feeder *feeder = arg;
	struct links_run *run = feeder->run;
	const unsigned int number = (unsigned int)(feeder - run->feeders);
	unsigned int i;

	for (i = 0; i < run->nb_feeds; i++)
		if (is_polled_by(feeder, &run->feeds[i]))
			run->feeds[i].type->look(&run->feeds[i], feeder->poller);
	for (i = 0; i < run->nb; i++)
		if (run->feeder_of[i] == number)
			weir_readout_handler_stats(run->handlers[i], &run->stats[i]);
	links_processes_look(run, number);
}

/* One round. @return 0: there may be time to rest */
static uint32_t
poll_feeds(const struct links_feeder *feeder)
{
	struct links_run *run = feeder->run;
	const uint64_t now_ns = weir_base_time_ns() - run->start_ns;
	uint32_t nb = 0;
	unsigned int i;

	if (feeder->feed != NULL)
		return feeder->feed->type->poll(feeder->feed, feeder->poller, now_ns);
	for (i = 0; i < run->nb_feeds; i++)
		if (!has_own(&run->feeds[i]))
			nb += run->feeds[i].type->poll(&run->feeds[i], 0, now_ns);
	return nb;
}

static bool
feeds_ended(const struct links_run *run)
{
	unsigned int i;

	for (i = 0; i < run->nb_feeds; i++)
		if (run->feeds[i].type->ended(&run->feeds[i]) == 0)
			return false;
	return true;
}

/* Has what it polls come to its end? The first one waits for all feeds. */
static bool
has_ended(const struct links_feeder *feeder)
{
	return feeder->feed != NULL ? feeder->feed->type->ended(feeder->feed) != 0
				    : feeds_ended(feeder->run);
}

/* Until it is told to stop, or nothing comes any more. */
static void
poll_until_quiet(struct links_feeder *feeder)
{
	struct links_run *run = feeder->run;
	const bool registered = rte_thread_register() == 0; /* for its cache of mbufs */

	while (!__atomic_load_n(&run->quiet, __ATOMIC_RELAXED)) {
		if (poll_feeds(feeder) == 0) {
			if (run->ends && has_ended(feeder))
				break;
			links_thread_rest_ns(feeder->rest_ns);
		}
		links_thread_show(&feeder->thread, look, feeder);
	}
	if (registered)
		rte_thread_unregister();
}

static void *
feed_some(void *arg)
{
	struct links_feeder *feeder = arg;

	poll_until_quiet(feeder);
	__atomic_store_n(&feeder->stopped, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Who asks for counters is answered meanwhile. @return do others poll still? */
static bool
others_poll(struct links_run *run)
{
	bool any = false;
	unsigned int i;

	for (i = 1; i < run->nb_feeders; i++) {
		struct links_feeder *feeder = &run->feeders[i];

		if (__atomic_load_n(&feeder->stopped, __ATOMIC_ACQUIRE))
			links_thread_show(&feeder->thread, look, feeder);
		else
			any = true;
	}
	links_thread_show(&run->feeders[0].thread, look, &run->feeders[0]);
	return any;
}

/* Nobody polls feeds any more. */
static void
drain_feeds(struct links_run *run)
{
	unsigned int i;

	for (i = 0; i < run->nb_feeds; i++)
		if (run->feeds[i].type->drain != NULL)
			run->feeds[i].type->drain(
				&run->feeds[i], weir_base_time_ns() - run->start_ns);
}

/* What a graph's workers have received goes to links still. */
static bool
workers_run(const struct links_run *run)
{
	return run->share->nb > 0 && !__atomic_load_n(&run->share->over, __ATOMIC_ACQUIRE);
}

/* What processes send is of feeds that the first one polls. @return how much there was */
static uint32_t
poll_collected(struct links_run *run)
{
	const uint64_t now_ns = weir_base_time_ns() - run->start_ns;
	uint32_t nb = 0;
	unsigned int i;

	for (i = 0; i < run->nb_feeds; i++)
		if (run->feeds[i].link != NULL && run->feeds[i].link->collects)
			nb += run->feeds[i].type->poll(&run->feeds[i], 0, now_ns);
	return nb;
}

/*
 * Nothing but what is made of frames comes to links any more. Who was idle before a look that found nothing made has no more to do: only this
 * thread gives links frames now.
 */
static void
finish_processes(struct links_run *run)
{
	bool idle;

	do {
		idle = links_processes_are_idle(run);
		if (poll_collected(run) > 0)
			idle = false;
		else if (!idle)
			links_thread_rest();
		others_poll(run);
	} while (!idle);
	links_processes_end(run);
	while (poll_collected(run) > 0) /* of those that were not waited for */
		;
}

static void *
feed_the_rest(void *arg)
{
	struct links_feeder *first = arg;
	struct links_run *run = first->run;
	unsigned int i;

	poll_until_quiet(first);
	while (others_poll(run))
		links_thread_rest();
	drain_feeds(run);
	run->end_ns = weir_base_time_ns();
	while (workers_run(run)) {
		links_thread_rest();
		others_poll(run);
	}
	links_consume_finish(run);
	finish_processes(run);
	for (i = run->nb_feeders; i-- > 0;)
		links_thread_finish(&run->feeders[i].thread, look, &run->feeders[i]);
	return NULL;
}

static int
start(struct links_feeder *feeder, struct config *config)
{
	const struct links_feed *feed = feeder->feed;
	const bool receives = feed != NULL && feed->receiver != NULL;
	const int error =
		links_thread_start(&feeder->thread, receives ? "weir-receiver" : "weir-links",
			feed == NULL ? feed_the_rest : feed_some, feeder);

	if (error < 0 || feed == NULL)
		return error;
	return links_thread_pin(&feeder->thread, config->doc, feeder->cpu,
		receives ? "receiver" : "emulated link",
		receives ? feed->receiver->name : feed->link->name);
}

/* The first one first: it waits for the others until they have stopped, and those that cannot be started have. */
int
links_feeders_start(struct links_run *run, struct config *config)
{
	int error = 0;
	unsigned int i;

	for (i = 0; error == 0 && i < run->nb_feeders; i++)
		error = start(&run->feeders[i], config);
	for (i = 1; i < run->nb_feeders; i++)
		if (!run->feeders[i].thread.started)
			__atomic_store_n(&run->feeders[i].stopped, true, __ATOMIC_RELEASE);
	return error;
}

void
links_feeders_abandon(struct links_run *run)
{
	unsigned int i;

	for (i = 0; i < run->nb_feeders; i++)
		links_thread_abandon(&run->feeders[i].thread);
}

/* The first one begins first. */
bool
links_feeders_have_begun(const struct links_run *run)
{
	return run->feeders[0].thread.started;
}

/* The first one finishes last. */
bool
links_feeders_are_finished(const struct links_run *run)
{
	return links_thread_is_finished(&run->feeders[0].thread);
}

void
links_feeders_join(struct links_run *run)
{
	unsigned int i;

	for (i = 0; i < run->nb_feeders; i++)
		links_thread_join(&run->feeders[i].thread);
}

void
links_feeders_look(struct links_run *run, bool begun)
{
	unsigned int i;

	for (i = 0; i < run->nb_feeders; i++)
		links_thread_look(&run->feeders[i].thread, begun);
}

void
links_feeders_release(struct links_run *run)
{
	unsigned int i;

	for (i = run->nb_feeders; i-- > 0;)
		links_thread_release(&run->feeders[i].thread);
}

void
links_feeders_close(struct links_run *run)
{
	free(run->feeders);
	free(run->feeder_of);
	run->feeders = NULL;
	run->feeder_of = NULL;
	run->nb_feeders = 0;
}
