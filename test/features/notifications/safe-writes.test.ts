import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { newIntegration } from "../../support/integrations.ts";
import { newProject, newWorld } from "../../support/world.ts";

const HOUR = 3_600_000;

async function newPath() {
  const { client } = await newWorld();
  const project = await newProject(client);
  const { id } = await newIntegration(client, project.id);
  const write = (assignments: string) =>
    env.DB.prepare(`update integrations set ${assignments} where id = ?`).bind(id).run();
  return { client, write, path: `/v1/projects/${project.id}/notification-integrations/${id}` };
}

it("a repeated change that changed nothing does not enable an integration that was disabled since", async () => {
  const { client, path, write } = await newPath();
  const change = () => client.request("PATCH", path, {}, { "idempotency-key": "change-1" });
  const first = await change();
  await write("disabled_at = 1, disabled_reason = 'gone'");
  const repeated = await change();
  expect([repeated.status, repeated.text]).toEqual([200, first.text]);
  expect(repeated.headers.get("idempotency-replayed")).toBe("true");
  expect((await client.get(path)).body.disabled_reason).toBe("gone");
});

it("If-Match ignores what the service itself writes of an integration, which a read shows", async () => {
  const { client, path, write } = await newPath();
  const old = String((await client.get(path)).headers.get("etag"));
  await write(`paused_until = ${Date.now() + HOUR}, failing_since = 5, last_sent_at = 6`);
  const read = await client.get(path, { "if-none-match": old });
  expect(read.status).toBe(200);
  const tag = String(read.headers.get("etag"));
  expect(tag).not.toBe(old);
  expect((await client.get(path, { "if-none-match": tag })).status).toBe(304);
  const body = { configuration: { changelog: true } };
  expect((await client.request("PATCH", path, body, { "if-match": old })).status).toBe(200);
});
