import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { CODE_HOST_ISSUERS } from "../../../src/lib/job-source.ts";
import { Client, type Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { Issuer } from "../../support/issuer.ts";
import {
  GITHUB_SOURCE,
  newJob,
  newProtectedEnvironment,
  protect,
} from "../../support/protection.ts";
import {
  newDeployment,
  newServiceAccount,
  newTrust,
  newWorld,
  type World,
} from "../../support/world.ts";

const [GITHUB, GITLAB] = CODE_HOST_ISSUERS;
const OWN_GITHUB = "https://github.example.com/_services/token";
const OWN_GITLAB = "https://gitlab.example.com";
/** One that lets the teams of the organization choose what it signs. */
const WILLING = "https://sts.example.com";
const ISSUERS = [GITHUB, GITLAB, OWN_GITHUB, OWN_GITLAB, WILLING];

const ofGitHub = (ref: string, ref_type: string) => ({ repository_id: "74", ref, ref_type });
const ofGitLab = (ref: string, ref_path: string | undefined, ref_type: string) => ({
  ...{ repository_id: undefined, project_id: "74", project_path: "acme/shop" },
  ...{ ref, ref_path, ref_type },
});

/** What a job claims, and the full ref that it is. */
const JOBS: { issuer: string; claims: object; ref: string | undefined }[] = [
  ...[GITHUB, OWN_GITHUB, WILLING].flatMap((issuer) => [
    { issuer, claims: ofGitHub("refs/heads/main", "branch"), ref: "refs/heads/main" },
    { issuer, claims: ofGitHub("refs/tags/main", "tag"), ref: "refs/tags/main" },
    { issuer, claims: ofGitHub("main", "branch"), ref: undefined },
  ]),
  ...[GITLAB, OWN_GITLAB, WILLING].flatMap((issuer) => [
    { issuer, claims: ofGitLab("main", "refs/heads/main", "branch"), ref: "refs/heads/main" },
    { issuer, claims: ofGitLab("main", "refs/tags/main", "tag"), ref: "refs/tags/main" },
    { issuer, claims: ofGitLab("main", "refs/heads/main", "tag"), ref: undefined },
    { issuer, claims: ofGitLab("main", undefined, "branch"), ref: undefined },
    { issuer, claims: ofGitLab("refs/heads/main", undefined, "branch"), ref: undefined },
  ]),
  { issuer: GITLAB, claims: ofGitHub("refs/heads/main", "branch"), ref: undefined },
];

let world: World;
let project: Parsed;
let environmentId: string;
let issuer: Issuer;
let worker: Instrumented;
const trusts = new Map<string, string>();

beforeAll(async () => {
  world = await newWorld();
  ({ project, environmentId } = await newProtectedEnvironment(world, {}));
  issuer = await Issuer.create();
  worker = new Instrumented({ network: publishKeys });
  const membershipId = await newServiceAccount(world);
  await world.client.post(`/v1/projects/${project.id}/members`, {
    member_ids: [membershipId],
    role: "contributor",
  });
  for (const each of ISSUERS) {
    const conditions = { environment: "production" };
    trusts.set(each, await newTrust(world, { membershipId }, { issuer: each, conditions }));
  }
});

/** All issuers sign with the same key. */
async function publishKeys(url: string): Promise<Response> {
  const [configured] = url.split("/.well-known/openid-configuration");
  if (configured === url) return Response.json({ keys: [issuer.jwk] });
  return Response.json({ issuer: configured, jwks_uri: `${configured}/keys` });
}

/** A client with the key that the job gets for its token. */
async function signInAsJob(from: string, claims: object): Promise<Client> {
  const token = await issuer.sign({ iss: from, sha: "a".repeat(40), ...claims });
  const client = new Client(undefined, worker.fetch);
  const exchanged = await client.post("/v1/oidc/token", { org_id: world.id, token });
  expect([from, claims, exchanged.status]).toEqual([from, claims, 201]);
  return new Client(exchanged.body.key);
}

/** What a deployment of the client waits for first: a rule, or else a runner. */
const waitFor = async (client: Client): Promise<Parsed> =>
  (await newDeployment(client, environmentId)).waiting_for[0];

const codeOf = async (from: string, claims: object): Promise<string> =>
  (await waitFor(await signInAsJob(from, claims))).code;

describe("a rule about sources", () => {
  const wanted = { repository_id: "74", ref: "refs/heads/main" };

  it("compares the full ref and the repository for the trust or the issuer that it names", async () => {
    const jobs = [];
    for (const job of JOBS) {
      jobs.push({ ...job, client: await signInAsJob(job.issuer, job.claims) });
    }
    for (const named of ISSUERS) {
      const isHost = CODE_HOST_ISSUERS.some((each) => each === named);
      const rules = [
        { trust_ids: [trusts.get(named)], ...wanted },
        ...(isHost ? [{ issuer: named, ...wanted }] : []),
      ];
      for (const rule of rules) {
        await protect(world.client, environmentId, { sources: [rule] });
        for (const { issuer: from, claims, ref, client } of jobs) {
          const isMet = from === named && ref === wanted.ref;
          const { code } = await waitFor(client);
          expect([rule, from, claims, code]).toEqual([
            rule,
            from,
            claims,
            isMet ? "runner" : "sources",
          ]);
        }
      }
    }
  });

  it("tells the tag main from the branch main", async () => {
    const branch = ofGitLab("main", "refs/heads/main", "branch");
    const tag = ofGitLab("main", "refs/tags/main", "tag");
    for (const [ref, met, other] of [
      ["refs/heads/*", branch, tag],
      ["refs/tags/*", tag, branch],
    ] as const) {
      await protect(world.client, environmentId, { sources: [{ issuer: GITLAB, ...wanted, ref }] });
      expect([await codeOf(GITLAB, met), await codeOf(GITLAB, other)]).toEqual([
        "runner",
        "sources",
      ]);
    }
  });

  it("asks for a ref that its host protects, if it says so", async () => {
    const rule = { issuer: GITLAB, ...wanted };
    const claims = ofGitLab("main", "refs/heads/main", "branch");
    for (const protected_ref of [true, false]) {
      await protect(world.client, environmentId, { sources: [{ ...rule, protected_ref }] });
      for (const ref_protected of ["true", "false", undefined]) {
        const isMet = !protected_ref || ref_protected === "true";
        const code = await codeOf(GITLAB, { ...claims, ref_protected });
        expect([protected_ref, ref_protected, code]).toEqual([
          protected_ref,
          ref_protected,
          isMet ? "runner" : "sources",
        ]);
      }
    }
  });

  it("from before, without a trust and an issuer, matches nothing, and says what to add", async () => {
    await protect(world.client, environmentId, { sources: [{ issuer: GITHUB, ...wanted }] });
    const job = ofGitHub("refs/heads/main", "branch");
    await env.DB.prepare(
      `update environment_protections set rules = json_remove(rules, '$.sources[0].issuer')
        where environment_id = ?`,
    )
      .bind(environmentId)
      .run();
    const { code, message } = await waitFor(await signInAsJob(GITHUB, job));
    expect([code, message]).toEqual([
      "sources",
      "Needs a key that a trust has given for refs/heads/main of the repository 74. An entry of sources names neither a " +
        "trust nor an issuer, so it matches nothing: add trust_ids or issuer to it.",
    ]);
    const { body } = await world.client.get(`/v1/environments/${environmentId}/protection`);
    expect(body.sources).toEqual([wanted]);
  });

  it("matches no key from before, whose claims have no issuer", async () => {
    await protect(world.client, environmentId, { sources: [{ issuer: GITHUB, ...wanted }] });
    const client = await newJob(world, project.id, GITHUB_SOURCE);
    const before = await newJob(world, project.id, GITHUB_SOURCE);
    await env.DB.prepare(
      `update api_keys set claims = '{"repository_id":"74","ref":"refs/heads/main"}'
        where id = (select id from api_keys where organization_id = ? and trust_id = id
          order by created_at desc, id desc limit 1)`,
    )
      .bind(world.id)
      .run();
    const found = [];
    for (const each of [client, before]) {
      found.push((await waitFor(each)).code);
    }
    expect(found).toEqual(["runner", "sources"]);
  });

  it("names either an issuer whose claims are known, or trusts of the organization", async () => {
    const path = `/v1/environments/${environmentId}/protection`;
    const other = await newWorld();
    const membershipId = await newServiceAccount(other);
    const foreign = await newTrust(other, { membershipId });
    const trust_ids = [trusts.get(OWN_GITHUB)];
    for (const [entry, status] of [
      [{ ...wanted }, 400],
      [{ ...wanted, issuer: GITHUB, trust_ids }, 400],
      [{ ...wanted, issuer: WILLING }, 400],
      [{ ...wanted, trust_ids: [] }, 400],
      [{ ...wanted, trust_ids: [foreign] }, 404],
      [{ ...wanted, issuer: GITHUB, ref: "main" }, 400],
      [{ ...wanted, issuer: GITHUB, repository_id: "acme/shop" }, 400],
      [{ ...wanted, trust_ids }, 200],
      [{ ...wanted, issuer: GITHUB }, 200],
    ] as const) {
      const { status: found } = await world.client.put(path, { sources: [entry] });
      expect([entry, found]).toEqual([entry, status]);
    }
  });
});

describe("a deployment of a job", () => {
  it("shows what the trust has verified as before, without what rules compare", async () => {
    const client = await newJob(world, project.id, GITHUB_SOURCE);
    const { id, created_by } = await newDeployment(client, environmentId);
    expect(created_by.claims).toEqual({ repository: "acme/shop" });
    const { body } = await world.client.get(`/v1/deployments/${id}`);
    expect(body.created_by.claims).toEqual({ repository: "acme/shop" });
  });
});
