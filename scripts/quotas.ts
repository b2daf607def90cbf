/**
 * `npm run quotas`: shows the quotas of an organization, gives it others than the defaults, or takes them
 * back. Checks the arguments before it loads the tables.
 */
import { systemClock } from "../src/lib/clock.ts";
import { QUOTAS } from "../src/lib/resource-types.ts";
import { CommandError, isProgram, readCommandLine, readId, runCommand } from "./lib/command.ts";
import { openDatabase } from "./lib/database.ts";
import type { QuotaChanges, Quotas } from "./lib/quotas.ts";

const KINDS = [...Object.keys(QUOTAS), "stored_bytes"];
const USAGE = `Usage: npm run quotas -- --org ID [--set KIND=NUMBER]… [--reset KIND]… [--remote]
Kinds: ${KINDS.join(", ")}`;
const OPTIONS = {
  org: { type: "string" },
  set: { type: "string", multiple: true },
  reset: { type: "string", multiple: true },
  remote: { type: "boolean", default: false },
} as const;

if (isProgram(import.meta)) await runCommand(() => changeOrShow(process.argv.slice(2)));

export async function changeOrShow(args: string[], open = openDatabase): Promise<number> {
  const { values, positionals } = readCommandLine(OPTIONS, USAGE, args);
  if (values.org === undefined || positionals.length > 0) throw new CommandError(USAGE, 2);
  const organizationId = readId(values.org);
  const changes = readChanges(values);
  const { changeQuotas, readQuotas } = await import("./lib/quotas.ts");
  const { d1, close } = await open(values);
  try {
    const before = await readQuotas(d1, organizationId);
    if (!before) throw new CommandError(`There is no organization ${values.org}.`);
    const isChanged = await changeQuotas(d1, systemClock, organizationId, { before, changes });
    console.log(describe((isChanged && (await readQuotas(d1, organizationId))) || before));
    return 0;
  } finally {
    await close();
  }
}

function readChanges({ set = [], reset = [] }: { set?: string[]; reset?: string[] }): QuotaChanges {
  const changes = [
    ...set.map((text) => {
      const [, kind = "", allowed] = /^(\w+)=(\d{1,15})$/.exec(text) ?? [];
      return [kind, Number(allowed)] as const;
    }),
    ...reset.map((kind) => [kind, null] as const),
  ];
  const byKind = new Map(changes);
  const areKnown = changes.every(([kind]) => KINDS.includes(kind));
  if (!areKnown || byKind.size < changes.length) throw new CommandError(USAGE, 2);
  return byKind as QuotaChanges;
}

function describe(quotas: Quotas): string {
  const lines = Object.entries(quotas).map(([kind, { allowed, isOwn }]) => {
    const number = allowed.toLocaleString("en-US").padStart(15);
    return `${kind.padEnd(16)}${number}  ${isOwn ? "set" : "default"}`;
  });
  return lines.join("\n");
}
