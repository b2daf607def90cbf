import { describe, expect, it } from "vitest";
import type { Operation } from "../support/contract.ts";
import { type Fixture, prepare, withApiKey } from "../support/operation-requests.ts";
import { joinProject } from "../support/protection.ts";
import { join, newKey, type Person, type World } from "../support/world.ts";
import { WRITE_CASES } from "../support/write-cases.ts";

const PROJECT_ROLES = ["viewer", "contributor", "owner"] as const;
type ProjectRole = (typeof PROJECT_ROLES)[number];

/** The rules of an environment, or of the organization, say who else may call them. */
const WITH_RULES = ["createApproval", "overrideDeployment"];
/** An admin revokes no key of an owner, as the case of this write does. */
const WITHOUT_CASE = ["revokeApiKey"];

const NEEDED = /^Needs the role `(\w+)` in the (project|organization)/;

/** The operations that, as the document says, need a role: with the role. */
const needing = (scope: "project" | "organization") =>
  withApiKey.flatMap((operation) => {
    const { operationId, description = "" } = operation;
    const [, role = "", of] = NEEDED.exec(description) ?? [];
    return of === scope && !WITH_RULES.includes(operationId)
      ? [[operationId, role, operation] as const]
      : [];
  });

const inProject = needing("project");
const ofAdmins = needing("organization").filter(([, role]) => role === "admin");

async function send(operation: Operation, newCaller: (fixture: Fixture) => Promise<Person>) {
  const { operationId } = operation;
  const special = WITHOUT_CASE.includes(operationId) ? undefined : WRITE_CASES[operationId];
  const prepared = await prepare(operation, "api_key", {
    newCaller,
    ...(special && { special }),
    needsOwnFixture: special?.prepare !== undefined,
  });
  return prepared.send();
}

/** With a key of its own: the tests share the organization. */
async function ownerOf({ world }: Fixture): Promise<World> {
  return { ...world, client: (await newKey(world)).client };
}

/** A person with this role in the project, or with none. */
const joinAs = (role: ProjectRole | undefined) => async (fixture: Fixture) => {
  const owner = await ownerOf(fixture);
  return role ? joinProject(owner, fixture.project.id, role) : join(owner);
};

describe("the role that the document says an operation needs", () => {
  it("is found in most descriptions", () => {
    expect([inProject.length, ofAdmins.length].every((count) => count > 30)).toBe(true);
  });

  it.each(inProject)("%s: the role %s in the project, and none below", async (...given) => {
    const [, role, operation] = given;
    const at = PROJECT_ROLES.indexOf(role as ProjectRole);
    const refused = await send(operation, joinAs(PROJECT_ROLES[at - 1]));
    expect([refused.status, refused.body?.code], refused.text).toEqual([403, "forbidden"]);
    const done = await send(operation, joinAs(PROJECT_ROLES[at]));
    expect(done.status, done.text).toBeLessThan(400);
  });

  it.each(ofAdmins)("%s: the role %s in the organization, and no member", async (...given) => {
    const [, , operation] = given;
    const refused = await send(operation, joinAs(undefined));
    expect([refused.status, refused.body?.code], refused.text).toEqual([403, "unauthorized"]);
    const done = await send(operation, async (fixture) => {
      const owner = await ownerOf(fixture);
      const { membershipId } = await join(owner, "admin");
      return newKey(owner, { membershipId, role: "admin", isOwn: true });
    });
    expect(done.status, done.text).toBeLessThan(400);
  });
});
