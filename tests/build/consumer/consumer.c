/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of somebody else's: a node, a graph, a walk, with the installed headers only. */
#include <stdio.h>

#include <rte_eal.h>

#include <weir_base.h>
#include <weir_base_eal.h>
#include <weir_graph_fast.h>

static uint16_t
count_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	(void)graph, (void)node, (void)objs, (void)nb_objs;
	return 1;
}

int
main(int argc, char **argv)
{
	struct weir_graph_node_register reg = {WEIR_GRAPH_NODE_HEADER};
	struct weir_graph_param param = {};
	const char *pattern = "count";
	uint32_t id;

	(void)argc;
	char *eal[] = {argv[0], (char *)"--no-huge", (char *)"--no-pci", (char *)"--no-shconf",
		(char *)"--no-telemetry", (char *)"-m", (char *)"64", NULL};
	weir_base_eal_clean_up_at_exit();
	if (rte_eal_init(7, eal) < 0)
		return 1;
	reg.name = "count";
	reg.flags = WEIR_GRAPH_NODE_SOURCE;
	reg.process = count_process;
	if (weir_graph_node_register(&reg) == WEIR_GRAPH_NODE_INVALID)
		return 2;
	param.nb_node_patterns = 1;
	param.node_patterns = &pattern;
	id = weir_graph_create("consumer", &param);
	if (id == WEIR_GRAPH_ID_INVALID)
		return 3;
	weir_graph_walk(weir_graph_lookup("consumer"));
	printf("walked, at %s\n", weir_base_cycles_hz() > 0 ? "some rate" : "no rate");
	return weir_graph_destroy(id) == 0 ? 0 : 4;
}
