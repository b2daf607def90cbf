import { callObject } from "../../../lib/call-object.ts";
import { consoleLog, describeError } from "../../../lib/log.ts";

export const LEAST_BYTES = 16 * 1024;
export const MOST_BYTES = 1024 * 1024;
const TIMEOUTS_MS = [500, 500] as const;

/** In bytes from the beginning of a log. */
export interface Extent {
  /** After the last byte that is to be kept now. */
  end: number;
  /** Before which all bytes are reserved. */
  reserved: number;
  /** The most bytes that the log keeps. */
  limit: number;
}

/**
 * How many bytes of its organization's day a log reserves: at least as many as it has already, so that
 * few appends ask for more, and a short log reserves little. 0 if it has enough.
 */
export function bytesToReserve({ end, reserved, limit }: Extent): number {
  if (end <= reserved) return 0;
  const ahead = Math.min(Math.max(reserved, LEAST_BYTES), MOST_BYTES);
  return Math.min(Math.max(end - reserved, ahead), limit - reserved);
}

/**
 * Returns how many bytes are reserved: fewer if the organization has no more today. Never throws: bytes
 * are kept rather than lost because an object does not respond.
 */
export async function reserveBytes(
  organizations: Env["ORGANIZATION_LIMITER"],
  organizationId: string,
  bytes: number,
): Promise<number> {
  const id = crypto.randomUUID();
  try {
    const options = { timeoutsMs: TIMEOUTS_MS };
    return await callObject(
      organizations,
      organizationId,
      async (organization) => organization.reserveLogBytes(id, bytes),
      options,
    );
  } catch (error) {
    const fields = { organization_id: organizationId, ...describeError(error) };
    consoleLog("error", "log.bytes_not_reserved", fields);
    return bytes;
  }
}
