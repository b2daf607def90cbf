import { type SQL, sql } from "drizzle-orm";
import { LIMITS } from "../../lib/limits.ts";
import { type Bound, bytesOf } from "../usage/index.ts";
import { variables } from "./table.ts";

/** A variable that a request writes; `value` is plain text. */
interface Written {
  id: string;
  value: string;
}

/** AES-GCM adds an IV of 12 bytes and a tag of 16 to a value before it is base64. */
const SEAL_BYTES = 28;

/** The size of a sealed value, decrypted: `key-id.base64`. */
const PLAIN_BYTES = sql.raw(`(octet_length(stored.value) - instr(stored.value, '.')) * 3 / 4
  - (octet_length(stored.value) - octet_length(rtrim(stored.value, '='))) - ${SEAL_BYTES}`);

const listOf = (ids: readonly string[]) =>
  sql`(select value from json_each(${JSON.stringify(ids)}))`;

/** What an environment may hold, for a request that writes some variables and removes others. */
export function boundsOf(
  environmentId: string,
  written: readonly Written[],
  removed: readonly string[] = [],
): readonly Bound[] {
  const all = sql`from ${variables} as stored where stored.environment_id = ${environmentId}`;
  const affected = [...written.map(({ id }) => id), ...removed];
  const left = sql`${all} and stored.id not in ${listOf(affected)}`;
  return [
    {
      what: "variables of an environment",
      limit: LIMITS.variablesOfEnvironment.value,
      before: sql`(select count(*) ${all})`,
      after: sql`(select count(*) ${left}) + ${written.length}`,
    },
    {
      what: "bytes of values in an environment",
      limit: LIMITS.variableBytesOfEnvironment.value,
      before: sql`(select coalesce(sum(${PLAIN_BYTES}), 0) ${all})`,
      after: sql`(select coalesce(sum(${PLAIN_BYTES}), 0) ${left})
        + ${bytesOf(...written.map(({ value }) => value))}`,
    },
  ];
}

/** How many bytes more than these variables something takes that replaces them. */
export function bytesOverStored(ids: readonly string[], bytes: number): SQL {
  return sql`${bytes} - (select coalesce(sum(octet_length(stored.name)
    + octet_length(stored.value)), 0) from ${variables} as stored where stored.id in ${listOf(ids)})`;
}
