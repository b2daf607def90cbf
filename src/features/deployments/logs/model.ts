import { LIMITS } from "../../../lib/limits.ts";

/** Each follows the last byte that a log keeps. */
export const CLOSING_LINES = {
  ofLog: `\n[The log has ${LIMITS.logBytes.value} bytes. What follows is not kept.]\n`,
  ofDay: `\n[The logs of the organization have used the ${LIMITS.logBytesOfDay.value} bytes of this day (UTC). What follows is not kept.]\n`,
} as const;

/**
 * `pending`: no runner has started the deployment. `open`: bytes may still arrive. `sealed`: none
 * will. `none`: the deployment has ended, and there is no log of it.
 */
export const LOG_STATUSES = ["pending", "open", "sealed", "none"] as const;
export type LogStatus = (typeof LOG_STATUSES)[number];

/** Consecutive bytes of one stack, which arrived at once. */
export interface LogChunk {
  /** Of the first byte. */
  offset: number;
  stackId: string;
  /** When the bytes arrived. */
  time: number;
  bytes: Uint8Array;
}
