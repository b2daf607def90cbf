import type {
  DeploymentStatus,
  StackStatus,
} from "../../src/features/deployments/deployments/lifecycle.ts";
import { chunksOf, type Numbered } from "./chunks.ts";
import type { SeededProject } from "./projects.ts";

/** Distribution of the final statuses, in percent. */
const ENDINGS = [
  { status: "succeeded", upTo: 82 },
  { status: "failed", upTo: 88 },
  { status: "canceled", upTo: 92 },
  { status: "superseded", upTo: 100 },
] as const satisfies { status: DeploymentStatus; upTo: number }[];

type Seeded = (typeof ENDINGS)[number]["status"] | "queued";

const STACK_STATUS_OF = {
  succeeded: "succeeded",
  failed: "failed",
  canceled: "canceled",
  superseded: "skipped",
  queued: "pending",
} as const satisfies Record<Seeded, StackStatus>;

/** Queued deployments per thousand; they are the newest. */
const QUEUED_OF_THOUSAND = 3;
const WAITED_MS = 20_000;
const RAN_MS = 240_000;

const INSERT_DEPLOYMENTS = `
  insert into deployments (id, organization_id, project_id, environment_id, number, status, announced,
    queue, patch, configuration, created_at, started_at, finished_at, updated_at, stack_count, held_until)
  select value ->> 'id', ?2, ?3, ?4, value ->> 'number', value ->> 'status', value ->> 'status', 'fifo',
    '[{"op":"replace","path":"/release","value":' || (value ->> 'number') ||
      ',"old_value":' || ((value ->> 'number') - 1) || '}]',
    '{"release":' || (value ->> 'number') || '}', value ->> 'createdAt', value ->> 'startedAt',
    value ->> 'finishedAt', coalesce(value ->> 'finishedAt', value ->> 'createdAt'), ?5, 0
  from json_each(?1)`;

const INSERT_STACKS = `
  insert into deployment_stacks (deployment_id, stack_id, organization_id, environment_id, position,
    status, seq, timestamp, deployment_created_at)
  select deployment.value ->> 'id', stack.value, ?2, ?3, stack.key,
    deployment.value ->> 'stackStatus', 0,
    coalesce(deployment.value ->> 'finishedAt', deployment.value ->> 'createdAt'),
    deployment.value ->> 'createdAt'
  from json_each(?1) as deployment join json_each(?4) as stack`;

const STARTED = "update environments set started_number = ?2 where id = ?1";

/** Inserts deployments of all stacks of a project: the newest queued, the others finished. */
export async function seedDeployments(
  d1: D1Database,
  project: SeededProject,
  count: number,
): Promise<void> {
  const { organizationId, projectId, environmentId, stackIds } = project;
  const finished = count - Math.ceil((count * QUEUED_OF_THOUSAND) / 1000);
  for (const json of chunksOf(count, (row) => describe(row, finished))) {
    await d1.batch([
      d1
        .prepare(INSERT_DEPLOYMENTS)
        .bind(json, organizationId, projectId, environmentId, stackIds.length),
      d1.prepare(INSERT_STACKS).bind(json, organizationId, environmentId, JSON.stringify(stackIds)),
    ]);
  }
  await d1.prepare(STARTED).bind(environmentId, finished).run();
}

function describe(row: Numbered, finished: number) {
  const status = statusOf(row.number, finished);
  const ran = status === "succeeded" || status === "failed";
  const startedAt = row.createdAt + WAITED_MS;
  return {
    ...row,
    status,
    stackStatus: STACK_STATUS_OF[status],
    startedAt: ran ? startedAt : undefined,
    finishedAt: status === "queued" ? undefined : startedAt + (ran ? RAN_MS : 0),
  };
}

function statusOf(number: number, finished: number): Seeded {
  if (number > finished) return "queued";
  return ENDINGS.find(({ upTo }) => number % 100 < upTo)?.status ?? "succeeded";
}
