import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Parsed } from "./client.ts";
import { Browser, type TestIdentityProvider } from "./identity-provider.ts";
import type { World } from "./world.ts";

export const CHOICE_PAGE = "/v1/sign-in/organizations";
export const CHOICE_COOKIE = "__Host-longshore-choice";

export const accept = (browser: Browser, { id }: Pick<World, "id">) =>
  browser.open(`${CHOICE_PAGE}/${id}`, "POST");
export const decline = (browser: Browser, { id }: Pick<World, "id">) =>
  browser.open(`${CHOICE_PAGE}/${id}/decline`, "POST");

/** Adds a member without the person. Returns the ID of the membership. */
export async function add(world: World, email: string, role = "member"): Promise<string> {
  const body = { email, name: "New Hire", role };
  const reply = await world.client.post(`/v1/orgs/${world.id}/members`, body);
  expect(reply.status).toBe(201);
  return reply.body.membership_id;
}

/** Signs in, and expects the page with the choice instead of a session. */
export async function signInToPage(
  provider: TestIdentityProvider,
  email: string,
  options = {},
): Promise<Browser> {
  const browser = new Browser(provider, options);
  const { status, headers } = await browser.signIn(provider, email);
  expect([status, headers.get("location")]).toEqual([303, CHOICE_PAGE]);
  expect([...browser.cookies.keys()]).toEqual([CHOICE_COOKIE]);
  return browser;
}

export async function openPage(browser: Browser, path = CHOICE_PAGE): Promise<string> {
  const response = await browser.open(path);
  expect(response.status).toBe(200);
  return response.text();
}

/** The IDs of the organizations, in the order of a page. */
export const shownIn = (page: string) =>
  [...page.matchAll(/<h3 id="(\w{22})">/g)].map(([, id]) => id);

export async function recordsOf(world: World, ...actions: string[]): Promise<Parsed[]> {
  const { body } = await world.client.get(`/v1/orgs/${world.id}/audit-log?limit=100`);
  return body.data.filter(({ action }: Parsed) => actions.includes(action));
}

export async function isMember(world: World, membershipId: string): Promise<boolean> {
  const reply = await world.client.get(`/v1/orgs/${world.id}/members/${membershipId}`);
  return reply.status === 200;
}

export async function countSessions(...organizations: World[]): Promise<number> {
  const counts = organizations.map(({ id }) =>
    env.DB.prepare("select count(*) as n from sessions where organization_id = ?")
      .bind(id)
      .first<number>("n"),
  );
  return (await Promise.all(counts)).reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

export async function expectRefused(
  response: Response,
  status: number,
  text: string,
): Promise<void> {
  const page = await response.text();
  expect([response.status, page]).toEqual([status, expect.stringContaining(text)]);
  expect(page).toContain("<h1>You are not signed in</h1>");
}
