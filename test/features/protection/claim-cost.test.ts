import { describe, expect, it } from "vitest";
import { Instrumented } from "../../support/instruments.ts";
import { copyRow, newIdsOf } from "../../support/long-lists.ts";
import { protect } from "../../support/protection.ts";
import { claim } from "../../support/runner.ts";
import {
  newDeployableProject,
  newDeployment,
  newPool,
  newStack,
  newWorld,
} from "../../support/world.ts";

const OTHERS = 5;
const WAITING = 200;

describe("a claim", () => {
  it("reads no rows of those that are held while 1,000 deployments wait in other environments of its pool", async () => {
    const world = await newWorld();
    const { project, environmentId } = await newDeployableProject(world);
    const environments = await Promise.all(
      Array.from({ length: OTHERS }, async (_, at) => {
        const path = `/v1/projects/${project.id}/environments`;
        const { body } = await world.client.post(path, { name: `other-${at}` });
        await newStack(world.client, body.id);
        await protect(world.client, body.id, {
          approvals: { required: 1, approvers: { role: "owner" } },
        });
        return body.id as string;
      }),
    );
    const pool = await newPool(world, [environmentId, ...environments]);
    const worker = new Instrumented();
    const runner = pool.runner.via(worker.fetch);
    const measure = async () => {
      await claim(runner);
      worker.forget();
      expect((await claim(runner)).status).toBe(204);
      const [batch, ...others] = worker.database;
      expect(others).toEqual([]);
      return { rows: Number(batch?.rowsRead), statements: batch?.statements.length };
    };
    const before = await measure();
    for (const id of environments) {
      const first = await newDeployment(world.client, id, { queue: "fifo" });
      await copyRow(world.id, "deployments", first.id, newIdsOf(WAITING - 1), {
        number: "source.number + 1 + item.key",
        created_at: "source.created_at + 1 + item.key",
      });
    }
    const after = await measure();
    expect(after.statements).toBe(before.statements);
    expect(after.rows).toBe(before.rows);
  });
});
