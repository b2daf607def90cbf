import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { exampleBody, type Operation, operations } from "../support/contract.ts";
import { type Ids, newWorldWithIds, pathWith } from "../support/operations.ts";
import { newProject, newWorld } from "../support/world.ts";

const SENT = "Cafe\u0301 \u1112\u1161\u11ab";
const STORED = "Café 한";

/** Names of ASCII. */
const SLUGS = /environments|components$|component_id|variables/;
const FIELDS = ["name", "display_name"];

function namesIn(body: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(FIELDS.filter((each) => each in body).map((each) => [each, SENT]));
}

/** What an example refers to. */
const referencesIn = (body: object, ids: Ids) => ({
  ...("environment_ids" in body && { environment_ids: [ids["environment_id"]] }),
  ...("membership_id" in body && { membership_id: ids["membership_id"] }),
  ...("default_environment_id" in body && { default_environment_id: ids["environment_id"] }),
  ...("component_id" in body && { component_id: ids["component_id"] }),
});

const named = operations.filter((operation) => {
  const body = exampleBody(operation);
  // A trust needs an issuer that responds.
  const isPossible = operation.operationId !== "createTrust" && !SLUGS.test(operation.path);
  return body && "name" in body && isPossible;
});

describe("names", () => {
  it.each(named.map((each) => [`${each.method} ${each.path}`, each] as const))(
    "are stored in NFC: %s",
    async (_, operation: Operation) => {
      const { world, ids } = await newWorldWithIds();
      const example = exampleBody(operation) ?? {};
      const body = { ...example, ...namesIn(example), ...referencesIn(example, ids) };
      const reply = await world.client.request(operation.method, pathWith(operation, ids), body);
      expect([reply.status, reply.text]).toEqual([
        expect.toSatisfy((each) => each < 300),
        expect.any(String),
      ]);
      expect(reply.text).toContain(STORED);
      expect(reply.text).not.toContain(SENT);
    },
  );

  it("are the same in both forms: to a list, and to a unique index", async () => {
    const { client } = await newWorld();
    const { id } = await newProject(client, { name: SENT });
    for (const name of [SENT, STORED]) {
      const { body } = await client.get(`/v1/projects?name=${encodeURIComponent(name)}`);
      expect(body.data.map((each: { id: string }) => each.id)).toEqual([id]);
      const changelog = `/v1/projects/${id}/changelog?record_name=${encodeURIComponent(name)}`;
      expect((await client.get(changelog)).body.data).toMatchObject([{ record: { name: STORED } }]);
      expect((await client.post("/v1/projects", { name })).body.code).toBe("conflict");
    }
  });

  it.each([
    ["hidden characters", "shop\u200b\u202e", 400],
    ["another form", SENT, 200],
  ])(
    "that exist with %s stay readable, and are checked when they are written next",
    async (_, name, status) => {
      const { client } = await newWorld();
      const { id } = await newProject(client, { name: "shop" });
      await env.DB.prepare("update projects set name = ? where id = ?").bind(name, id).run();
      expect((await client.get(`/v1/projects/${id}`)).body.name).toBe(name);
      const { body } = await client.get(`/v1/projects?name=${encodeURIComponent(name)}`);
      expect(body.data).toMatchObject([{ id, name }]);
      const changed = await client.patch(`/v1/projects/${id}`, { description: "Ours" });
      expect(changed.body).toMatchObject({ name, description: "Ours" });
      const renamed = await client.patch(`/v1/projects/${id}`, { name });
      expect([renamed.status, (await client.get(`/v1/projects/${id}`)).body.name]).toEqual([
        status,
        status === 200 ? STORED : name,
      ]);
    },
  );

  it("are checked by their length in NFC, too", async () => {
    const { client } = await newWorld();
    // NFC writes this letter as two characters.
    const longest = "\u0958".repeat(50);
    expect((await client.post("/v1/projects", { name: longest })).status).toBe(201);
    const refused = await client.post("/v1/projects", { name: `${longest}x` });
    expect(refused.body.cause.issues).toEqual([
      { path: "name", message: "Send at most 100 characters." },
    ]);
  });
});
