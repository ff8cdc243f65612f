/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that a description names: tables of values, and captures.
 *
 *   interval_us,weight      the first line says what it is and in which unit; weights may be left out
 *   1.5,10
 *   20,1
 */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc_read.h"
#include "weir_base_pcap.h"

#define ROWS_MAX   (UINT32_C(1) << 24)
#define LINE_BYTES 256 /* of a table, most */

/* What the first column may be, and what it is multiplied by to be ps or bytes. */
static const struct unit {
	enum sim_doc_table kind;
	const char *head;
	double factor;
	double max;
} units[] = {
	{SIM_DOC_INTERVALS, "interval_ps", 1, 1e18},
	{SIM_DOC_INTERVALS, "interval_ns", 1e3, 1e15},
	{SIM_DOC_INTERVALS, "interval_us", 1e6, 1e12},
	{SIM_DOC_INTERVALS, "interval_ms", 1e9, 1e9},
	{SIM_DOC_INTERVALS, "interval_s", 1e12, 1e6},
	{SIM_DOC_SIZES, "size_B", 1, 1e9},
};

/* A table that is being read. */
struct reader {
	struct weir_base_doc *doc;
	const char *path;
	enum sim_doc_table kind;
	const struct unit *unit;
	bool has_weights;
	unsigned int line;
	locale_t locale; /* in which a point is a point */
	double *values, *weights;
	double sum_of_weights, sum_of_values;
	uint32_t nb, room;
};

#define FAIL(reader, column, ...)                                                                  \
	weir_base_doc_error_add_at(                                                                \
		(reader)->doc, (reader)->path, (reader)->line, (column), __VA_ARGS__)

static bool
read_head(struct reader *reader, const char *text)
{
	const size_t length = strcspn(text, ",");
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].kind == reader->kind && strlen(units[i].head) == length &&
			strncmp(text, units[i].head, length) == 0)
			reader->unit = &units[i];
	reader->has_weights = strcmp(text + length, ",weight") == 0;
	if (reader->unit != NULL && (reader->has_weights || text[length] == '\0'))
		return true;
	FAIL(reader, 1, "'%s'; expected a head such as '%s' or '%s,weight'", text,
		reader->kind == SIM_DOC_SIZES ? "size_B" : "interval_us",
		reader->kind == SIM_DOC_SIZES ? "size_B" : "interval_us");
	return false;
}

/* The number at @p *at, which ends with @p end; moves on behind that. */
static bool
read_number(struct reader *reader, const char *text, const char **at, char end, double max,
	double *value)
{
	const char *begin = *at;
	char *behind;

	*value = sim_coarse(strtod_l(begin, &behind, reader->locale));
	if (behind == begin || *behind != end || !(*value >= 0) || *value > max) {
		FAIL(reader, (unsigned int)(begin - text) + 1,
			"'%s'; expected a number from 0 to %g%s", begin, max,
			end == ',' ? ", then a comma and a weight" : "");
		return false;
	}
	*at = behind + (end == ',');
	return true;
}

static int
add_row(struct reader *reader, double value, double weight)
{
	const uint32_t room = reader->room == 0 ? 1024 : reader->room * 2;
	double *values, *weights;

	if (reader->nb == reader->room) {
		values = realloc(reader->values, room * sizeof(*values));
		reader->values = values != NULL ? values : reader->values;
		weights = realloc(reader->weights, room * sizeof(*weights));
		reader->weights = weights != NULL ? weights : reader->weights;
		if (values == NULL || weights == NULL)
			return -ENOMEM;
		reader->room = room;
	}
	value = reader->kind == SIM_DOC_SIZES ? (double)(uint64_t)value
					      : sim_coarse(value * reader->unit->factor);
	reader->values[reader->nb] = value;
	reader->weights[reader->nb++] = weight;
	reader->sum_of_weights += weight;
	reader->sum_of_values += weight * value;
	return 0;
}

/* @return 0; -EINVAL, which was told; -ENOMEM */
static int
read_row(struct reader *reader, const char *text)
{
	const char *at = text;
	double value, weight = 1;

	if (reader->nb == ROWS_MAX) {
		FAIL(reader, 1, "one row too many; expected at most %" PRIu32, ROWS_MAX);
		return -EINVAL;
	}
	if (!read_number(reader, text, &at, reader->has_weights ? ',' : '\0', reader->unit->max,
		    &value) ||
		(reader->has_weights && !read_number(reader, text, &at, '\0', 1e15, &weight)))
		return -EINVAL;
	return add_row(reader, value, weight);
}

/* All lines. @return as read_row() */
static int
read_lines(struct reader *reader, FILE *file)
{
	char text[LINE_BYTES + 1]; /* the longest one, its end and that of text */
	int error = 0;

	while (error == 0 && fgets(text, sizeof(text), file) != NULL) {
		reader->line++;
		if (strchr(text, '\n') == NULL && !feof(file)) {
			FAIL(reader, 1, "no line of text; expected one of less than %d bytes",
				LINE_BYTES);
			return -EINVAL;
		}
		text[strcspn(text, "\r\n")] = '\0';
		if (reader->line == 1)
			error = read_head(reader, text) ? 0 : -EINVAL;
		else if (text[0] != '\0')
			error = read_row(reader, text);
	}
	if (error == 0 && ferror(file)) {
		reader->line++;
		FAIL(reader, 1, "cannot read it: %s; expected a table", strerror(errno));
		return -EINVAL;
	}
	return error;
}

int
sim_doc_read_table(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	enum sim_doc_table kind, struct weir_sim_table *table)
{
	struct reader reader = {.doc = model->doc, .path = weir_base_doc_str(value), .kind = kind};
	FILE *file = fopen(reader.path, "r");
	int error;

	if (file == NULL) {
		weir_base_doc_error_add(model->doc, value, "cannot read '%s': %s; expected a table",
			reader.path, strerror(errno));
		return 0;
	}
	reader.locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	error = reader.locale == (locale_t)0 ? -ENOMEM : read_lines(&reader, file);
	fclose(file);
	if (error == 0 && (reader.sum_of_weights == 0 ||
				  (kind == SIM_DOC_INTERVALS && reader.sum_of_values == 0)))
		weir_base_doc_error_add(model->doc, value,
			"'%s' has nothing to draw from; expected values and weights above 0",
			reader.path);
	else if (error == 0 && kind == SIM_DOC_INTERVALS &&
		 reader.sum_of_values < reader.sum_of_weights)
		weir_base_doc_error_add(model->doc, value,
			"the times in '%s' are less than 1 ps in the mean; expected more",
			reader.path);
	else if (error == 0)
		error = weir_sim_table_init(table, reader.values, reader.weights, reader.nb);
	if (reader.locale != (locale_t)0)
		freelocale(reader.locale);
	free(reader.values);
	free(reader.weights);
	return error == -ENOMEM ? -ENOMEM : 0;
}

static int
grow(struct model_capture *capture)
{
	const uint32_t room = capture->room == 0 ? 1024 : capture->room * 2;
	uint64_t *times = realloc(capture->times_ps, room * sizeof(*times));
	uint32_t *sizes;

	if (times == NULL)
		return -ENOMEM;
	capture->times_ps = times;
	sizes = realloc(capture->sizes, room * sizeof(*sizes));
	if (sizes == NULL)
		return -ENOMEM;
	capture->sizes = sizes;
	capture->room = room;
	return 0;
}

int
sim_doc_add_packet(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_capture *capture, uint64_t ps, uint32_t bytes)
{
	if (capture->nb == ROWS_MAX) {
		weir_base_doc_error_add(model->doc, value,
			"more packets than can be kept; expected at most %" PRIu32, ROWS_MAX);
		return -EFBIG;
	}
	if (capture->nb == capture->room && grow(capture) < 0)
		return -ENOMEM;
	capture->times_ps[capture->nb] = ps;
	capture->sizes[capture->nb++] = bytes;
	return 0;
}

#ifdef SIM_WITH_PCAP
/* Times since the first packet; one that is before the packet ahead of it is taken for that packet's. */
static int
read_records(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct weir_base_pcap *file, double speed, struct model_capture *capture)
{
	struct weir_base_pcap_record record;
	uint64_t first_ns = 0, ns = 0;
	char why[512];
	double ps;
	int more, error;

	while ((more = weir_base_pcap_next(file, &record, why, sizeof(why))) > 0) {
		if (capture->nb == 0)
			first_ns = ns = record.time_ns;
		ns = record.time_ns > ns ? record.time_ns : ns;
		ps = (double)(ns - first_ns) * 1e3 / speed;
		error = sim_doc_add_packet(model, value, capture,
			ps < (double)SIM_TIME_END_PS ? (uint64_t)ps : SIM_TIME_END_PS,
			record.wire_bytes);
		if (error < 0)
			return error == -ENOMEM ? error : 0;
	}
	if (more < 0)
		weir_base_doc_error_add(model->doc, value, "%s; expected a whole one", why);
	else if (capture->nb == 0)
		weir_base_doc_error_add(model->doc, value, "'%s' is empty; expected packets in it",
			weir_base_doc_str(value));
	return 0;
}
#endif

int
sim_doc_read_capture(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	double speed, bool repeat, struct model_capture *capture)
{
#ifdef SIM_WITH_PCAP
	struct weir_base_pcap *file;
	uint64_t last_ps;
	char why[512];
	int error;

	if (weir_base_pcap_open(weir_base_doc_str(value), &file, why, sizeof(why)) < 0) {
		weir_base_doc_error_add(
			model->doc, value, "%s; expected one that can be read", why);
		return 0;
	}
	error = read_records(model, value, file, sim_coarse(speed), capture);
	weir_base_pcap_close(file);
	if (error < 0 || !repeat || capture->nb == 0)
		return error;
	/* The pause before it begins again is as long as those between packets are in the mean. */
	last_ps = capture->times_ps[capture->nb - 1];
	if (last_ps == 0)
		weir_base_doc_error_add(model->doc, value,
			"all packets came at one time; expected 'repeat' of a capture that takes "
			"time");
	else
		capture->round_ps = last_ps + last_ps / (capture->nb - 1);
#else
	(void)speed;
	(void)repeat;
	(void)capture;
	weir_base_doc_error_add(model->doc, value,
		"captures cannot be read: built without libpcap; expected other 'arrivals'");
#endif
	return 0;
}
