import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { newIntegration } from "../../support/integrations.ts";
import { copyRow, newIdsOf } from "../../support/long-lists.ts";
import { listDeliveries } from "../../support/outbox.ts";
import { approve, newFreeze, reject } from "../../support/protection.ts";
import { Attempt } from "../../support/runner.ts";
import { useShop } from "../../support/shop.ts";
import { newProject, type Person } from "../../support/world.ts";

const shop = useShop({});

beforeEach(() => newIntegration(shop.world.client, shop.project.id, ["promotions"]));

const rules = (required: number) => ({ approvals: { required, approvers: { role: "owner" } } });

const listEvents = async (projectId = shop.project.id as string) =>
  (await listDeliveries(projectId)).map(({ type, data }) => ({ type, data }));

const typesOf = async () => (await listEvents()).map(({ type }) => type);

const location = () => ({
  project: { id: shop.project.id, name: "storefront" },
  environment: { id: shop.environmentId, name: "production" },
});

describe("an event", () => {
  it("asks for approvals once for each deployment, whatever evaluates it again", async () => {
    await shop.protect(rules(2));
    const { id, waiting_for } = await shop.deploy();
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
    await shop.sweep(Date.now() + 1_000);
    await shop.protect(rules(3));
    await approve(shop.world.client, id);
    await shop.sweep(Date.now() + 1_000);
    expect((await typesOf()).filter((type) => type === "approvals.requested")).toHaveLength(1);
    await shop.deploy();
    expect((await typesOf()).filter((type) => type === "approvals.requested")).toHaveLength(2);
  });

  it("asks for approvals when rules begin to need them, and again after approvals have stopped counting", async () => {
    const { id } = await shop.deploy();
    expect(await listEvents()).toEqual([]);
    await shop.protect(rules(1));
    expect(await typesOf()).toEqual(["approvals.requested"]);
    const olga = await shop.join("owner");
    await approve(olga.client, id);
    await shop.world.client.delete(`/v1/projects/${shop.project.id}/members/${olga.membershipId}`);
    const attempt = await Attempt.claim(shop.pool.runner);
    expect((await attempt.post("start")).status).toBe(409);
    await shop.sweep(Date.now() + 1_000);
    await shop.sweep(Date.now() + 1_000);
    const types = ["approvals.requested", "approvals.given", "approvals.requested"];
    expect(await typesOf()).toEqual(types);
  });

  it("asks for no approvals without a rule, for an exempt restart, or of what expires at once", async () => {
    await shop.protect({ group: "production" });
    const { id } = await shop.deploy();
    await (await Attempt.started(shop.pool.runner)).succeed();
    await shop.protect({ ...rules(1), exempt: ["restart"] });
    const before = (await typesOf()).length;
    const { status, body } = await shop.world.client.post(
      `/v1/deployments/${id}/redeploy`,
      undefined,
    );
    expect([status, body.exempt]).toEqual([201, "restart"]);
    expect((await typesOf()).length).toBe(before);
  });

  it("has who approved or rejected what, with the comment", async () => {
    await shop.protect(rules(2));
    const { id } = await shop.deploy();
    const olga = await shop.join("owner");
    await approve(shop.world.client, id);
    await reject(olga.client, id, "Not on a Friday");
    expect(await listEvents()).toEqual([
      expect.objectContaining({ type: "approvals.requested" }),
      {
        type: "approvals.given",
        data: { deployment_id: id, ...location(), membership_id: shop.world.membershipId },
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
    expect((await approve(shop.world.client, id)).status).toBe(409);
    expect((await approve(shop.mona.client, id)).status).toBe(409);
    expect(await typesOf()).toHaveLength(3);
  });

  it("has who has overridden which conditions, and why", async () => {
    await shop.protect(rules(1));
    const { id } = await shop.deploy();
    const body = { reason: "The shop is down", conditions: ["approvals", "freeze"] };
    const override = ({ client }: Pick<Person, "client">) =>
      client.post(`/v1/deployments/${id}/override`, body);
    expect((await override(shop.mona)).status).toBe(403);
    expect((await override(shop.world)).status).toBe(200);
    expect((await listEvents()).slice(1)).toEqual([
      {
        type: "deployments.overridden",
        data: { deployment_id: id, ...location(), membership_id: shop.world.membershipId, ...body },
      },
    ]);
  });

  it("tells each project of a freeze, with its own environments", async () => {
    const other = await newProject(shop.world.client, { name: "bookshop" });
    const third = await newProject(shop.world.client, { name: "library" });
    for (const { id } of [other, third])
      await newIntegration(shop.world.client, id, ["promotions"]);
    const path = `/v1/orgs/${shop.world.id}/freezes`;
    const listed = [shop.environmentId, other.default_environment_id];
    const { body } = await shop.world.client.post(path, newFreeze({ environment_ids: listed }));
    expect((await shop.world.client.delete(`/v1/freezes/${body.id}`)).status).toBe(204);
    expect((await shop.world.client.delete(`/v1/freezes/${body.id}`)).status).toBe(404);
    const data = (of: Parsed, name: string) => ({
      freeze_id: body.id,
      name: "Black Friday",
      reason: "The busiest days of the year",
      starts_at: "2099-11-26T00:00:00.000Z",
      ends_at: "2099-11-30T00:00:00.000Z",
      membership_id: shop.world.membershipId,
      project: { id: of.id, name },
      environment_ids: [of.default_environment_id],
    });
    const both = (of: Parsed, name: string) =>
      ["freezes.created", "freezes.deleted"].map((type) => ({ type, data: data(of, name) }));
    expect(await listEvents()).toEqual(both(shop.project, "storefront"));
    expect(await listEvents(other.id)).toEqual(both(other, "bookshop"));
    expect(await listEvents(third.id)).toEqual([]);
    await shop.world.client.post(path, newFreeze());
    for (const { id } of [shop.project, other, third]) {
      const last = (await listEvents(id)).at(-1);
      expect(last).toMatchObject({ type: "freezes.created", data: { project: { id } } });
      expect(last?.data).not.toHaveProperty("environment_ids");
    }
    await shop.world.client.post(`/v1/projects/${other.id}/freezes`, newFreeze());
    expect(await listEvents(other.id)).toHaveLength(4);
    expect(await listEvents(third.id)).toHaveLength(1);
  });

  it("and its change are both undone if the batch fails", async () => {
    const path = `/v1/projects/${shop.project.id}/freezes`;
    const { body } = await shop.world.client.post(path, newFreeze());
    await copyRow(shop.world.id, "freezes", body.id, newIdsOf(99), {});
    expect((await shop.world.client.post(path, newFreeze())).status).toBe(409);
    expect(await typesOf()).toEqual(["freezes.created"]);
  });
});

it("keeps one attempt of a deployment whose start is refused again and again", async () => {
  const olga = await shop.join("owner");
  await shop.protect(rules(1));
  const { id } = await shop.deploy();
  const members = `/v1/projects/${shop.project.id}/members`;
  for (let time = 1; time <= 3; time += 1) {
    await approve(olga.client, id);
    const attempt = await Attempt.claim(shop.pool.runner);
    await shop.world.client.delete(`${members}/${olga.membershipId}`);
    expect((await attempt.post("start")).status).toBe(409);
    await shop.world.client.post(members, { member_ids: [olga.membershipId], role: "owner" });
  }
  const { results } = await env.DB.prepare("select outcome from attempts where deployment_id = ?")
    .bind(id)
    .all();
  expect(results).toEqual([{ outcome: "refused" }]);
});
