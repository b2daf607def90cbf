import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import {
  countHistory,
  DAY_MS,
  daysAgo,
  idAt,
  idsOf,
  runStatement,
  setShare,
  sweep,
} from "../../support/history.ts";
import { Instrumented } from "../../support/instruments.ts";
import { append, logObject, newLoggedDeployment, start } from "../../support/log-harness.ts";
import { newDeployableProject, newDeployment, newWorld, type World } from "../../support/world.ts";

beforeEach(async () => {
  vi.restoreAllMocks();
  await countHistory();
});

describe("deployments beyond the newest of their environment", () => {
  /** Copies of a deployment, ended, oldest first; those with a configuration are among the newest. */
  async function copyDeployment(id: string, count: number, columns: string): Promise<void> {
    const { results } = await env.DB.prepare(
      "select name from pragma_table_info('deployments')",
    ).all<{
      name: string;
    }>();
    const names = results
      .map(({ name }) => name)
      .filter((name) => !["id", "number", "created_at", "configuration"].includes(name));
    await runStatement(
      `insert into deployments (id, number, created_at, configuration, ${names})
         select item.value ->> 0, item.key + 2, item.value ->> 1, ${columns}, ${names}
         from json_each(?1) as item join deployments on deployments.id = ?2`,
      JSON.stringify(
        Array.from({ length: count }, (_, at) => {
          const time = daysAgo(1_000 - at);
          return [idAt(time), time];
        }),
      ),
      id,
    );
  }

  it("go with their stacks and attempts; the newest, and the last of each status, stay", async () => {
    const [world, other] = [await newWorld(), await newWorld()];
    const owners: [World, string[]][] = [];
    for (const each of [world, other]) {
      const { environmentId } = await newDeployableProject(each);
      await each.client.post(`/v1/environments/${environmentId}/stacks`, { name: "s" });
      const { id } = await newDeployment(each.client, environmentId, {});
      await runStatement(
        "update deployments set status = 'failed', announced = 'failed' where id = ?",
        id,
      );
      await copyDeployment(id, 8, "iif(item.key < 5, '', deployments.configuration)");
      const all = (await idsOf("deployments", each.id)).filter((one) => one !== id);
      // The environment's last success, which is old.
      await runStatement("update deployments set status = 'succeeded' where id = ?", all[1] ?? "");
      await runStatement(
        `insert into deployment_stacks select item.value, stack_id, organization_id, environment_id, position,
           status, status_reason, seq, timestamp, deployment_created_at, started_at
         from json_each(?1) as item join deployment_stacks on deployment_id = ?2`,
        JSON.stringify(all),
        id,
      );
      owners.push([each, [...all, id]]);
    }
    const [[, deployments], [, others]] = owners as [[World, string[]], [World, string[]]];
    await countHistory();
    setShare(10_000_000);
    await sweep();
    expect(await idsOf("deployments", world.id)).toEqual(deployments.toSorted());
    vi.spyOn(LIMITS.historyBytes, "value", "get").mockReturnValue(1);
    await runStatement("delete from history_usage where organization_id = ?", other.id);
    await sweep();
    const left = [deployments[1], ...deployments.slice(5)];
    expect(await idsOf("deployments", world.id)).toEqual(left.toSorted());
    expect(await idsOf("deployments", other.id)).toEqual(others.toSorted());
    const { results } = await env.DB.prepare(
      "select deployment_id as id from deployment_stacks where organization_id = ?",
    )
      .bind(world.id)
      .all<{ id: string }>();
    expect(results.map(({ id }) => id).toSorted()).toEqual(left.toSorted());
    const list = await world.client.get("/v1/deployments");
    expect(list.body.data.map(({ id }: { id: string }) => id).toSorted()).toEqual(left.toSorted());
    const gone = await world.client.post(`/v1/deployments/${deployments[0]}/redeploy`, {});
    expect([gone.status, gone.body.error?.code ?? gone.body.code]).toEqual([404, "not_found"]);
  });

  it("lose their logs first", async () => {
    const worker = new Instrumented();
    const logged = await newLoggedDeployment(worker.fetch);
    const attempt = await start(logged);
    await append(logged, attempt, { stackId: logged.stackIds[0], offset: 0, body: "abc" });
    await attempt.complete("failed");
    const { deploymentId, world } = logged;
    // A newer one with the same status has made it history.
    await runStatement("update deployments set configuration = '' where id = ?", deploymentId);
    await copyDeployment(deploymentId, 1, "'{}'");
    await runStatement(
      "update deployments set created_at = ?1 where environment_id = ?2 and id <> ?3",
      ...[Date.now() + DAY_MS, logged.environmentId, deploymentId],
    );
    setShare(1);
    const getByName = vi.spyOn(env.ATTEMPT_LOG, "getByName").mockImplementation(() => {
      throw new Error("The object is not reachable");
    });
    await worker.sweep();
    getByName.mockRestore();
    expect(await idsOf("deployments", world.id)).toContain(deploymentId);
    await worker.sweep();
    expect(await idsOf("deployments", world.id)).not.toContain(deploymentId);
    const stored = await runInDurableObject(logObject(deploymentId), (_, { storage }) =>
      storage.sql.exec("select name from sqlite_master where name in ('log', 'chunks')").toArray(),
    );
    expect(stored).toEqual([]);
  });
});
