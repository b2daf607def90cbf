import { env } from "cloudflare:workers";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { LONG_MS } from "../../effort.ts";
import { joinProject, newFreeze } from "../../support/protection.ts";
import { newKey, newWorld, type Person, type World } from "../../support/world.ts";
import { VirtualTimeWorker } from "../../walk/fixture.ts";

const RACES = env.EFFORT.protectionRaces;
/** More round trips than a request takes. */
const MAXIMUM_LEAD = 4;

/**
 * The second model, in the database itself: what starts has, at that moment, an approval of its content by an owner
 * of the project who has not created it, no rejection, and no freeze.
 */
const MODEL = `create trigger races_model before update of status on deployments
  when old.status = 'queued' and new.status = 'in_progress' and exists (
    select 1 from environment_protections where environment_id = new.environment_id and rules <> '{}')
  begin select raise(abort, 'INVARIANT a deployment starts without its conditions') where
    not exists (select 1 from deployment_approvals as approval join project_members as role
        on role.membership_id = approval.membership_id and role.project_id = new.project_id
      where approval.deployment_id = new.id and approval.decision = 'approve' and role.role = 'owner'
        and approval.membership_id not in (select value from json_each(new.creators))
        and approval.configuration_digest = new.configuration_digest)
    or exists (select 1 from deployment_approvals where deployment_id = new.id and decision = 'reject')
    or exists (select 1 from freezes where project_id = new.project_id
      and starts_at <= new.started_at and ends_at > new.started_at);
  end`;

beforeAll(() => env.DB.prepare(MODEL).run());
afterAll(() => env.DB.prepare("drop trigger races_model").run());

let world: World;
let worker: VirtualTimeWorker;
let projectId: string;
let environmentId: string;
let runner: string;
let olga: Person;
let mona: Person;

const keyOf = ({ client }: Pick<Person, "client">) => String(client.key);

async function call(person: Pick<Person, "client">, method: string, path: string, body?: object) {
  const reply = await worker.call(keyOf(person), method, path, body);
  if (reply.status >= 500) throw new Error(`${method} ${path}: ${worker.unexpectedError}`);
  return reply;
}

beforeEach(async () => {
  world = await newWorld();
  worker = new VirtualTimeWorker();
  projectId = (await call(world, "POST", "/v1/projects", { name: "races" })).body.id;
  const { body } = await call(world, "GET", `/v1/projects/${projectId}`);
  environmentId = body.default_environment_id;
  await call(world, "POST", `/v1/environments/${environmentId}/stacks`, { name: "one" });
  const pools = `/v1/orgs/${world.id}/runner-pools`;
  const pool = await call(world, "POST", pools, { name: "p", environment_ids: [environmentId] });
  runner = (await call(world, "POST", `${pools}/${pool.body.id}/tokens`, { name: "t" })).body.token;
  olga = await joinProject(world, projectId, "owner");
  mona = await joinProject(world, projectId, "contributor");
  await protect();
});

const protect = (required = 1) =>
  call(world, "PUT", `/v1/environments/${environmentId}/protection`, {
    approvals: { required, approvers: { role: "owner" } },
  });

const decide = (person: Pick<Person, "client">, id: string, decision = "approve") =>
  call(person, "POST", `/v1/deployments/${id}/approvals`, { decision });

const deploy = async (): Promise<string> =>
  (await call(mona, "POST", `/v1/environments/${environmentId}/deployments`, {})).body.id;

interface Offer {
  id: string;
  attempt: { attempt_id: string; lease_token: string } | undefined;
}

const claim = async (id: string): Promise<Offer> => {
  const request = { request_id: crypto.randomUUID() };
  const { body } = await worker.call(runner, "POST", "/v1/runner/claims", request);
  return { id, attempt: body };
};

const send = async ({ attempt }: Offer, verb: string, body?: object) => {
  if (!attempt) throw new Error("Nothing was offered");
  const path = `/v1/runner/attempts/${attempt.attempt_id}/${verb}`;
  const reply = await worker.call(runner, "POST", path, body, {
    "lease-token": attempt.lease_token,
  });
  if (reply.status >= 500) throw new Error(`${verb}: ${worker.unexpectedError}`);
  return reply;
};

const start = (offer: Offer) => send(offer, "start");

/** An approved deployment that is offered. */
async function offered(): Promise<Offer> {
  const id = await deploy();
  expect((await decide(olga, id)).status).toBe(201);
  return claim(id);
}

/** The environment is free again. Nothing waits for ever: without a started run, the deployment is queued or ended. */
async function finish(offer: Offer, status: number): Promise<void> {
  expect([200, 409]).toContain(status);
  if (status === 200) await send(offer, "complete", { outcome: "failed" });
  else await call(world, "PATCH", `/v1/deployments/${offer.id}/cancel`);
}

/** @param outcomes Every status of a start that there is. */
async function race(
  outcomes: readonly number[],
  round: (at: number) => Promise<number>,
): Promise<void> {
  const statuses = new Set<number>();
  for (let at = 0; at < RACES; at += 1) statuses.add(await round(at));
  expect([...statuses].toSorted()).toEqual(outcomes);
}

/** Delays a request by this many round trips to the database. */
async function makeRoundTrips(count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await env.DB.prepare("select 1").first();
}

/** With each number, the one or the other is first, by another number of round trips to the database. */
function both<One, Other>(at: number, one: () => Promise<One>, other: () => Promise<Other>) {
  const lead = Math.floor(at / 2) % (MAXIMUM_LEAD + 1);
  return at % 2 === 0
    ? Promise.all([one(), makeRoundTrips(lead).then(other)])
    : Promise.all([makeRoundTrips(lead).then(one), other()]);
}

describe("a start", () => {
  it(
    "and a rejection: the deployment starts, or is canceled, and never both",
    async () => {
      await race([200, 409], async (at) => {
        const offer = await offered();
        const [reply, rejection] = await both(
          at,
          () => start(offer),
          () => decide(world, offer.id, "reject"),
        );
        const { body } = await call(world, "GET", `/v1/deployments/${offer.id}`);
        expect(body.status).toBe(rejection.status === 201 ? "canceled" : "in_progress");
        expect(reply.status).toBe(rejection.status === 201 ? 409 : 200);
        if (reply.status === 200) await finish(offer, 200);
        return reply.status;
      });
    },
    LONG_MS,
  );

  it(
    "and the demotion of who has approved",
    async () => {
      const member = `/v1/projects/${projectId}/members/${olga.membershipId}`;
      await race([200, 409], async (at) => {
        const offer = await offered();
        const [{ status }] = await both(
          at,
          () => start(offer),
          () => call(world, "PUT", member, { role: "contributor" }),
        );
        await finish(offer, status);
        await call(world, "PUT", member, { role: "owner" });
        return status;
      });
    },
    LONG_MS,
  );

  it(
    "and a freeze",
    async () => {
      await race([200, 409], async (at) => {
        const offer = await offered();
        const fields = newFreeze({ starts_at: new Date(worker.now - 1_000).toISOString() });
        const [{ status }, freeze] = await both(
          at,
          () => start(offer),
          () => call(world, "POST", `/v1/projects/${projectId}/freezes`, fields),
        );
        await finish(offer, status);
        await call(world, "DELETE", `/v1/freezes/${freeze.body.id}`);
        return status;
      });
    },
    LONG_MS,
  );

  it(
    "and an edit of the configuration",
    async () => {
      const path = `/v1/environments/${environmentId}`;
      const { name } = (await call(world, "GET", path)).body;
      await race([200, 409], async (at) => {
        const offer = await offered();
        const edit = { name, configuration: { round: at } };
        const [{ status }] = await both(
          at,
          () => start(offer),
          () => call(world, "PUT", path, edit),
        );
        await finish(offer, status);
        return status;
      });
    },
    LONG_MS,
  );

  it(
    "and an approval: a runner gets it only afterwards",
    async () => {
      await race([200], async (at) => {
        const id = await deploy();
        const [offer] = await both(
          at,
          () => claim(id),
          () => decide(olga, id),
        );
        const final = offer.attempt ? offer : await claim(id);
        const { status } = await start(final);
        await finish(final, status);
        return status;
      });
    },
    LONG_MS,
  );
});

describe("approvals", () => {
  it(
    "of one person with two keys count once",
    async () => {
      await protect(2);
      const second = await newKey(world, {
        membershipId: olga.membershipId,
        role: "member",
        isOwn: true,
      });
      for (let at = 0; at < RACES; at += 1) {
        const id = await deploy();
        const replies = await both(
          at,
          () => decide(olga, id),
          () => decide(second, id),
        );
        expect(replies.some(({ status }) => status === 201)).toBe(true);
        expect((await claim(id)).attempt).toBeUndefined();
        const { body } = await call(world, "GET", `/v1/deployments/${id}/approvals`);
        expect(body.data).toHaveLength(1);
      }
    },
    LONG_MS,
  );

  it(
    "and an edit of the rules: the stricter ones hold",
    async () => {
      for (let at = 0; at < RACES; at += 1) {
        await protect(1);
        const id = await deploy();
        await both(
          at,
          () => decide(olga, id),
          () => protect(2),
        );
        expect((await claim(id)).attempt).toBeUndefined();
        const { body } = await call(world, "GET", `/v1/deployments/${id}`);
        expect(body.waiting_for[0].code).toBe("approvals");
      }
    },
    LONG_MS,
  );
});
