import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { type FixedBytes, rowBytes } from "../../src/db/row-bytes.ts";
import { TOMBSTONE_ORGANIZATION_ID } from "../../src/db/tombstone.ts";
import { deployments } from "../../src/features/deployments/deployments/table.ts";
import { FEATURES } from "../../src/features/index.ts";
import { QUOTAS } from "../../src/lib/resource-types.ts";

/** The tables of an organization whose rows no trigger counts, and why. */
const NOT_COUNTED: Readonly<Record<string, string>> = {
  attempts:
    "Counted with their deployment. `checked` is not: one attempt of an environment has it, until its end.",
  deployment_stacks: "Counted with their deployment.",
  environment_successes: "At most 20 of each environment, copied from deployments.",
  environment_positions: "At most one of each environment, and small.",
  resources: "Counted with their stack, by the schedule.",
  idempotency_records: "`idempotency_totals` has their bytes.",
  purges: "None remains once the purge has run.",
  usage: "A counter.",
  history_usage: "A counter.",
  idempotency_totals: "A counter.",
  audit_days: "A counter.",
  limit_checks: "Always empty.",
  quotas: "The operator's.",
  bootstraps: "The installation's.",
};

const KINDS: Readonly<Record<string, string>> = { memberships: "members" };

/** Those of CI jobs and of sessions have limits of their own. */
const RECORDS: Readonly<Record<string, (row: string) => string>> = {
  api_keys: (row) => `iif(${row}.session_id IS NULL AND ${row}.trust_id IS NULL, 1, 0)`,
  runner_tokens: (row) => `iif(${row}.trust_id IS NULL, 1, 0)`,
};

/** Typical rows without their texts: IDs, times and states. */
const BYTES_OF_DEPLOYMENT_STACK = 139;
const BYTES_OF_ATTEMPT = 300;

/** Columns whose number of bytes is assumed, by table. */
const FIXED: Readonly<Record<string, FixedBytes>> = {
  api_keys: { last_used_at: 13 },
  runner_tokens: { last_used_at: 13 },
  runners: { last_seen_at: 13 },
  stacks: {
    ...{ resource_bytes: 4, resources_changed_at: 0 },
    ...{ position: 0, succeeded_at: 0, shows_url: 0 },
  },
  deployment_days: {
    ...{ succeeded: 3, failed: 3, canceled: 3, superseded: 3, recoveries: 3 },
    ...{ queued: 200, run: 200, recovery_ms: 9, failing_since: 13 },
  },
  deployments: {
    status: 9,
    announced: 9,
    cancel_deadline: 0,
    started_at: 13,
    finished_at: 13,
    lapsed_offers: 1,
    released_offers: 1,
    record_version: 1,
    held_until: 13,
    evaluated_at: 13,
    awaits_approval: 1,
    digests_due: 1,
    continue_on_failure: 0,
    configuration: 0,
    failure_reason: 0,
    message: 0,
  },
};

/** What a row causes to be stored elsewhere, or stores in a column with assumed bytes. */
const OTHER_BYTES: Readonly<Record<string, (row: string) => string>> = {
  stacks: (row) => `${row}.resource_bytes`,
  // The attempt has the reason and the message again.
  deployments: (row) =>
    [
      `2 * coalesce(octet_length(${row}.failure_reason), 0)`,
      `2 * coalesce(octet_length(${row}.message), 0)`,
      `${row}.reason_bytes`,
      `${BYTES_OF_DEPLOYMENT_STACK} * ${row}.stack_count`,
      `${BYTES_OF_ATTEMPT} * (${row}.lapsed_offers + ${row}.released_offers + (${row}.started_at IS NOT NULL))`,
    ].join(" + "),
};

export interface CountedTable {
  name: string;
  /** In `usage`. */
  kind: string;
  /** How many records of the kind a row is, as SQL. */
  records(row: string): string;
  /** The UTF-8 bytes that a row counts, as SQL. */
  bytes(row: string): string;
  hasTombstones: boolean;
  columns: readonly string[];
}

/** The tables whose rows triggers count in `usage`. */
export function countedTables(): CountedTable[] {
  return FEATURES.flatMap(({ tables = [] }) => tables)
    .filter(({ history }) => history === undefined)
    .filter(({ table }) => "organizationId" in getTableColumns(table))
    .filter(({ table }) => NOT_COUNTED[getTableName(table)] === undefined)
    .map(({ table, tombstone }) => countedTable(table, tombstone !== undefined));
}

function countedTable(table: SQLiteTable, hasTombstones: boolean): CountedTable {
  const name = getTableName(table);
  const kind = KINDS[name] ?? (name in QUOTAS || name === "deployments" ? name : "others");
  const all = (row: string) => {
    const other = OTHER_BYTES[name]?.(row);
    return rowBytes(table, row, FIXED[name]) + (other ? ` + ${other}` : "");
  };
  return {
    name,
    kind,
    records: RECORDS[name] ?? (() => "1"),
    bytes: name === "deployments" ? liveBytes : all,
    hasTombstones,
    columns: Object.values(getTableColumns(table)).map((column) => column.name),
  };
}

/** A deployment without its configuration is history: it is beyond the newest of its environment. */
function liveBytes(row: string): string {
  const bytes = `${deploymentBytes(row)} + octet_length(${row}.configuration)`;
  return `iif(${row}.configuration = '', 0, ${bytes})`;
}

/** Without its configuration. */
function deploymentBytes(row: string): string {
  return `${rowBytes(deployments, row, FIXED["deployments"])} + ${OTHER_BYTES["deployments"]?.(row)}`;
}

/** By their names. */
export function renderUsageTriggers(table: CountedTable): Record<string, string> {
  const { name, kind, records, bytes, columns } = table;
  const isOfKind = (row: "new" | "old") =>
    `\`organization_id\` = ${row}.organization_id AND \`kind\` = '${kind}'`;
  const change = (column: "records" | "bytes") =>
    `\`${column}\` = \`${column}\` + (${table[column]("new")}) - (${table[column]("old")})`;
  const isConstant = records("new") === records("old");
  const remove = `UPDATE \`usage\` SET \`records\` = \`records\` - ${records("old")}, \`bytes\` = \`bytes\` - (${bytes("old")})
	WHERE ${isOfKind("old")};`;
  const changing = columns.filter((each) => bytes("new").includes(`new.${each}`));
  const watched = changing.filter((each) => !["id", "organization_id"].includes(each));
  return {
    [`usage_${name}_insert`]: `AFTER INSERT ON \`${name}\` BEGIN
	INSERT INTO \`usage\` (\`organization_id\`, \`kind\`, \`records\`, \`bytes\`)
	VALUES (new.organization_id, '${kind}', ${records("new")}, ${bytes("new")})
	ON CONFLICT (\`organization_id\`, \`kind\`) DO UPDATE SET \`records\` = \`records\` + excluded.records, \`bytes\` = \`bytes\` + excluded.bytes;
END;`,
    [`usage_${name}_delete`]: `AFTER DELETE ON \`${name}\` BEGIN
	${remove}
END;`,
    [`usage_${name}_update`]: `AFTER UPDATE OF ${watched.map((each) => `\`${each}\``).join(", ")} ON \`${name}\`
WHEN (${bytes("new")}) <> (${bytes("old")}) BEGIN
	UPDATE \`usage\` SET ${isConstant ? "" : `${change("records")}, `}${change("bytes")}
	WHERE ${isOfKind("new")};
END;`,
    ...(table.hasTombstones && {
      [`usage_${name}_tombstone`]: `AFTER UPDATE OF \`organization_id\` ON \`${name}\` WHEN new.organization_id <> old.organization_id BEGIN
	${remove}
END;`,
    }),
    ...(name === "deployments" && renderDeploymentHistoryTriggers()),
  };
}

export interface HistoryTable {
  name: string;
  /** In `history_usage`. */
  kind: string;
  /** The UTF-8 bytes that a row counts, as SQL. */
  bytes(row: string): string;
  /** The columns whose change changes the bytes. */
  watched: readonly string[];
}

/** The tables whose rows the schedule counts in `history_usage`. */
export function historyTables(): HistoryTable[] {
  return FEATURES.flatMap(({ tables = [] }) => tables).flatMap(({ table, history }) => {
    if (!history) return [];
    const names = Object.values(getTableColumns(table)).map((column) => column.name);
    const constant = [
      "id",
      "organization_id",
      "created_at",
      "updated_at",
      ...Object.keys(history.fixed ?? {}),
    ];
    return {
      name: getTableName(table),
      kind: history.kind,
      bytes: (row: string) => rowBytes(table, row, history.fixed),
      watched: names.filter((each) => !constant.includes(each)),
    };
  });
}

/** By their names. Rows after the position are not counted yet. */
export function renderHistoryTriggers({
  name,
  kind,
  bytes,
  watched,
}: HistoryTable): Record<string, string> {
  const position = `SELECT \`position\` FROM \`history_positions\` WHERE \`table_name\` = '${name}'`;
  const isCounted = `\`organization_id\` = old.organization_id AND \`kind\` = '${kind}' AND old.rowid <= (${position})`;
  const newest = `coalesce((SELECT max(rowid) FROM \`${name}\`), 0)`;
  return {
    [`history_${name}_delete`]: `AFTER DELETE ON \`${name}\` BEGIN
	UPDATE \`history_usage\` SET \`records\` = \`records\` - 1, \`bytes\` = \`bytes\` - (${bytes("old")})
	WHERE ${isCounted};
	UPDATE \`history_positions\` SET \`position\` = ${newest} WHERE \`table_name\` = '${name}' AND \`position\` > ${newest};
END;`,
    [`history_${name}_update`]: `AFTER UPDATE OF ${watched.map((each) => `\`${each}\``).join(", ")} ON \`${name}\`
WHEN (${bytes("new")}) <> (${bytes("old")}) BEGIN
	UPDATE \`history_usage\` SET \`bytes\` = \`bytes\` + (${bytes("new")}) - (${bytes("old")})
	WHERE ${isCounted};
END;`,
  };
}

function renderDeploymentHistoryTriggers(): Record<string, string> {
  const add = `INSERT INTO \`history_usage\` (\`organization_id\`, \`kind\`, \`records\`, \`bytes\`)
	VALUES (new.organization_id, 'deployments', 1, ${deploymentBytes("new")})
	ON CONFLICT (\`organization_id\`, \`kind\`) DO UPDATE SET \`records\` = \`records\` + 1, \`bytes\` = \`bytes\` + excluded.bytes;`;
  return {
    history_deployments_moved: `AFTER UPDATE OF \`configuration\` ON \`deployments\` WHEN new.configuration = '' AND old.configuration <> '' BEGIN
	${add}
END;`,
    history_deployments_insert: `AFTER INSERT ON \`deployments\` WHEN new.configuration = '' BEGIN
	${add}
END;`,
    history_deployments_delete: `AFTER DELETE ON \`deployments\` WHEN old.configuration = '' BEGIN
	UPDATE \`history_usage\` SET \`records\` = \`records\` - 1, \`bytes\` = \`bytes\` - (${deploymentBytes("old")})
	WHERE \`organization_id\` = old.organization_id AND \`kind\` = 'deployments';
END;`,
  };
}

/** Counts all rows of a kind again. */
export function renderCount(kind: string): string[] {
  const counted = countedTables().filter((each) => each.kind === kind);
  return [
    `DELETE FROM \`usage\` WHERE \`kind\` = '${kind}';`,
    // D1 takes at most five terms in a compound select.
    ...counted.map(
      ({
        name,
        records,
        bytes,
      }) => `INSERT INTO \`usage\` (\`organization_id\`, \`kind\`, \`records\`, \`bytes\`)
SELECT organization_id, '${kind}', sum(${records(name)}), sum(${bytes(name)}) FROM \`${name}\`
WHERE organization_id <> '${TOMBSTONE_ORGANIZATION_ID}' GROUP BY organization_id
ON CONFLICT (\`organization_id\`, \`kind\`) DO UPDATE SET \`records\` = \`records\` + excluded.records, \`bytes\` = \`bytes\` + excluded.bytes;`,
    ),
    ...(kind === "deployments" ? renderCountOfHistory() : []),
  ];
}

function renderCountOfHistory(): string[] {
  return [
    "DELETE FROM `history_usage` WHERE `kind` = 'deployments';",
    `INSERT INTO \`history_usage\` (\`organization_id\`, \`kind\`, \`records\`, \`bytes\`)
SELECT organization_id, 'deployments', count(*), sum(${deploymentBytes("deployments")}) FROM \`deployments\`
WHERE configuration = '' GROUP BY organization_id;`,
  ];
}
