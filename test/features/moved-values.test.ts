import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { valueContext } from "../../src/features/projects/variables/model.ts";
import { Cipher } from "../../src/lib/cipher.ts";
import { CANARY_PREFIX, newCanarySecret } from "../support/canary-secrets.ts";
import type { Parsed, Reply } from "../support/client.ts";
import { clearOutbox, DeliveryHarness } from "../support/delivery-harness.ts";
import {
  insertDeliveries,
  insertIntegration,
  OLD_SECRET,
  SECRET,
  storedAttempts,
} from "../support/delivery-rows.ts";
import { sealInFormV1 } from "../support/form-v1.ts";
import { Instrumented } from "../support/instruments.ts";
import { Attempt } from "../support/runner.ts";
import {
  newDeployableProject,
  newDeployment,
  newInside,
  newProject,
  newWorld,
  type World,
} from "../support/world.ts";

/** The scope of a variable, by the columns of its row. */
interface ScopeColumns {
  project_id: string;
  environment_id: string;
  component_id: string | null;
}

let world: World;
let here: ScopeColumns;
let elsewhere: ScopeColumns;

beforeEach(async () => {
  world = await newWorld();
  here = await newScope();
  elsewhere = await newScope();
});

async function newScope(): Promise<ScopeColumns> {
  const { id, default_environment_id } = await newProject(world.client);
  const { component_id = "" } = await newInside(world.client, default_environment_id);
  return { project_id: id, environment_id: default_environment_id, component_id };
}

async function newVariable({ environment_id, component_id }: ScopeColumns): Promise<Parsed> {
  const value = newCanarySecret();
  const scope = component_id ? `components/${component_id}` : `environments/${environment_id}`;
  const input = { name: `V_${crypto.randomUUID().slice(0, 8)}`, storage_method: "secret", value };
  return { ...(await world.client.post(`/v1/${scope}/variables`, input)).body, value };
}

const reveal = (id: string) => world.client.get(`/v1/variables/${id}/value`);

/** As someone could who can write to the database. */
async function update(table: string, id: string, columns: object): Promise<void> {
  const set = Object.keys(columns).map((name) => `${name} = ?`);
  await env.DB.prepare(`update ${table} set ${set.join()} where id = ?`)
    .bind(...Object.values(columns), id)
    .run();
}

async function sealedValueOf(id: string): Promise<string> {
  const sealed = await env.DB.prepare("select value from variables where id = ?").bind(id).first();
  return String(sealed?.["value"]);
}

function expectNothingLeaves(reply: Reply): void {
  expect([reply.status, reply.body.code]).toEqual([500, "internal"]);
  expect(Object.keys(reply.body.cause)).toEqual(["request_id"]);
  expect(reply.text).not.toMatch(/canary|crypt|seal|context/i);
}

describe("a variable", () => {
  it.each<
    [
      string,
      (
        from: ScopeColumns,
        to: ScopeColumns,
      ) => Partial<ScopeColumns> & { scope_id?: string | null },
    ]
  >([
    ["project", (_, { project_id }) => ({ project_id })],
    ["environment", (_, { environment_id }) => ({ environment_id })],
    ["component", (_, { component_id }) => ({ component_id, scope_id: component_id })],
    ["scope", ({ environment_id }) => ({ component_id: null, scope_id: environment_id })],
    ["project, environment and component", (_, to) => ({ ...to, scope_id: to.component_id })],
  ])("that is moved to another %s does not open, until it is moved back", async (_, moved) => {
    const [{ id, value }, other] = [await newVariable(here), await newVariable(elsewhere)];
    expect((await reveal(id)).body).toEqual({ value });
    await update("variables", id, moved(here, elsewhere));
    expectNothingLeaves(await reveal(id));
    expect((await reveal(other.id)).body).toEqual({ value: other.value });
    await update("variables", id, { ...here, scope_id: here.component_id });
    expect((await reveal(id)).body).toEqual({ value });
  });

  it("does not open with the sealed text of another variable, in either direction", async () => {
    const scope = { ...here, component_id: null };
    const [one, two] = [await newVariable(scope), await newVariable(scope)];
    const sealed = { one: await sealedValueOf(one.id), two: await sealedValueOf(two.id) };
    await update("variables", one.id, { value: sealed.two });
    await update("variables", two.id, { value: sealed.one });
    for (const { id } of [one, two]) expectNothingLeaves(await reveal(id));
    await update("variables", one.id, { value: sealed.one });
    expect((await reveal(one.id)).body).toEqual({ value: one.value });
    expectNothingLeaves(await reveal(two.id));
  });

  it("that is moved does not open without the marker of its form", async () => {
    const { id, value } = await newVariable(here);
    const sealed = await sealedValueOf(id);
    await update("variables", id, elsewhere);
    await update("variables", id, { value: sealed.replace(".v2.", ".") });
    expectNothingLeaves(await reveal(id));
    await update("variables", id, { ...here, value: sealed });
    expect((await reveal(id)).body).toEqual({ value });
  });

  it("that is written after it was moved opens in its new place", async () => {
    const { id, name } = await newVariable(here);
    await update("variables", id, { ...elsewhere, scope_id: elsewhere.component_id });
    const value = newCanarySecret();
    await world.client.put(`/v1/variables/${id}`, { name, storage_method: "secret", value });
    expect((await reveal(id)).body).toEqual({ value });
  });

  it("without a form marker opens, and is bound to its place when written", async () => {
    const { id, name, value } = await newVariable(here);
    const context = valueContext({
      id,
      organizationId: world.id,
      projectId: here.project_id,
      environmentId: here.environment_id,
      componentId: here.component_id,
    });
    const before = await sealInFormV1(env.ENCRYPTION_KEYS, value, context);
    await update("variables", id, { value: before });
    expect((await reveal(id)).body).toEqual({ value });
    await world.client.put(`/v1/variables/${id}`, { name, storage_method: "secret", value });
    const sealed = await sealedValueOf(id);
    expect(sealed).toMatch(/^test\.v2\./);
    expect(await (await Cipher.of(env.ENCRYPTION_KEYS)).open(sealed, context)).toBe(value);
    await update("variables", id, { project_id: elsewhere.project_id });
    expectNothingLeaves(await reveal(id));
  });

  it("that is moved to another scope does not open with all values of that", async () => {
    const values = () =>
      world.client.get(`/v1/components/${elsewhere.component_id}/variables/values`);
    const [moved, own] = [await newVariable(here), await newVariable(elsewhere)];
    await update("variables", moved.id, { scope_id: elsewhere.component_id });
    expectNothingLeaves(await values());
    await update("variables", moved.id, elsewhere);
    expectNothingLeaves(await values());
    await update("variables", moved.id, { ...here, scope_id: here.component_id });
    const opened = (await values()).body.data.map(({ id, value }: Parsed) => [id, value]);
    expect(opened).toContainEqual([own.id, own.value]);
    expect(opened).not.toContainEqual([moved.id, moved.value]);
  });

  it("that is moved to a runner's environment is not delivered", async () => {
    const { environmentId, pool } = await newDeployableProject(world);
    const own = await newVariable({ ...here, environment_id: environmentId, component_id: null });
    await newDeployment(world.client, environmentId);
    const attempt = await Attempt.started(pool.runner);
    const { body } = await attempt.variables();
    expect(body.variables.map((each: Parsed) => each.value)).toEqual([own.value]);
    const { id } = await newVariable(here);
    await update("variables", id, { environment_id: environmentId });
    expectNothingLeaves(await attempt.variables());
    await update("variables", id, here);
    expect((await attempt.variables()).body.variables).toHaveLength(1);
  });

  it("that does not open is logged without its value", async () => {
    const isolate = new Instrumented();
    const { id } = await newVariable(here);
    await update("variables", id, elsewhere);
    await world.client.via(isolate.fetch).get(`/v1/variables/${id}/value`);
    const [error] = isolate.logged.filter(({ level }) => level === "error");
    expect(JSON.stringify(error)).toContain("A sealed text cannot be opened");
    expect(JSON.stringify(isolate.logged)).not.toContain(CANARY_PREFIX);
  });
});

describe("an integration", () => {
  /** Sends a delivery of the project to each integration; returns the errors of the attempts. */
  async function errorsOf(projectId: string, ids: readonly string[]) {
    const harness = new DeliveryHarness(() => new Response());
    const project = { id: projectId, org_id: world.id };
    // Slack is sent one message a second.
    for (const id of ids) await update("integrations", id, { last_sent_at: null });
    const deliveries = await Promise.all(
      ids.map((id) => insertDeliveries(project, id, harness.now)),
    );
    const sent = deliveries.flat();
    harness.enqueue(sent);
    await harness.runUntil(harness.now);
    const attempts = await Promise.all(sent.map((id) => storedAttempts(id)));
    return { harness, errors: attempts.flat().map(({ error }: Parsed) => error) };
  }

  const UNREADABLE = "the URL or the secret could not be decrypted";

  it.each(["webhook", "slack"])(
    "of type %s that is moved to another project sends nothing",
    async (type) => {
      await clearOutbox();
      const project = { id: here.project_id, org_id: world.id };
      const moved = await insertIntegration(project, { type });
      const other = await insertIntegration(
        { ...project, id: elsewhere.project_id },
        { url: "https://other.longshore.dev/in" },
      );
      await update("integrations", moved, { project_id: elsewhere.project_id });
      const { harness, errors } = await errorsOf(elsewhere.project_id, [moved, other]);
      expect(errors).toEqual([UNREADABLE, null]);
      expect(harness.received.map(({ url }) => url)).toEqual(["https://other.longshore.dev/in"]);
      expect(JSON.stringify(harness.logged)).not.toContain("hooks.longshore.dev");
      // The project of the delivery decides nothing.
      expect((await errorsOf(here.project_id, [moved])).errors).toEqual([UNREADABLE]);
      await update("integrations", moved, { project_id: here.project_id });
      expect((await errorsOf(here.project_id, [moved])).errors).toEqual([null]);
    },
  );

  it("does not sign with the secret of another project", async () => {
    await clearOutbox();
    const project = { id: here.project_id, org_id: world.id };
    const [from, to] = [
      await insertIntegration(project, { rotatedUntil: Date.now() * 2 }),
      await insertIntegration({ ...project, id: elsewhere.project_id }),
    ];
    const copy = (column: string) =>
      env.DB.prepare(
        `update integrations set ${column} = (select ${column} from integrations where id = ?)
          where id = ?`,
      )
        .bind(from, to)
        .run();
    expect((await errorsOf(elsewhere.project_id, [to])).errors).toEqual([null]);
    await copy("secret");
    const { harness, errors } = await errorsOf(elsewhere.project_id, [to]);
    expect(errors).toEqual([UNREADABLE]);
    expect(JSON.stringify([harness.received, harness.logged])).not.toMatch(
      new RegExp(`${SECRET}|${OLD_SECRET}`),
    );
    expect((await errorsOf(here.project_id, [from])).errors).toEqual([null]);
  });
});
