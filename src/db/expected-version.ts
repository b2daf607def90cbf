import { type Column, type SQL, sql } from "drizzle-orm";
import { type ConditionalRequest, entityTag } from "../lib/entity-tag.ts";
import { EtagMismatch } from "../lib/errors.ts";

/**
 * Throws `EtagMismatch` if the request expects another version of the record.
 * @param present The record as a response shows it.
 */
export async function requireExpectedVersion(
  { expectedVersions }: ConditionalRequest,
  version: number,
  present: () => unknown,
): Promise<void> {
  if (expectedVersions === undefined || expectedVersions === "any") return;
  if (expectedVersions.includes(version)) return;
  throw new EtagMismatch(await entityTag(version, present()));
}

/** Whether a resource has a version that `If-Match` lists. Undefined: the request has no condition. */
export function hasExpectedVersion(
  { expectedVersions }: ConditionalRequest,
  version: Column,
): SQL | undefined {
  if (expectedVersions === undefined || expectedVersions === "any") return undefined;
  return sql`${version} in (select value from json_each(${JSON.stringify(expectedVersions)}))`;
}

/**
 * Like `hasExpectedVersion`, for the statements of a batch that write other tables.
 * @param where Selects the resource.
 */
export function resourceHasExpectedVersion(
  ctx: ConditionalRequest,
  version: Column,
  where: SQL | undefined,
): SQL {
  const isExpected = hasExpectedVersion(ctx, version);
  if (!isExpected) return sql`true`;
  return sql`exists (select 1 from ${version.table} where ${where} and ${isExpected})`;
}

/** The version of a resource after a write by a caller. */
export function nextVersion(version: Column): SQL {
  return sql`${version} + 1`;
}
