import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { copyRow, newIdsOf } from "../../support/long-lists.ts";
import { listDeliveries } from "../../support/outbox.ts";
import { approve, joinProject, newFreeze, protect, reject } from "../../support/protection.ts";
import { Attempt } from "../../support/runner.ts";
import {
  newDeployableProject,
  newDeployment,
  newIntegration,
  newProject,
  newWorld,
  type Person,
  type Pool,
  type World,
} from "../../support/world.ts";

const rules = (required: number) => ({ approvals: { required, approvers: { role: "owner" } } });

let world: World;
let project: Parsed;
let environmentId: string;
let pool: Pool;
let mona: Person;

beforeEach(async () => {
  world = await newWorld();
  ({ project, environmentId, pool } = await newDeployableProject(world));
  mona = await joinProject(world, project.id, "contributor");
  await newIntegration(world.client, project.id, ["promotions"]);
});

const deploy = (body: object = {}) => newDeployment(mona.client, environmentId, body);

const listEvents = async (projectId = project.id as string) =>
  (await listDeliveries(projectId)).map(({ type, data }) => ({ type, data }));

const typesOf = async () => (await listEvents()).map(({ type }) => type);

async function sweep(): Promise<void> {
  const now = Date.now() + 1_000;
  await new Instrumented({ clock: { now: () => now } }).sweep();
}

const location = () => ({
  project: { id: project.id, name: "storefront" },
  environment: { id: environmentId, name: "production" },
});

describe("an event", () => {
  it("asks for approvals once for each deployment, whatever evaluates it again", async () => {
    await protect(world.client, environmentId, rules(2));
    const { id, waiting_for } = await deploy();
    const requested = {
      type: "approvals.requested",
      data: {
        deployment_id: id,
        ...location(),
        message: "0 of 2 approvals by owners of the project and admins of the organization.",
        expires_at: waiting_for[0].expires_at,
      },
    };
    expect(await listEvents()).toEqual([requested]);
    await sweep();
    await protect(world.client, environmentId, rules(3));
    await approve(world.client, id);
    await sweep();
    expect((await typesOf()).filter((type) => type === "approvals.requested")).toHaveLength(1);
    await deploy();
    expect((await typesOf()).filter((type) => type === "approvals.requested")).toHaveLength(2);
  });

  it("asks for approvals when rules begin to need them, and again after approvals have stopped counting", async () => {
    const { id } = await deploy();
    expect(await listEvents()).toEqual([]);
    await protect(world.client, environmentId, rules(1));
    expect(await typesOf()).toEqual(["approvals.requested"]);
    const olga = await joinProject(world, project.id, "owner");
    await approve(olga.client, id);
    await world.client.delete(`/v1/projects/${project.id}/members/${olga.membershipId}`);
    const attempt = await Attempt.claim(pool.runner);
    expect((await attempt.post("start")).status).toBe(409);
    await sweep();
    await sweep();
    const types = ["approvals.requested", "approvals.given", "approvals.requested"];
    expect(await typesOf()).toEqual(types);
  });

  it("asks for no approvals without a rule, for an exempt restart, or of what expires at once", async () => {
    await protect(world.client, environmentId, { group: "production" });
    const { id } = await deploy();
    await (await Attempt.started(pool.runner)).succeed();
    await protect(world.client, environmentId, { ...rules(1), exempt: ["restart"] });
    const before = (await typesOf()).length;
    const { status, body } = await world.client.post(`/v1/deployments/${id}/redeploy`, undefined);
    expect([status, body.exempt]).toEqual([201, "restart"]);
    expect((await typesOf()).length).toBe(before);
  });

  it("has who approved or rejected what, with the comment", async () => {
    await protect(world.client, environmentId, rules(2));
    const { id } = await deploy();
    const olga = await joinProject(world, project.id, "owner");
    await approve(world.client, id);
    await reject(olga.client, id, "Not on a Friday");
    expect(await listEvents()).toEqual([
      expect.objectContaining({ type: "approvals.requested" }),
      {
        type: "approvals.given",
        data: { deployment_id: id, ...location(), membership_id: world.membershipId },
      },
      {
        type: "approvals.rejected",
        data: {
          deployment_id: id,
          ...location(),
          membership_id: olga.membershipId,
          comment: "Not on a Friday",
        },
      },
    ]);
    expect((await approve(world.client, id)).status).toBe(409);
    expect((await approve(mona.client, id)).status).toBe(409);
    expect(await typesOf()).toHaveLength(3);
  });

  it("has who has overridden which conditions, and why", async () => {
    await protect(world.client, environmentId, rules(1));
    const { id } = await deploy();
    const body = { reason: "The shop is down", conditions: ["approvals", "freeze"] };
    const override = ({ client }: Pick<Person, "client">) =>
      client.post(`/v1/deployments/${id}/override`, body);
    expect((await override(mona)).status).toBe(403);
    expect((await override(world)).status).toBe(200);
    expect((await listEvents()).slice(1)).toEqual([
      {
        type: "deployments.overridden",
        data: { deployment_id: id, ...location(), membership_id: world.membershipId, ...body },
      },
    ]);
  });

  it("tells each project of a freeze, with its own environments", async () => {
    const other = await newProject(world.client, { name: "bookshop" });
    const third = await newProject(world.client, { name: "library" });
    for (const { id } of [other, third]) await newIntegration(world.client, id, ["promotions"]);
    const path = `/v1/orgs/${world.id}/freezes`;
    const listed = [environmentId, other.default_environment_id];
    const { body } = await world.client.post(path, newFreeze({ environment_ids: listed }));
    expect((await world.client.delete(`/v1/freezes/${body.id}`)).status).toBe(204);
    expect((await world.client.delete(`/v1/freezes/${body.id}`)).status).toBe(404);
    const data = (of: Parsed, name: string) => ({
      freeze_id: body.id,
      name: "Black Friday",
      reason: "The busiest days of the year",
      starts_at: "2099-11-26T00:00:00.000Z",
      ends_at: "2099-11-30T00:00:00.000Z",
      membership_id: world.membershipId,
      project: { id: of.id, name },
      environment_ids: [of.default_environment_id],
    });
    const both = (of: Parsed, name: string) =>
      ["freezes.created", "freezes.deleted"].map((type) => ({ type, data: data(of, name) }));
    expect(await listEvents()).toEqual(both(project, "storefront"));
    expect(await listEvents(other.id)).toEqual(both(other, "bookshop"));
    expect(await listEvents(third.id)).toEqual([]);
    await world.client.post(path, newFreeze());
    for (const { id } of [project, other, third]) {
      const last = (await listEvents(id)).at(-1);
      expect(last).toMatchObject({ type: "freezes.created", data: { project: { id } } });
      expect(last?.data).not.toHaveProperty("environment_ids");
    }
    await world.client.post(`/v1/projects/${other.id}/freezes`, newFreeze());
    expect(await listEvents(other.id)).toHaveLength(4);
    expect(await listEvents(third.id)).toHaveLength(1);
  });

  it("and its change are both undone if the batch fails", async () => {
    const path = `/v1/projects/${project.id}/freezes`;
    const { body } = await world.client.post(path, newFreeze());
    await copyRow(world.id, "freezes", body.id, newIdsOf(99), {});
    expect((await world.client.post(path, newFreeze())).status).toBe(409);
    expect(await typesOf()).toEqual(["freezes.created"]);
  });
});

it("keeps one attempt of a deployment whose start is refused again and again", async () => {
  const olga = await joinProject(world, project.id, "owner");
  await protect(world.client, environmentId, rules(1));
  const { id } = await deploy();
  const members = `/v1/projects/${project.id}/members`;
  for (let time = 1; time <= 3; time += 1) {
    await approve(olga.client, id);
    const attempt = await Attempt.claim(pool.runner);
    await world.client.delete(`${members}/${olga.membershipId}`);
    expect((await attempt.post("start")).status).toBe(409);
    await world.client.post(members, { member_ids: [olga.membershipId], role: "owner" });
  }
  const { results } = await env.DB.prepare("select outcome from attempts where deployment_id = ?")
    .bind(id)
    .all();
  expect(results).toEqual([{ outcome: "refused" }]);
});
