import { expect } from "vitest";
import { ExchangeHarness } from "../support/exchange-harness.ts";
import { ISSUER, Issuer } from "../support/issuer.ts";
import { proveIdentity } from "../support/protection.ts";
import {
  CONNECTION,
  join,
  newServiceAccount,
  newTrust,
  newWorld,
  type Person,
  type World,
} from "../support/world.ts";
import type { Reply } from "./fixture.ts";
import { ProtectionModel, type WalkPerson } from "./protection-model.ts";

export type Send = (key: string, method: string, path: string, body?: object) => Promise<Reply>;

export interface WalkProject {
  key: string;
  projectId: string;
}

export interface PreparedWalk {
  world: World;
  model: ProtectionModel;
  projectId: string;
  poolPath: string;
  runner: string;
  trusts: WalkTrusts;
}

/**
 * A connected project with three environments of the same stacks, a runner, and four people, each of whom has made a
 * trust. The second person in the project has not signed in.
 */
export async function prepareProtectedWalk(send: Send): Promise<PreparedWalk> {
  const world = await newWorld();
  const key = String(world.client.key);
  const { body: project } = await send(key, "POST", "/v1/projects", { name: "walk" });
  const projectId = project.id;
  const owned = { key, projectId };
  await send(key, "PUT", `/v1/projects/${projectId}/connection`, CONNECTION);
  const model = new ProtectionModel();
  model.connection = CONNECTION.region;
  const staging = await newEnvironment(send, owned, "staging");
  await addParts(send, key, staging, model);
  await addParts(send, key, project.default_environment_id, model);
  await newExtraEnvironment(send, owned, model);
  const pools = `/v1/orgs/${world.id}/runner-pools`;
  const environment_ids = [...model.environments.keys()];
  const fields = { name: "all", environment_ids, max_run_seconds: 86_400 };
  const { body: pool } = await send(key, "POST", pools, fields);
  const poolPath = `${pools}/${pool.id}`;
  const { body } = await send(key, "POST", `${poolPath}/tokens`, { name: "x" });
  const makers = await addPeople(send, world, owned, model);
  const trusts = await WalkTrusts.create(send, world, owned, makers);
  return { world, model, projectId, poolPath, runner: body.token, trusts };
}

async function newEnvironment(send: Send, { key, projectId }: WalkProject, name: string) {
  const reply = await send(key, "POST", `/v1/projects/${projectId}/environments`, { name });
  expect(reply.status).toBe(201);
  return String(reply.body.id);
}

/** The environment that a walk deletes and makes again. */
export async function newExtraEnvironment(
  send: Send,
  project: WalkProject,
  model: ProtectionModel,
): Promise<string> {
  const id = await newEnvironment(send, project, "extra");
  await addParts(send, project.key, id, model);
  return id;
}

async function addParts(
  send: Send,
  key: string,
  environment: string,
  model: ProtectionModel,
): Promise<void> {
  const path = `/v1/environments/${environment}`;
  const stacks = new Map<string, { name: string; component: string | undefined }>();
  for (const name of ["a", "b"]) {
    const { body } = await send(key, "POST", `${path}/stacks`, { name });
    stacks.set(body.id, { name, component: undefined });
  }
  const fields = { name: "admin", kind: "service" };
  const { body: component } = await send(key, "POST", `${path}/components`, fields);
  model.addEnvironment(environment, { stacks, components: [component.id] });
}

async function addPeople(
  send: Send,
  world: World,
  project: WalkProject,
  model: ProtectionModel,
): Promise<Pick<Person, "membershipId" | "keyId">[]> {
  const { membershipId: ownerId, keyId } = world;
  const owner = { membershipId: ownerId, key: project.key };
  const isFirst = { isOrganizationOwner: true, role: undefined, addedBy: undefined };
  model.people.set(ownerId, { ...owner, ...isFirst });
  const makers = [{ membershipId: ownerId, keyId }];
  for (const [at, role] of ["contributor", "owner", "owner"].entries()) {
    const person = await join(world);
    const own = { membershipId: person.membershipId, key: String(person.client.key) };
    const hasSignedIn = at % 2 === 0;
    if (hasSignedIn) await proveIdentity(person);
    const addedBy = hasSignedIn ? undefined : ownerId;
    const added = { ...own, isOrganizationOwner: false, role: undefined, addedBy };
    model.people.set(person.membershipId, added);
    await setRole(send, project, added, role);
    makers.push(person);
  }
  return makers;
}

/** @param role In the project. Undefined: none. */
export async function setRole(
  send: Send,
  { key, projectId }: WalkProject,
  person: WalkPerson,
  role: string | undefined,
): Promise<void> {
  const path = `/v1/projects/${projectId}/members`;
  const { membershipId } = person;
  if (person.role) await send(key, "DELETE", `${path}/${membershipId}`);
  person.role = role;
  if (!role) return;
  const reply = await send(key, "POST", path, { member_ids: [membershipId], role });
  expect(reply.status).toBeLessThan(300);
}

/** One trust of each person, for the same service account. */
export class WalkTrusts {
  readonly #world: World;
  readonly #harness: ExchangeHarness;

  private constructor(world: World, harness: ExchangeHarness) {
    this.#world = world;
    this.#harness = harness;
  }

  static async create(
    send: Send,
    world: World,
    { key, projectId }: WalkProject,
    makers: readonly Pick<Person, "membershipId" | "keyId">[],
  ): Promise<WalkTrusts> {
    const membershipId = await newServiceAccount(world);
    const body = { member_ids: [membershipId], role: "contributor" };
    await send(key, "POST", `/v1/projects/${projectId}/members`, body);
    for (const maker of makers) {
      await newTrust(
        world,
        { membershipId },
        {
          issuer: ISSUER,
          conditions: { repository_id: "74", environment: maker.membershipId },
          createdByKeyId: maker.keyId,
          createdByMembershipId: maker.membershipId,
        },
      );
    }
    return new WalkTrusts(world, new ExchangeHarness(await Issuer.create()));
  }

  /** A new key of the trust that this person has made. */
  async exchange(maker: string, now: number): Promise<string> {
    this.#harness.aheadMs += now - this.#harness.now;
    const token = await this.#harness.sign({ environment: maker });
    const { status, body, text } = await this.#harness.exchangeIn(this.#world.id, token);
    expect(status, text).toBe(201);
    return body.key;
  }
}
