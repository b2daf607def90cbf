import type { TestContext } from "vitest";
import type { DropsReply } from "./faulty-proxy.ts";
import type { RunnerFixture, TestSetup } from "./fixture.ts";
import type { TestProject } from "./project.ts";
import { ApiClient, type Parsed } from "./service.ts";

/** For what a user reads while a deployment runs. */
export const POLLING = { interval: 250, timeout: 300_000 };

/** A command that writes the path of its report. */
export const PATHS = 'echo "$LONGSHORE_REPORT_FILE" >> paths';

/** A command that appends this line to its report. */
export function report(line: object): string {
  return `echo '${JSON.stringify(line)}' >> "$LONGSHORE_REPORT_FILE"`;
}

export function output(name: string, value: string): string {
  return report({ output: { name, value } });
}

interface ReportSetup extends TestSetup {
  client: ApiClient;
  stackId: string;
  secondId: string;
  read(stackId: string): Promise<Parsed>;
  /** Of the first stack. */
  readResources(): Promise<Parsed[]>;
}

/** The resources of a test, and what users read of the stacks. */
export async function prepare(
  fixture: RunnerFixture,
  context: TestContext,
  dropsReply?: DropsReply,
): Promise<ReportSetup> {
  const setup = await fixture.prepare(context, dropsReply);
  const client = new ApiClient(fixture.service.url, setup.project.key);
  const [stackId = "", secondId = ""] = setup.project.stackIds;
  const read = (id: string) => client.call("GET", `/v1/stacks/${id}`);
  const readResources = async () =>
    (await client.call("GET", `/v1/stacks/${stackId}/resources`)).data;
  return { ...setup, client, stackId, secondId, read, readResources };
}

export function deployFirst({ project, stackId }: { project: TestProject; stackId: string }) {
  return project.deploy({ stack_ids: [stackId] });
}

/** Such as `Bucket: CREATE_COMPLETE`, in the order of their IDs. */
export function toStatuses(resources: readonly Parsed[]): string[] {
  return resources.map(({ template_id, status }) => `${template_id}: ${status}`).toSorted();
}
