import { env } from "cloudflare:workers";
import { SECRET } from "./document.ts";
import type { LeakWorker, Reply } from "./worker.ts";

/** Signs in at the identity provider, and to an organization. Undefined if the service starts no session. */
export async function signInWithAddress(
  worker: LeakWorker,
  address: string,
  { organizationId, invitation }: { organizationId?: string; invitation?: string },
): Promise<string | undefined> {
  const query = invitation === undefined ? "" : `?invitation=${invitation}`;
  const started = await worker.send({ method: "GET", path: `/sign-in${query}` });
  const claims = { email: address };
  const location = started.headers.get("location") ?? "";
  const { pathname, search } = worker.provider.authorize(location, { claims });
  const finished = await worker.send({
    method: "GET",
    path: pathname + search,
    headers: { cookie: cookiesOf(started) },
  });
  const session = sessionOf(finished);
  if (session || organizationId === undefined) return session;
  const chosen = await worker.send({
    method: "POST",
    path: `/v1/sign-in/organizations/${organizationId}`,
    headers: { cookie: cookiesOf(finished) },
  });
  return sessionOf(chosen);
}

function cookiesOf({ headers }: Reply): string {
  return headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
}

function sessionOf({ headers }: Reply): string | undefined {
  return headers.getSetCookie().join("\n").match(SECRET)?.[0];
}

/** As a person who has accepted the memberships by an earlier sign-in. */
export async function signInAsPerson(
  worker: LeakWorker,
  address: string,
  { membershipIds, organizationId }: { membershipIds: readonly string[]; organizationId: string },
): Promise<string> {
  await env.DB.prepare(
    "update memberships set signed_in_at = created_at where id in (select value from json_each(?))",
  )
    .bind(JSON.stringify(membershipIds))
    .run();
  const session = await signInWithAddress(worker, address, { organizationId });
  if (!session) throw new Error("The sign-in started no session");
  return session;
}
