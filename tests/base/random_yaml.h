/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_BASE_RANDOM_YAML_H
#define WEIR_TESTS_BASE_RANDOM_YAML_H

#include <stddef.h>
#include <stdint.h>

/*
 * A well-formed YAML document that a description file might be, zero-terminated, to be freed: maps and lists in both styles, scalars in all
 * five, on one line and on several, comments, anchors, every kind of line break. No aliases and no tags, no key twice,
 * and nothing that libfyaml 0.7.12 misreads; test_doc_fyaml.c has that.
 *
 * @param state of random_next(); the same one gives the same document
 */
char *random_yaml(uint64_t *state, size_t *size);

#endif
