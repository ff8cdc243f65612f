/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_EVENT_H
#define SCHED_EVENT_H

/*
 * Events as two words, which stay in registers. Who writes a part of a word, as a bit field does, and reads the whole word at once
 * waits until that part has reached the cache, after all that was stored before it, into lines of other cores too.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_byteorder.h>
#include <rte_eventdev.h>

#if RTE_BYTE_ORDER != RTE_LITTLE_ENDIAN
#error "where the parts of an event's first word are"
#endif

static inline uint32_t
word_flow(uint64_t word)
{
	return (uint32_t)word & 0xfffff;
}

static inline uint8_t
word_op(uint64_t word)
{
	return word >> 32 & 3;
}

static inline uint8_t
word_type(uint64_t word)
{
	return word >> 38 & 3;
}

static inline uint8_t
word_queue(uint64_t word)
{
	return (uint8_t)(word >> 40);
}

static inline uint8_t
word_priority(uint64_t word)
{
	return (uint8_t)(word >> 48);
}

static inline uint8_t
word_opaque(uint64_t word)
{
	return (uint8_t)(word >> 56);
}

/* rte_event::rsvd, while an event is inside: its credit is a reserved one. */
#define WORD_RESERVED (UINT64_C(1) << 34)
#define WORD_RSVD     (UINT64_C(15) << 34)

/* rte_event::rsvd, while a port holds it: which port, so that no other one gives it up. 0: who made it anew did not keep that. */
static inline uint8_t
event_holder(unsigned int port)
{
	return (uint8_t)(port % 15 + 1);
}

static inline bool
word_is_of(uint64_t word, uint8_t holder)
{
	uint8_t claim = word >> 34 & 15;

	return claim == holder || claim == 0;
}

static inline uint64_t
word_mark(uint64_t word, bool reserved)
{
	return (word & ~WORD_RSVD) | (uint64_t)reserved << 34;
}

static inline bool
word_is_reserved(uint64_t word)
{
	return (word & WORD_RESERVED) != 0;
}

/* What events that are inside have alike: their queue, and that their credits are not reserved ones. */
static inline uint64_t
word_like(uint8_t queue)
{
	return (uint64_t)queue << 40;
}

static inline bool
word_is_alike(uint64_t word, uint64_t like)
{
	return ((word ^ like) & (UINT64_C(0xff) << 40 | WORD_RESERVED)) == 0;
}

/* What is written into all events of a type that a port is handed out, */
static inline uint64_t
word_stamp(uint8_t type, uint8_t holder)
{
	return (uint64_t)holder << 34 | (uint64_t)type << 38;
}

/* and an event as it is handed out. */
static inline uint64_t
word_stamped(uint64_t word, uint64_t stamp, uint8_t opaque)
{
	const uint64_t others = (UINT64_C(1) << 56) - 1 - WORD_RSVD - (UINT64_C(3) << 38);

	return (word & others) | stamp | (uint64_t)opaque << 56;
}

static inline struct rte_event
event_of(uint64_t word, uint64_t what)
{
	struct rte_event event = {.u64 = what};

	event.event = word;
	return event;
}

/* As its user left it, who has just written it field by field. */
static inline struct rte_event
event_read(const struct rte_event *event)
{
	const volatile uint8_t *bytes = (const volatile uint8_t *)event;
	struct rte_event read = {.u64 = event->u64};

	read.event = *(const volatile uint32_t *)event | (uint64_t)bytes[4] << 32 |
		     (uint64_t)bytes[5] << 40 | (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
	return read;
}

/* Its operation, rsvd and type, as its user left them. */
static inline uint32_t
event_read_kind(const struct rte_event *event)
{
	return ((const volatile uint8_t *)event)[4];
}

static inline uint8_t
event_read_queue(const struct rte_event *event)
{
	return ((const volatile uint8_t *)event)[5];
}

static inline bool
kind_is_new(uint32_t kind)
{
	return (kind & 3) == RTE_EVENT_OP_NEW;
}

/* What a port's events may claim that go on: by operation and rsvd together, one bit each. */
static inline uint64_t
claims_forwarded(uint8_t holder)
{
	return UINT64_C(1) << RTE_EVENT_OP_FORWARD |
	       UINT64_C(1) << (RTE_EVENT_OP_FORWARD | holder << 2);
}

static inline bool
kind_is_claimed(uint32_t kind, uint64_t claims)
{
	return (claims >> (kind & 0x3f) & 1) != 0;
}

/* Likewise, those that are released: the operation is the next one. */
static inline uint64_t
claims_released(uint64_t forwarded)
{
	return forwarded << (RTE_EVENT_OP_RELEASE - RTE_EVENT_OP_FORWARD);
}

static inline uint8_t
event_read_opaque(const struct rte_event *event)
{
	return ((const volatile uint8_t *)event)[7];
}

/* Of this kind, for this queue, which were read: without what is written into it when it is handed out. */
static inline struct rte_event
event_read_as(const struct rte_event *event, uint32_t kind, uint8_t queue)
{
	const uint32_t priority = ((const volatile uint8_t *)event)[6];
	struct rte_event read = {.u64 = event->u64};

	read.event = *(const volatile uint32_t *)event | (uint64_t)queue << 40 |
		     (uint64_t)((kind & 0xc3) | priority << 16) << 32;
	return read;
}

/* Of one that is held: only its operation, and by what it is known. */
static inline uint64_t
event_read_claim(const struct rte_event *event)
{
	return (uint64_t)event_read_kind(event) << 32 | (uint64_t)event_read_opaque(event) << 56;
}

/* Two words, not a wider one, for the same reason. */
static inline void
event_write(struct rte_event *to, struct rte_event event)
{
	((volatile uint64_t *)to)[0] = event.event;
	((volatile uint64_t *)to)[1] = event.u64;
}

static inline uint64_t
event_word(const struct rte_event *event)
{
	return ((const volatile uint64_t *)event)[0];
}

static inline uint64_t
event_value(const struct rte_event *event)
{
	return ((const volatile uint64_t *)event)[1];
}

static inline struct rte_event
event_load(const struct rte_event *from)
{
	struct rte_event event;

	event.event = event_word(from);
	event.u64 = event_value(from);
	return event;
}

#endif
