/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the JSON Schema of the fixture, and files with the loader's verdict, for
 * schema_agrees.py: {"schema": ..., "cases": [{"text", "value", "good"}]}.
 */
#include <stdlib.h>

#include "doc_fixture.h"

static const char *const texts[] = {
	"text: hello", "text: 5", "text: true", "text: [a]", "text: {a: b}", "text:", "even: ab",
	"flag: true", "flag: no", "flag: 1", "flag: maybe", "int: 5", "int: -7", "int: 0x1F",
	"int: 1.5", "int: x", "int: []", "int:", "small: 5", "small: 6", "small: -6", "number: 1.5",
	"number: 3", "number: -1e9", "number: x", "ratio: 0", "ratio: 1", "ratio: 1.01",
	"ratio: -1", "full: drop", "full: wait", "full: on", "full: 2", "full: 3", "full: dorp",
	"full: [drop]", "duration: 50us", "duration: 1.5 ms", "duration: 0", "duration: 1e3ns",
	"duration: .5s", "duration: 5", "duration: 10MHz", "duration: -5s", "duration: 5S",
	"duration: \"5  s\"", "duration: nan", "duration: {}", "bytes: 9000B", "bytes: 4KiB",
	"bytes: 9000", "bytes: 9000b", "bit_rate: 10Gb/s", "bit_rate: 10Gbps",
	"packet_rate: 14.88Mpps", "packet_rate: 14.88", "frequency: 1.2GHz", "frequency: 1.2gHz",
	"cycles: 700cycles", "cycles: 700", "cycles_per_byte: 0.6cycles/B",
	"cycles_per_byte: 0.6cycles", "ip4: 192.0.2.1", "ip4: 256.0.0.1", "ip4: ::1",
	"ip6: 2001:db8::1", "ip6: ::1", "ip6: 1.2.3.4", "ip: 1.2.3.4", "ip: ::1", "ip: host",
	"prefix: 10.0.0.0/8", "prefix: ::/0", "prefix: 10.0.0.0", "prefix: a/8",
	"mac: 02:00:00:00:00:01", "mac: 02:00:00:00:00", "mac: 2-0-0-0-0-1",
	"prefixes: [10.0.0.0/8, \"::/0\"]", "prefixes: 10.0.0.0/8", "prefixes: []",
	"prefixes:", "prefixes: {a: b}", "prefixes: [x]", "prefixes: [[\"::/0\"]]", "ports: {}",
	"ports:", "ports: {p: {file: f}}",
	"ports: {p: {file: f, queues: 3, on_full: wait, tags: [a, b]}}",
	"ports: {p: {file: f, tags: a}}", "ports: {p: {queues: 3}}", "ports: {p: }",
	"ports: {p: {file: f, x: 1}}", "ports: {p: {file: f, queues: 65}}",
	"ports: {\"\": {file: f}}", "ports: [a]", "ports: {p: {file: \"\"}}",
	"sizes: {a: 1B, b: 0}", "sizes: {a: 1}", "limits: {}", "limits:", "limits: {depth: 3}",
	"limits: {deep: 3}", "limits: 3", "bounds: {wait: 1s}",
	"tree: {trees: [{leaf: a}, {trees: [{leaf: b}]}]}",
	"tree: {trees: [{leaf: a}, {trees: [{laef: b}]}]}", "tree: {trees: {leaf: a}}",
	"any: [1, {a: b}]", "any:", "unknown: 1", "text: a\nint: 5\nlimits: {wait: 5ms}", "{}",
	/* Rules that only the loader knows would stand here, were the schema to agree on them:
	 * host bits of a prefix, ranges of quantities, whole bytes, row->check(). */
};

int
main(void)
{
	json_t *cases = json_array(), *all;
	unsigned int i, nb_errors;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct weir_base_doc *doc = weir_base_doc_load_text(
			texts[i], strlen(texts[i]), "t.yaml", &fixture_root);

		if (doc == NULL)
			return 1;
		weir_base_doc_errors(doc, &nb_errors);
		json_array_append_new(cases,
			json_pack("{s:s, s:b, s:s}", "text", texts[i], "good", nb_errors == 0,
				"error",
				nb_errors > 0 ? weir_base_doc_errors(doc, &nb_errors)[0].message
					      : ""));
		weir_base_doc_free(doc);
	}
	all = json_pack("{s:o, s:o}", "schema",
		weir_base_doc_schema_json(&fixture_root, "All kinds"), "cases", cases);
	if (all == NULL || json_dumpf(all, stdout, JSON_INDENT(1)) != 0)
		return 1;
	json_decref(all);
	return 0;
}
