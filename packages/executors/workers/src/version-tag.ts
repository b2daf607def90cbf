import { scryptSync } from "node:crypto";

/** What an executed version was made from. */
export interface VersionOrigin {
  stackId: string;
  commit: string | undefined;
  settings: Readonly<Record<string, unknown>>;
}

/** Cloudflare keeps it with the version: a redeployment of the same finds it again. */
const PREFIX = "longshore-";
/** Long enough for the versions of one Worker. */
const BYTES = 7;

/** Slow, because whoever sees the versions could otherwise try values of a secret. */
export function toVersionTag(origin: VersionOrigin): string {
  const text = JSON.stringify(sortMembers(origin));
  return PREFIX + scryptSync(text, origin.stackId, BYTES).toString("hex");
}

/** The configuration may be written anew, with its members in another order. */
function sortMembers(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return members.map(([name, each]) => [name, sortMembers(each)]);
}

/** The ID of the newest version with the tag, in the list that `wrangler versions list` prints. */
export function findVersion(listed: unknown, tag: string): string | undefined {
  const versions = Array.isArray(listed) ? listed : [];
  const found = versions
    .filter((version) => version?.annotations?.["workers/tag"] === tag)
    .toSorted((one, other) => createdAt(one).localeCompare(createdAt(other)));
  const id: unknown = found.at(-1)?.id;
  return typeof id === "string" ? id : undefined;
}

function createdAt(version: { metadata?: { created_on?: unknown } }): string {
  return String(version.metadata?.created_on ?? "");
}
