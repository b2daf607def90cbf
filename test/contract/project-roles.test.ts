import { describe, expect, it } from "vitest";
import type { Scope } from "../../src/lib/scopes.ts";
import type { Operation } from "../support/contract.ts";
import { type Fixture, isRead, prepare, withApiKey } from "../support/operation-requests.ts";
import { joinProject } from "../support/protection.ts";
import { newKey, type Person } from "../support/world.ts";

/** The others are of the organization, or of the caller. */
const inProject = withApiKey.filter(({ path }) =>
  /^\/v1\/(?!orgs|account|sessions)\w+.*\{/.test(path),
);
const reads = inProject.filter((each) => isRead(each) && each.operationId !== "installSlack");
const writes = inProject.filter((each) => !reads.includes(each));
const named = (each: Operation) => [each.operationId, each] as const;

async function replyTo(operation: Operation, newCaller: (fixture: Fixture) => Promise<Person>) {
  const { send } = await prepare(operation, "api_key", { newCaller });
  return send();
}

const viewer = ({ world, project }: Fixture) => joinProject(world, project.id, "viewer");
const outsider = ({ world, outsiderId }: Fixture) =>
  newKey(world, { membershipId: outsiderId, role: "member", isOwn: true });

const ofPools = withApiKey.filter((each) => isRead(each) && each.path.includes("/runner-pools"));

describe("a member of the organization", () => {
  it.each(ofPools.map(named))("without the role of an admin is refused %s", async (_, each) => {
    expect((await replyTo(each, outsider)).status).toBe(403);
  });

  it.each(inProject.map(named))("without a role in the project is refused %s", async (_, each) => {
    const { status, body, text } = await replyTo(each, outsider);
    expect([status, body?.code], text).toEqual([403, "forbidden"]);
  });
});

describe("a viewer of the project", () => {
  it.each(reads.map(named))("reads %s", async (_, each) => {
    const { status, text } = await replyTo(each, viewer);
    expect(status, text).toBe(200);
  });

  it.each(writes.map(named))("is refused %s", async (_, each) => {
    const { status, text } = await replyTo(each, viewer);
    expect(status, text).toBe(403);
  });
});

const scopesOf = ({ description = "" }: Operation) =>
  [...description.matchAll(/Needs the scopes? [^.]+\./g)].flatMap(
    ([text]) => (text.match(/\w+:\w+/g) ?? []) as Scope[],
  );
const SEVERAL = withApiKey.filter((each) => scopesOf(each).length > 1);

describe("a key", () => {
  it("needs several scopes for some operations", () => {
    expect(SEVERAL.length).toBeGreaterThan(6);
  });

  it.each(SEVERAL.map(named))("needs all scopes that the document names: %s", async (_, each) => {
    const needed = scopesOf(each);
    for (const lacking of [undefined, ...needed]) {
      const scopes = needed.filter((scope) => scope !== lacking);
      const { status, body } = await replyTo(each, ({ world }) => newKey(world, { scopes }));
      const refusal = [403, `This key lacks the scope ${lacking}.`];
      expect([status, body.message]).toEqual(lacking ? refusal : [200, body.message]);
    }
  });
});
