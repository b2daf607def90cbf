import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { recordBindings } from "../../bench/micro/record.ts";
import { withAnswersOf } from "../../bench/micro/recording.ts";
import { replayBindings } from "../../bench/micro/replay.ts";
import worker from "../../src/index.ts";
import { newKey, newProject, newWorld } from "../support/world.ts";

describe("npm run bench -- micro", () => {
  it("repeats a read with the recorded answers, and without the database", async () => {
    const world = await newWorld();
    const { id } = await newProject(world.client, { name: "storefront" });
    const other = await newProject(world.client, { name: "billing" });
    const { client } = await newKey(world);
    const read = (project: string, bindings: object) => {
      const headers = { "x-api-key": client.key ?? "" };
      const request = new Request(`https://longshore.test/v1/projects/${project}`, { headers });
      return worker.fetch(new Request(request), bindings as typeof env, createExecutionContext());
    };
    const first = await record((bindings) => read(id, bindings));
    const second = await record((bindings) => read(id, bindings));
    expect(second.body).toContain("storefront");
    expect(second.trips).toHaveLength(1);
    expect(Object.keys(second.statements).length).toBeLessThan(
      Object.keys(withAnswersOf(first, second).statements).length,
    );

    await env.DB.prepare("update projects set name = 'shop' where id = ?").bind(id).run();
    const { DB, RATE_LIMITER } = replayBindings(second) as typeof env;
    const replayed = await read(id, { ...env, DB, RATE_LIMITER });
    expect({ status: replayed.status, body: await replayed.text() }).toEqual({
      status: second.status,
      body: second.body,
    });
    expect(await (await read(id, env)).text()).toContain("shop");
    expect(await (await read(other.id, env)).text()).toContain("billing");
  });

  it("refuses to record a statement that has two results in one call", async () => {
    const recorded = { statements: {}, answers: {}, trips: [], calls: [] };
    const { DB } = recordBindings({ DB: env.DB }, recorded) as typeof env;
    const read = (value: number) => DB.prepare("select ?1 as value").bind(value).all();
    await read(1);
    await read(1);
    await expect(read(2)).rejects.toThrow("runs this statement twice");
  });

  it("refuses to replay a statement that was not recorded", async () => {
    const recorded = { statements: {}, answers: {}, trips: [], calls: [] };
    const { DB } = recordBindings({ DB: env.DB }, recorded) as typeof env;
    await DB.prepare("select 1").all();
    const { DB: replayed } = replayBindings({ status: 200, body: "", ...recorded }) as typeof env;
    expect(await replayed.prepare("select 1").all()).toHaveProperty("results", [{ "1": 1 }]);
    expect(() => replayed.prepare("select 2")).toThrow("did not run this statement");
  });
});

async function record(call: (bindings: object) => Promise<Response> | Response) {
  const recorded = { statements: {}, answers: {}, trips: [], calls: [] };
  const response = await call(recordBindings(env, recorded));
  return { status: response.status, body: await response.text(), ...recorded };
}
