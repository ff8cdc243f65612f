/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of requests: what windows may be asked of links. */
#include <inttypes.h>
#include <math.h>

#include "rules_private.h"

#define NS_PER_S UINT64_C(1000000000)

/* A request that is being looked at. */
struct subject {
	struct weir_base_doc *doc;
	const struct weir_base_doc_value *application, *request;
	struct weir_base_format
		first; /* format of the first of its links; without a name: there is none so far */
};

static uint64_t
ns_of(const struct subject *subject, const char *key)
{
	return weir_base_doc_u64(weir_base_doc_get(subject->request, key));
}

/* Windows are in ticks: of one clock. */
static void
check_clock(const struct subject *subject, const struct weir_base_doc_value *value,
	const struct weir_base_doc_value *link, const struct weir_base_format *format)
{
	const uint64_t hz = weir_base_format_clock_hz(format);
	const uint64_t first_hz = weir_base_format_clock_hz(&subject->first);

	if (hz != first_hz)
		weir_base_doc_error_add(subject->doc, value,
			"the clock of link '%s' has %" PRIu64 " Hz, those before it have %" PRIu64
			"; expected links of one clock",
			weir_base_doc_name(link), hz, first_hz);
	else if (weir_base_format_time_bits(format) != weir_base_format_time_bits(&subject->first))
		weir_base_doc_error_add(subject->doc, value,
			"timestamps of link '%s' have %" PRIu32
			" bits, those before it have %" PRIu32
			", and wrap at another time; expected links of one clock",
			weir_base_doc_name(link), weir_base_format_time_bits(format),
			weir_base_format_time_bits(&subject->first));
}

/* Asked for @delay after its beginning, and taken from the history: of each link. */
static void
check_history(const struct subject *subject, const struct weir_base_doc_value *link)
{
	static const char *const keys[] = {"window", "delay"};
	const double history_s =
		weir_base_doc_f64(weir_base_doc_get(weir_base_doc_get(link, "buffer"), "history"));
	unsigned int i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]) && history_s > 0; i++)
		if ((double)ns_of(subject, keys[i]) > history_s * (double)NS_PER_S)
			weir_base_doc_error_add(subject->doc,
				weir_base_doc_get(subject->request, keys[i]),
				"a %s of %g s, but links '%s' keep %g s; expected no more than "
				"their history",
				keys[i], (double)ns_of(subject, keys[i]) / (double)NS_PER_S,
				weir_base_doc_name(link), history_s);
}

/* Which of two timestamps is the later one must be clear: the next window's, and now. */
static void
check_wrap(const struct subject *subject, const struct weir_base_doc_value *link,
	const struct weir_base_format *format)
{
	const double half = ldexp(1, (int)weir_base_format_time_bits(format) - 1) /
			    (double)weir_base_format_clock_hz(&subject->first);
	const double ahead =
		(double)(ns_of(subject, "every") + ns_of(subject, "delay")) / (double)NS_PER_S;

	if (ahead >= half)
		weir_base_doc_error_add(subject->doc, weir_base_doc_get(subject->request, "every"),
			"%g s with the delay, but timestamps of links '%s' wrap after %g s; "
			"expected less than half of that",
			ahead, weir_base_doc_name(link), 2 * half);
}

static void
check_times(const struct subject *subject)
{
	const uint64_t hz = weir_base_format_clock_hz(&subject->first);

	if ((double)ns_of(subject, "window") * (double)hz < (double)NS_PER_S)
		weir_base_doc_error_add(subject->doc, weir_base_doc_get(subject->request, "window"),
			"a window of %" PRIu64 " ns has no tick of %" PRIu64
			" Hz; expected a longer one",
			ns_of(subject, "window"), hz);
	if ((double)ns_of(subject, "every") * (double)hz < (double)NS_PER_S)
		weir_base_doc_error_add(subject->doc, weir_base_doc_get(subject->request, "every"),
			"%" PRIu64 " ns are no tick of %" PRIu64 " Hz; expected a longer time",
			ns_of(subject, "every"), hz);
}

static void
check_entry(struct subject *subject, const struct weir_base_doc_value *list, unsigned int number)
{
	const struct weir_base_doc_value *value = weir_base_doc_at(list, number);
	const struct weir_base_links found =
		rules_find_links(subject->doc, subject->application, value);
	struct weir_base_format format;

	if (found.link == NULL)
		return;
	format = rules_format_of(subject->application, found.link);
	if (subject->first.name == NULL)
		subject->first = format;
	check_clock(subject, value, found.link, &format);
	check_history(subject, found.link);
	check_wrap(subject, found.link, &format);
	if (rules_lists(subject->application, list, number, found))
		weir_base_doc_error_add(subject->doc, value,
			"link '%s' is asked already; expected each once", weir_base_doc_str(value));
}

/* ---- room for what links have of windows ---- */

/* Frames that a link has in a window, at most. */
static double
frames_of(const struct subject *subject, const struct weir_base_doc_value *link)
{
	const struct weir_base_format format = rules_format_of(subject->application, link);
	const double rate_hz =
		weir_base_doc_f64(weir_base_doc_get(weir_base_doc_get(link, "buffer"), "rate"));
	const double hz = format.step_ticks > 0 ? (double)weir_base_format_clock_hz(&format) /
							  (double)format.step_ticks
						: 2 * rate_hz;

	return hz * (double)ns_of(subject, "window") / (double)NS_PER_S + 2;
}

/* What a fragment has no room for is asked for in vain; so is what there are too few fragments for. */
static void
check_room(const struct subject *subject, const struct weir_base_doc_value *room)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(subject->request, "links");
	const struct weir_base_doc_value *links = weir_base_doc_get(subject->application, "links");
	const struct weir_base_doc_value *count = weir_base_doc_get(room, "count");
	const struct weir_base_doc_value *frames = weir_base_doc_get(room, "frames");
	double most = 0;
	uint64_t nb = 0;
	unsigned int i;

	for (i = 0; i < weir_base_doc_count(list); i++) {
		const struct weir_base_links found =
			weir_base_links_find(links, weir_base_doc_str(weir_base_doc_at(list, i)));

		nb += found.nb;
		if (found.link != NULL)
			most = fmax(most, frames_of(subject, found.link));
	}
	if (count != NULL && weir_base_doc_u64(count) < nb)
		weir_base_doc_error_add(subject->doc, count,
			"%" PRIu64 " fragments, but a window of '%s' has one for each of %" PRIu64
			" links; expected as many or more",
			weir_base_doc_u64(count), weir_base_doc_name(subject->request), nb);
	if (frames != NULL && (double)weir_base_doc_u64(frames) < most)
		weir_base_doc_error_add(subject->doc, frames,
			"room for %" PRIu64 " frames, but a window of '%s' has up to %.0f; "
			"expected as many or more",
			weir_base_doc_u64(frames), weir_base_doc_name(subject->request), most);
}

void
weir_base_rules_requests(struct weir_base_doc *doc, const struct weir_base_doc_value *application)
{
	const struct weir_base_doc_value *requests = weir_base_doc_get(application, "requests");
	unsigned int i, j;

	for (i = 0; i < weir_base_doc_count(requests); i++) {
		struct subject subject = {.doc = doc,
			.application = application,
			.request = weir_base_doc_at(requests, i)};
		const struct weir_base_doc_value *list =
			weir_base_doc_get(subject.request, "links");

		if (weir_base_doc_count(list) == 0)
			weir_base_doc_error_add(doc, list, "no links to ask; expected %s",
				rules_link_names(doc, application));
		for (j = 0; j < weir_base_doc_count(list); j++)
			check_entry(&subject, list, j);
		if (subject.first.name != NULL)
			check_times(&subject);
		check_room(&subject, weir_base_doc_get(application, "fragments"));
	}
}
