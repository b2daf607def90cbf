import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { CANARY_PREFIX, newCanarySecret } from "../support/canary-secrets.ts";
import type { Parsed, Reply } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { byName, namesOf, newVariableScopes, reveal, variable } from "../support/variables.ts";
import { newKey, type World } from "../support/world.ts";

let world: World;
let environment: string;
let component: string;

beforeEach(async () => {
  ({ world, environment, component } = await newVariableScopes());
});

const list = (path: string) => world.client.get(`${path}?limit=240`);

describe("a bulk write of variables", () => {
  const put = (path: string, mode: string, variables: unknown) =>
    world.client.put(path, { mode, variables });

  it("merges: it writes the named variables and keeps the others", async () => {
    await world.client.post(component, variable("STAYS"));
    const before = (await world.client.post(component, variable("CHANGES"))).body;
    const [changed, added] = [newCanarySecret(), newCanarySecret()];
    const reply = await put(component, "merge", [
      variable("CHANGES", changed, "string"),
      variable("NEW", added),
    ]);
    expect(reply.status).toBe(200);
    expect(namesOf(reply)).toEqual(["CHANGES", "NEW", "STAYS"]);
    expect(reply.body.has_more).toBe(false);
    const byName = new Map(reply.body.data.map((each: Parsed) => [each.name, each]));
    expect(byName.get("CHANGES")).toMatchObject({
      id: before.id,
      version: 2,
      storage_method: "string",
      created_at: before.created_at,
      resource_id: before.resource_id,
    });
    expect(await reveal(world, (byName.get("CHANGES") as Parsed).id)).toEqual({ value: changed });
    expect(await reveal(world, (byName.get("NEW") as Parsed).id)).toEqual({ value: added });
  });

  it("replaces the variables of its scope only", async () => {
    await world.client.post(component, variable("GOES"));
    const kept = (await world.client.post(component, variable("KEPT"))).body;
    await world.client.post(environment, variable("ELSEWHERE"));
    const reply = await put(component, "replace", [variable("KEPT"), variable("NEW")]);
    expect(namesOf(reply)).toEqual(["KEPT", "NEW"]);
    expect(reply.body.data.find(({ name }: Parsed) => name === "KEPT")).toMatchObject({
      id: kept.id,
      version: 2,
    });
    expect(namesOf(await list(environment))).toEqual(["ELSEWHERE"]);
    expect((await put(component, "replace", [])).body.data).toEqual([]);
  });

  it("writes only what differs, and a value that does not open", async () => {
    const sent = ["SAME", "VALUE", "METHOD", "BROKEN"].map((name) => variable(name, "v"));
    const { body } = await put(component, "merge", sent);
    const idOf = (name: string) => body.data.find((each: Parsed) => each.name === name).id;
    await env.DB.prepare("update variables set value = 'test.v2.AAAA' where id = ?")
      .bind(idOf("BROKEN"))
      .run();
    const readRows = async () =>
      (
        await env.DB.prepare(
          "select name, version, storage_method, value, updated_at from variables where scope_id = ? order by name",
        )
          .bind(String(component.split("/")[3]))
          .all<Parsed>()
      ).results;
    const before = await readRows();
    const changed = sent.map((each) => ({
      ...each,
      ...(each.name === "VALUE" && { value: "w" }),
      ...(each.name === "METHOD" && { storage_method: "string" }),
    }));
    const after = (await put(component, "replace", changed)).body.data.toSorted(byName);
    expect(after.map(({ name, version }: Parsed) => [name, version])).toEqual([
      ["BROKEN", 2],
      ["METHOD", 2],
      ["SAME", 1],
      ["VALUE", 2],
    ]);
    const rows = await readRows();
    expect(rows.map((row, at) => row.value === before[at]?.value)).toEqual([
      false,
      false,
      true,
      false,
    ]);
    expect(await reveal(world, idOf("BROKEN"))).toEqual({ value: "v" });
    for (const mode of ["merge", "replace"]) {
      const repeated = await put(component, mode, changed);
      expect(repeated.body.data.toSorted(byName)).toEqual(after);
    }
    expect(await readRows()).toEqual(rows);
  });

  it("writes 200 variables in one batch, as one request of the rate limit", async () => {
    const many = Array.from({ length: 200 }, (_, index) => variable(`V_${index}`));
    const worker = new Instrumented();
    const { client } = await newKey(world);
    const caller = client.via(worker.fetch);
    await caller.get("/v1/orgs");
    worker.forget();
    const reply = await caller.put(component, { mode: "replace", variables: many });
    expect(reply.status).toBe(200);
    expect(reply.body.data).toHaveLength(200);
    expect(reply.headers.get("x-ratelimit-remaining")).toBe("98");
    const shapes = worker.database.map(({ statements }) => statements.length);
    expect(shapes).toEqual([2, 7]);
    for (const { params } of worker.database.flatMap(({ statements }) => statements)) {
      expect(params.length).toBeLessThanOrEqual(100);
    }
    const one = reply.body.data[123];
    const { value } = many.find(({ name }) => name === one.name) ?? {};
    expect(await reveal(world, one.id)).toEqual({ value });
  });

  it.each([
    ["a bad name", [variable("OK"), variable("not-ok")], "variables.1.name"],
    ["a value that is too long", [variable("OK", "a".repeat(32_769))], "variables.0.value"],
    ["a name twice", [variable("A"), variable("B"), variable("A")], "variables.2.name"],
    ["an unknown field", [{ ...variable("A"), note: "x" }], "variables.0.note"],
    [
      "more than two hundred",
      Array.from({ length: 201 }, (_, i) => variable(`V${i}`)),
      "variables",
    ],
  ])("is rejected as a whole for %s, by its index", async (_, variables, path) => {
    await world.client.post(component, variable("BEFORE"));
    const reply = await put(component, "replace", variables);
    expect(reply.status).toBe(400);
    expect(reply.body.cause.issues.map((issue: Parsed) => issue.path)).toContain(path);
    expect(namesOf(await list(component))).toEqual(["BEFORE"]);
  });

  describe.each([
    ["of an empty scope", [], [], []],
    ["with an empty list", ["BEFORE"], [], []],
    ["with a list", ["BEFORE", "KEPT"], ["KEPT", "NEW"], ["KEPT", "NEW"]],
  ])("that replaces the variables %s", (_, before, sent, after) => {
    const variables = sent.map((name) => variable(name));
    beforeEach(async () => {
      for (const name of before) await world.client.post(component, variable(name));
    });

    it("also deletes a variable that is created concurrently", async () => {
      const create = () => world.client.post(component, variable("RACING"));
      const { caller, created } = await racing(create, 1);
      const reply = await caller.put(component, { mode: "replace", variables });
      expect([reply.status, namesOf(reply), created()]).toEqual([200, after, 1]);
      expect(namesOf(await list(component))).toEqual(after);
    });

    it("changes nothing if variables are created during all of its attempts", async () => {
      const create = (at: number) => world.client.post(component, variable(`RACING_${at}`));
      const { caller, created } = await racing(create, Number.POSITIVE_INFINITY);
      const reply = await caller.put(component, { mode: "replace", variables });
      expect([reply.status, reply.body.code]).toEqual([409, "conflict"]);
      const racers = Array.from({ length: created() }, (_each, index) => `RACING_${index + 1}`);
      expect(racers.length).toBeGreaterThan(1);
      expect(namesOf(await list(component))).toEqual([...before, ...racers].toSorted());
    });

    it("ignores variables that are created elsewhere", async () => {
      const create = () => world.client.post(environment, variable("ELSEWHERE"));
      const { caller } = await racing(create, 1);
      const reply = await caller.put(component, { mode: "replace", variables });
      expect([reply.status, namesOf(reply)]).toEqual([200, after]);
      expect(namesOf(await list(environment))).toEqual(["ELSEWHERE"]);
    });
  });

  it("that merges keeps a variable of another name that is created concurrently", async () => {
    const create = () => world.client.post(component, variable("RACING"));
    const { caller, created } = await racing(create, 1);
    for (const variables of [[variable("NEW")], []]) {
      const reply = await caller.put(component, { mode: "merge", variables });
      expect([reply.status, namesOf(reply)]).toEqual([200, ["NEW", "RACING"]]);
    }
    expect(created()).toBe(1);
  });

  /** A client whose first `times` writes are each preceded by `create`, after the read. */
  async function racing(create: (at: number) => Promise<Reply>, times: number) {
    let batches = 0;
    let created = 0;
    const withSession = (constraint: string) => {
      const session = env.DB.withSession(constraint);
      return {
        prepare: (sql: string) => session.prepare(sql),
        batch: async (statements: D1PreparedStatement[]) => {
          batches += 1;
          // An attempt is a batch that reads, and a batch that writes.
          if (batches % 2 === 0 && created < times) {
            created += 1;
            expect((await create(created)).status).toBe(201);
          }
          return session.batch(statements);
        },
        getBookmark: () => session.getBookmark(),
      };
    };
    const worker = new Instrumented({ database: { withSession } as unknown as D1Database });
    const caller = (await newKey(world)).client.via(worker.fetch);
    return { caller, created: () => created };
  }

  it("leaves every value readable and every name unique after concurrent writes", async () => {
    const write = (round: number) =>
      put(
        component,
        round % 2 ? "merge" : "replace",
        Array.from({ length: 5 }, (_, index) => variable(`V_${(index + round) % 7}`)),
      );
    const replies = await Promise.all(Array.from({ length: 8 }, (_, round) => write(round)));
    for (const { status } of replies) expect([200, 409]).toContain(status);
    expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    const { body } = await list(component);
    const names = body.data.map(({ name }: Parsed) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { id } of body.data) {
      expect((await reveal(world, id)).value).toContain(CANARY_PREFIX);
    }
  });
});
