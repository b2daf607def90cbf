import { operationAt } from "../support/contract.ts";
import type { Attacker } from "./attacker.ts";
import { SECRET } from "./document.ts";
import type { Fixture } from "./fixtures.ts";
import { signInWithAddress } from "./sign-in.ts";
import { type LeakWorker, ORIGIN } from "./worker.ts";

const WHO_AM_I = "/v1/whoami";
const OF_RUNNERS = "/v1/runner/attempts";

/** The credentials that are not refused. */
export async function findAlive(worker: LeakWorker, credentials: readonly string[]) {
  const alive: string[] = [];
  for (const credential of credentials) {
    const status = await statusOf(worker, credential);
    if (status !== 401) alive.push(`${credential} gets ${status}`);
  }
  return alive;
}

/** The links that still show a secret, and the addresses that sign in to an organization of others. */
export async function findAccepted(worker: LeakWorker, fixture: Fixture, attacker: Attacker) {
  const { knowledge, usedAddresses } = attacker;
  const victims = [fixture.home, fixture.other];
  const accepted: string[] = [];
  for (const path of new Set([...knowledge.links.values()].flatMap((paths) => [...paths]))) {
    const secret = await secretFrom(worker, path, knowledge.cookieHeader);
    if (!secret) continue;
    // A person who has not been removed, in an organization that is the attacker's own, may sign in.
    const isOwn = !path.match(SECRET) && !victims.includes(await organizationOf(worker, secret));
    if (!isOwn) accepted.push(`${path} is accepted`);
  }
  const ways = [
    ...victims.map((organizationId) => ({ organizationId })),
    ...knowledge.all("lsi").map((invitation) => ({ invitation })),
  ];
  for (const address of usedAddresses) {
    for (const way of ways) {
      const session = await signInWithAddress(worker, address, way);
      const isVictims = session && victims.includes(await organizationOf(worker, session));
      if (isVictims) accepted.push(`${address} signs in with ${JSON.stringify(way)}`);
    }
  }
  return accepted;
}

async function statusOf(worker: LeakWorker, credential: string): Promise<number> {
  const path = credential.startsWith("lsr_") ? OF_RUNNERS : WHO_AM_I;
  return (await worker.send({ method: "GET", path, credential })).status;
}

async function organizationOf(worker: LeakWorker, credential: string): Promise<string> {
  const { body } = await worker.send({ method: "GET", path: WHO_AM_I, credential });
  return String(body?.organization?.id);
}

/** What the button of the link's page shows, or sets as a cookie. */
async function secretFrom(worker: LeakWorker, path: string, headers: Record<string, string>) {
  const { pathname } = new URL(path, ORIGIN);
  if (!operationAt("POST", pathname)) return undefined;
  const reply = await worker.send({ method: "POST", path, headers });
  return [reply.text, ...reply.headers.getSetCookie()].join("\n").match(SECRET)?.[0];
}
