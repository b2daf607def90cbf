import { join } from "node:path";
import { LIMITS } from "../../src/lib/limits.ts";
import { type LimitedKind, QUOTAS } from "../../src/lib/resource-types.ts";
import { KEPT, RETENTION, type RetentionRule } from "../../src/lib/retention.ts";
import { POLICIES } from "../../src/rate-limits/index.ts";
import { describeQuota, LIMIT_DESCRIPTIONS, type LimitDescription } from "./limit-descriptions.ts";
import { ROOT } from "./wrangler.ts";

export const LIMITS_FILE = join(ROOT, "docs/limits.md");

const INTRODUCTION = `# Limits

Every limit on what a caller can send, store, or make the service do, and what happens beyond it.
\`npm run limits\` generates this page from \`src/lib/limits.ts\`, \`src/lib/resource-types.ts\`,
\`scripts/lib/limit-descriptions.ts\` and the rate limit policies.

The service checks a limit when a request creates a resource or enlarges it. Limits on stored data never
reject reads, deletions, cancellations or the calls of runners, except for a new alarm, and for values of variables
while the audit log has no room for the entry: an organization at a limit can always shrink. \`GET /v1/orgs/{org_id}/usage\` returns what an organization uses.

| What | Limit | Beyond it |
|---|---|---|
`;

const RETENTION_TITLE = `
## How long data is kept

The schedule deletes older data in small steps ([docs/operations.md](operations.md#the-purge)). A setting in
\`wrangler.toml\` changes a number of days. Beyond the share of its organization,
history goes before its time: the changelog, events, finished deliveries, and deployments beyond the newest
${LIMITS.redeployableDeployments.value.toLocaleString("en-US")} of an environment.

| What | Kept for | Setting |
|---|---|---|
`;

/** The text of docs/limits.md. */
export function renderLimits(): string {
  const policies = Object.entries(POLICIES).map(
    ([name, { limit, appliesTo }]) =>
      `| Requests in any 60 s under the policy \`${name}\`: ${appliesTo} | ${count(limit)} | \`rate\`, with \`Retry-After\` |`,
  );
  const quotas = Object.entries(QUOTAS).map(([kind, value]) =>
    renderLimit(value, describeQuota(kind as LimitedKind)),
  );
  const limits = Object.entries(LIMIT_DESCRIPTIONS).flatMap(([name, description]) => {
    const { value } = LIMITS[name as keyof typeof LIMITS];
    return [renderLimit(value, description), ...(name === "storedBytes" ? quotas : [])];
  });
  return `${INTRODUCTION}${[...policies, ...limits].join("\n")}\n${RETENTION_TITLE}${renderRetention()}\n`;
}

function renderLimit(value: number, { what, unit, beyond }: LimitDescription): string {
  return `| ${what} | ${formatLimit(value, unit)} | ${beyond} |`;
}

function renderRetention(): string {
  const periods: readonly RetentionRule[] = Object.values(RETENTION);
  const limited = periods.map(
    ({ what, days, setting, minimumDays }) =>
      `| ${what} | ${count(days)} days | \`${setting}\`${minimumDays ? `, at least ${minimumDays}` : ""} |`,
  );
  const others = Object.entries(KEPT).map(([what, until]) => `| ${what} | ${until} | |`);
  return [...limited, ...others].join("\n");
}

function formatLimit(value: number, unit: LimitDescription["unit"]): string {
  if (unit === "bytes") return formatBytes(value);
  if (unit === "ms") return formatDuration(value);
  if (unit === "items" || unit === "requests") return count(value);
  return `${count(value)} ${unit}`;
}

function formatBytes(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB"];
  const exponent = units.findLastIndex((_, at) => bytes % 1024 ** at === 0 && bytes >= 1024 ** at);
  return `${count(bytes / 1024 ** exponent)} ${units[exponent]}`;
}

function formatDuration(ms: number): string {
  const units = [
    [86_400_000, "days"],
    [3_600_000, "h"],
    [60_000, "min"],
    [1_000, "s"],
  ] as const;
  const [size, name] = units.find(([each]) => ms >= each && ms % each === 0) ?? [1, "ms"];
  return ms === size && name === "days" ? "1 day" : `${count(ms / size)} ${name}`;
}

const count = (value: number) => value.toLocaleString("en-US");
