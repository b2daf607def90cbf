import type { ResourceStatus } from "../../src/features/deployments/resources/model.ts";
import { chunksOf, type Numbered } from "./chunks.ts";
import type { SeededProject } from "./projects.ts";

const TYPES = [
  "AWS::IAM::Role",
  "AWS::Lambda::Function",
  "AWS::Logs::LogGroup",
  "AWS::S3::Bucket",
  "AWS::SQS::Queue",
];
/** Statuses of the first resources of each hundred; the others are CREATE_COMPLETE. */
const STATUSES: readonly ResourceStatus[] = [
  "UPDATE_FAILED",
  "CREATE_FAILED",
  ...Array<ResourceStatus>(30).fill("UPDATE_COMPLETE"),
];

const INSERT = `
  insert into resources (id, organization_id, project_id, environment_id, stack_id, template_id,
    physical_id, resource_type, status, timestamp, created_at, updated_at)
  select value ->> 'id', ?2, ?3, ?4, value ->> 'stackId', 'Resource' || (value ->> 'number'),
    'acme-' || lower(value ->> 'id'), value ->> 'type', value ->> 'status', value ->> 'createdAt',
    value ->> 'createdAt', value ->> 'createdAt'
  from json_each(?1)`;

/** Inserts resources of a project, distributed evenly over its stacks. */
export async function seedResources(
  d1: D1Database,
  project: SeededProject,
  count: number,
): Promise<void> {
  const { organizationId, projectId, environmentId } = project;
  for (const json of chunksOf(count, (row) => describe(row, project))) {
    await d1.prepare(INSERT).bind(json, organizationId, projectId, environmentId).run();
  }
}

function describe(row: Numbered, { stackIds }: SeededProject) {
  return {
    ...row,
    stackId: stackIds[row.number % stackIds.length],
    type: TYPES[row.number % TYPES.length],
    status: STATUSES[row.number % 100] ?? "CREATE_COMPLETE",
  };
}
