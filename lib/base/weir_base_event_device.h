/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_EVENT_DEVICE_H
#define WEIR_BASE_EVENT_DEVICE_H

/**
 * @file
 * What drivers of DPDK's event devices are called, and their room: for who puts a scheduler on one, and for who tells without DPDK what it
 * would do there.
 *
 * Constants: any thread may use them.
 */

/** @name Drivers, with which names of devices begin */
/**@{*/
#define WEIR_BASE_EVENT_DSW  "event_dsw"  /**< the distributed software scheduler */
#define WEIR_BASE_EVENT_SW   "event_sw"   /**< the central software scheduler, of one core */
#define WEIR_BASE_EVENT_OPDL "event_opdl" /**< the ordered packet distribution library */
/**@}*/

/** @name Most events inside at a time; a device says so itself once it is there */
/**@{*/
#define WEIR_BASE_EVENT_DSW_ROOM 16384 /**< of event_dsw */
#define WEIR_BASE_EVENT_SW_ROOM  4096  /**< of event_sw */
/**@}*/

/** @name Most credits, of one event each, that a port has on loan and others cannot have; no device says so */
/**@{*/
#define WEIR_BASE_EVENT_DSW_LENT 192 /**< of event_dsw */
#define WEIR_BASE_EVENT_SW_LENT  96  /**< of event_sw */
/**@}*/

#endif
