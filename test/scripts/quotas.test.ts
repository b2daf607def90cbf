import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { changeQuotas, readQuotas } from "../../scripts/lib/quotas.ts";
import { DEFAULT_QUOTAS, QUOTA_KINDS } from "../../src/features/housekeeping/quotas/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { newProject, newWorld, type World } from "../support/world.ts";

async function change(world: World, changes: Parameters<typeof changeQuotas>[3]["changes"]) {
  const before = await readQuotas(env.DB, world.id);
  if (!before) throw new Error("The organization does not exist");
  return changeQuotas(env.DB, systemClock, world.id, { before, changes });
}

async function auditOf(world: World) {
  const { body } = await world.client.get(`/v1/orgs/${world.id}/audit-log?action=quotas.changed`);
  return body.data;
}

it("gives an organization quotas of its own and takes them back, on record, and no other", async () => {
  const [world, other] = [await newWorld(), await newWorld()];
  for (const each of [world, other]) await newProject(each.client);
  const isTrue = await change(
    world,
    new Map([
      ["projects", 2],
      ["stored_bytes", 5_000_000_000],
    ]),
  );
  expect(isTrue).toBe(true);
  expect(await readQuotas(env.DB, world.id)).toEqual({
    ...Object.fromEntries(
      QUOTA_KINDS.map((kind) => [kind, { allowed: DEFAULT_QUOTAS[kind], isOwn: false }]),
    ),
    projects: { allowed: 2, isOwn: true },
    stored_bytes: { allowed: 5_000_000_000, isOwn: true },
  });
  const create = ({ client }: World, name: string) => client.post("/v1/projects", { name });
  expect((await create(world, "second")).status).toBe(201);
  const refused = await create(world, "third");
  expect([refused.status, refused.body.message]).toEqual([
    409,
    "The limit of 2 projects is reached. Delete some first, or send less.",
  ]);
  for (const name of ["second", "third"]) expect((await create(other, name)).status).toBe(201);
  expect(await change(world, new Map([["projects", 2]]))).toBe(false);
  expect(await change(world, new Map([["projects", null]]))).toBe(true);
  expect((await create(world, "third")).status).toBe(201);
  expect(await auditOf(other)).toEqual([]);
  const target = { type: "organization", id: world.id };
  const operator = { type: "operator" };
  expect(await auditOf(world)).toMatchObject([
    { actor: operator, target, changes: { before: { projects: 2 }, after: { projects: 1_000 } } },
    {
      actor: operator,
      target,
      changes: {
        before: { projects: 1_000, stored_bytes: DEFAULT_QUOTAS.stored_bytes },
        after: { projects: 2, stored_bytes: 5_000_000_000 },
      },
    },
  ]);
});

it("refuses the first resource of a kind whose quota is 0, and finds no deleted organization", async () => {
  const world = await newWorld();
  await change(world, new Map([["runner_pools", 0]]));
  const { default_environment_id: id } = await newProject(world.client);
  const pools = `/v1/orgs/${world.id}/runner-pools`;
  const { status } = await world.client.post(pools, { name: "pool", environment_ids: [id] });
  expect(status).toBe(409);
  expect((await world.client.delete(`/v1/orgs/${world.id}`)).status).toBe(204);
  expect(await readQuotas(env.DB, world.id)).toBeUndefined();
  expect(await readQuotas(env.DB, newId(systemClock))).toBeUndefined();
});
