/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_PI_H
#define BENCH_PI_H

/* The work that long computations are made of here: pi, in pieces. */

#include <stdint.h>

/* Midpoint rule for the integral of 4 / (1 + x^2) from 0 to 1: terms from `from` on, each `width` wide; times width it is a part of pi. */
double bench_pi_piece(uint64_t from, uint64_t nb, double width);

#endif
