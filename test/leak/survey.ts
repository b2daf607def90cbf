import { operations } from "../support/contract.ts";
import type { World } from "../support/world.ts";
import { kindOf, ORGANIZATION } from "./document.ts";
import type { Knowledge } from "./knowledge.ts";
import type { LeakWorker } from "./worker.ts";

const READS = operations.filter(
  ({ method, security, path, ...rest }) =>
    method === "GET" && rest["x-writes"] !== true && security.some((each) => "api_key" in each),
);

/** Adds the IDs that the reads of an organization show: the attacker knows all of them beforehand. */
export async function survey(
  worker: LeakWorker,
  knowledge: Knowledge,
  { client, id: organizationId }: World,
): Promise<void> {
  const credential = client.key;
  knowledge.add(ORGANIZATION, organizationId, organizationId);
  // Lists come before what they list.
  const inOrder = READS.toSorted((a, b) => a.path.length - b.path.length);
  for (const operation of inOrder) {
    const ids = (operation.parameters ?? [])
      .filter((each) => each.in === "path")
      .map(({ name, schema }) => {
        const kind = kindOf(schema["example"]);
        return [name, kind && knowledge.within(kind, organizationId)[0]] as const;
      });
    if (ids.some(([, id]) => id === undefined)) continue;
    const values: Record<string, string | undefined> = Object.fromEntries(ids);
    const path = operation.path.replaceAll(/\{(.+?)\}/g, (_, name: string) => String(values[name]));
    const { status, body } = await worker.send({ method: "GET", path, credential });
    if (status === 200 && body !== undefined) knowledge.learnIds(operation, body, organizationId);
  }
}
