import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { findViolations } from "../support/axe.ts";
import { FAILED_REQUEST, openPage, waitUntilLoaded } from "../support/console.ts";
import { ApiClient, type Parsed, useService } from "../support/service.ts";

const service = useService({ ALLOW_NEW_ORGANIZATIONS: "true" });

const at = (path: string) => new URL(`/console/${path}`, service.pages);
const root = () => `/v1/orgs/${service.organizationId}`;

function open(path: string, apiKey = service.owner.key, options: object = {}) {
  return openPage(at(path), { apiKey, reducedMotion: "reduce", ...options });
}

interface NewKey {
  id: string;
  client: ApiClient;
}

async function createKey(by: ApiClient, name: string, body: object = {}): Promise<NewKey> {
  const { id, key } = await by.call("POST", `${root()}/api-keys`, { name, ...body });
  return { id, client: new ApiClient(service.url, key) };
}

async function addMember(by: ApiClient, name: string, role = "member"): Promise<string> {
  const email = `${crypto.randomUUID()}@example.com`;
  const { membership_id } = await by.call("POST", `${root()}/members`, { email, name, role });
  return membership_id;
}

/** A new member with the role, and a key of its own. */
async function newMember(name: string, role: string, body: object = {}) {
  const membership_id = await addMember(service.owner, name, role);
  const key = await createKey(service.owner, `of ${name}`, { membership_id, ...body });
  return { membershipId: membership_id, ...key };
}

async function createPool(by: ApiClient, name: string): Promise<string> {
  const project = await by.call("POST", "/v1/projects", { name });
  const path = `/v1/projects/${project.id}/environments`;
  const environment = await by.call("POST", path, { name: "prod" });
  const body = { name, environment_ids: [environment.id] };
  const { id } = await by.call("POST", `${root()}/runner-pools`, body);
  return id;
}

/** An owner's key and two of everything that it has made, in two other organizations, too. */
async function makeFamily(name: string) {
  const leaked = await createKey(service.owner, name);
  const { client } = leaked;
  const children = [await createKey(client, `${name} a`), await createKey(client, `${name} b`)];
  for (const each of ["a", "b"]) {
    const email = `${each}-${crypto.randomUUID()}@example.com`;
    await client.call("POST", `${root()}/invitations`, { email, role: "member" });
    await addMember(client, `${name} person ${each}`);
    await client.call("POST", "/v1/orgs", { name: `${name} org ${each}` });
    const pool = await createPool(client, `${name} pool ${each}`);
    await client.call("POST", `${root()}/runner-pools/${pool}/tokens`, {
      name: `${name} token ${each}`,
    });
    await signIn(client.key);
  }
  return { ...leaked, children };
}

/** Requests with the cookie of a new session. */
async function signIn(apiKey: string) {
  const { origin } = service.pages;
  const send = (path: string, body: object, cookie = "") =>
    fetch(new URL(path, origin), {
      method: "POST",
      headers: { "content-type": "application/json", origin, cookie },
      body: JSON.stringify(body),
    });
  const response = await send("/v1/sessions", { api_key: apiKey });
  const [cookie = ""] = String(response.headers.get("set-cookie")).split(";");
  const { id } = JSON.parse(await response.text());
  return {
    id: String(id),
    post: async (path: string, body: object): Promise<Parsed> =>
      JSON.parse(await (await send(path, body, cookie)).text()),
  };
}

const isRefused = (client: ApiClient) =>
  client.call("GET", "/v1/whoami").then(
    () => false,
    (error: Error) => error.message.includes(": 401 "),
  );

/** The URLs of the requests that revoke, from now on. */
function watchRevocations(page: Page): string[] {
  const searches: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "DELETE") searches.push(new URL(request.url()).search);
  });
  return searches;
}

const headingsOf = (page: Page) => page.getByRole("dialog").locator("h3").allTextContents();

describe("the dialog that revokes an API key", () => {
  it("shows the family by type, names the members who stay, and revokes or keeps it", async () => {
    const { children, client, id } = await makeFamily("leaked");
    const { page } = await open("organization/keys");
    const searches = watchRevocations(page);
    const opener = page.getByRole("button", { name: "Revoke leaked", exact: true });
    await opener.click();
    const dialog = page.getByRole("dialog", { name: "Revoke leaked" });
    await dialog.getByRole("heading", { name: "API keys (2)" }).waitFor();
    expect(await headingsOf(page)).toEqual([
      "API keys (2)",
      "Runner tokens (2)",
      "Invitations (2)",
      "Sessions (2)",
      "Other organizations (2)",
      "Members (2)",
    ]);
    const text = String(await dialog.textContent());
    for (const each of ["leaked a", "leaked b", "leaked token a", "leaked org b 1 API key"]) {
      expect(text).toContain(each);
    }
    expect(text).toContain("Members stay.");
    expect(text).toMatch(/leaked a Me · (owner|admin|member) /);
    expect(text).not.toContain("Only an owner");
    expect(await findViolations(page)).toEqual([]);
    const choice = dialog.getByLabel("Revoke what was made with it, too");
    expect(await choice.isChecked()).toBe(true);
    // With the keyboard alone.
    await choice.focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect(searches).toEqual(["?descendants=keep"]);
    expect(await isRefused(client)).toBe(true);
    expect(await Promise.all(children.map((each) => isRefused(each.client)))).toEqual([
      false,
      false,
    ]);
    await page.goto(at("organization/keys?status=revoked").href);
    await page.getByRole("button", { name: "Revoke what it made: leaked", exact: true }).click();
    await page.getByText("The key is revoked already.").waitFor();
    expect(await page.getByRole("dialog").getByRole("checkbox").count()).toBe(0);
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(searches).toEqual(["?descendants=keep", "?descendants=revoke"]);
    expect(await Promise.all(children.map((each) => isRefused(each.client)))).toEqual([true, true]);
    const left = await service.owner.call("GET", `${root()}/api-keys/${id}/family`);
    expect(left.data.map(({ type }: { type: string }) => type)).toEqual(["member", "member"]);
    await page.getByRole("button", { name: "Revoke what it made: leaked", exact: true }).click();
    await page.getByRole("link", { name: "leaked person a" }).click();
    await page.getByRole("heading", { name: "leaked person a", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByLabel("Type leaked person a to confirm").fill("leaked person a");
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByRole("link", { name: "leaked person b" }).waitFor();
    expect(await page.getByRole("link", { name: "leaked person a" }).count()).toBe(0);
  });

  it("loads the family in pages", async () => {
    const leaked = await createKey(service.owner, "paged");
    for (const each of ["a", "b", "c"]) await createKey(leaked.client, `paged ${each}`);
    const { page } = await open("organization/keys");
    await page.route("**/family?*", (route) =>
      route.continue({ url: route.request().url().replace("limit=50", "limit=2") }),
    );
    await page.getByRole("button", { name: "Revoke paged", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: "API keys (2 so far)" }).waitFor();
    await dialog.getByRole("button", { name: "Load more" }).click();
    await dialog.getByRole("heading", { name: "API keys (3)" }).waitFor();
    expect(await dialog.getByRole("listitem").count()).toBe(3);
    expect(await dialog.getByRole("button", { name: "Load more" }).count()).toBe(0);
  });

  it("revokes a key at once that has sessions only", async () => {
    const key = await createKey(service.owner, "with sessions");
    await Promise.all([signIn(key.client.key), signIn(key.client.key)]);
    const { page } = await open("organization/keys");
    const searches = watchRevocations(page);
    await page.getByRole("button", { name: "Revoke with sessions" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: "Sessions (2)" }).waitFor();
    expect(await dialog.getByRole("checkbox").count()).toBe(0);
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(searches).toEqual([""]);
    expect(await isRefused(key.client)).toBe(true);
  });

  it("tells an admin that only an owner revokes in other organizations", async () => {
    const founder = await createKey(service.owner, "founder");
    for (const each of ["a", "b"]) {
      await founder.client.call("POST", "/v1/orgs", { name: `founded ${each}` });
    }
    const admin = await newMember("an admin", "admin");
    const { page } = await open("organization/keys", admin.client.key);
    await page.getByRole("button", { name: "Revoke founder" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Only an owner revokes in other organizations").waitFor();
    expect(await headingsOf(page)).toEqual(["Other organizations (2)"]);
  });

  it("shows one error, and the family that has grown since", async () => {
    const key = await createKey(service.owner, "growing");
    const { page } = await open("organization/keys", service.owner.key, {
      expectedProblem: FAILED_REQUEST,
    });
    const opener = page.getByRole("button", { name: "Revoke growing", exact: true });
    await opener.click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Nothing else was made with it.").waitFor();
    const child = await createKey(key.client, "growing a");
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await dialog.getByText("This key has a family").waitFor();
    await dialog.getByRole("heading", { name: "API keys (1)" }).waitFor();
    expect(await dialog.getByRole("alert").count()).toBe(1);
    await dialog.getByRole("button", { name: "Back" }).click();
    // Without the list, it can still be revoked.
    await page.route("**/family?*", (route) => route.fulfill({ status: 404, json: {} }));
    await page.reload();
    await opener.click();
    await dialog.getByRole("alert").waitFor();
    expect(await dialog.getByRole("alert").count()).toBe(1);
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await isRefused(child.client)).toBe(true);
  });
});

describe("the page of a member", () => {
  it("shows an admin the member's sessions, and revokes one with what was made in it", async () => {
    const admin = await newMember("Grace", "admin");
    const [leaked, other] = [await signIn(admin.client.key), await signIn(admin.client.key)];
    const made: NewKey[] = [];
    for (const [session, name] of [
      [leaked, "in the leaked"],
      [other, "in the other"],
    ] as const) {
      const { id, key } = await session.post(`${root()}/api-keys`, { name });
      made.push({ id, client: new ApiClient(service.url, key) });
    }
    const { page } = await open("organization/members");
    const searches = watchRevocations(page);
    await page.getByRole("link", { name: "Grace" }).click();
    await page.getByRole("heading", { name: "Grace", level: 1 }).waitFor();
    const sessions = page.getByRole("list", { name: "Sessions" }).getByRole("listitem");
    await sessions.nth(1).waitFor();
    await page.getByRole("button", { name: `Revoke: session ${leaked.id}` }).click();
    const dialog = page.getByRole("dialog", { name: "Revoke the session" });
    await dialog.getByRole("heading", { name: "API keys (1)" }).waitFor();
    expect(await dialog.textContent()).toContain("in the leaked");
    expect(await dialog.textContent()).not.toContain("in the other");
    expect(await findViolations(page)).toEqual([]);
    const choice = dialog.getByLabel("Revoke what was made with it, too");
    await choice.uncheck();
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: leaked.id }).waitFor({ state: "detached" });
    expect(await sessions.count()).toBe(1);
    expect(await Promise.all(made.map(({ client }) => isRefused(client)))).toEqual([false, false]);
    await page.getByLabel("Status").selectOption("Ended");
    await page.getByRole("button", { name: `Revoke what it made: session ${leaked.id}` }).click();
    const ended = page.getByRole("dialog", { name: "Revoke what the session made" });
    await ended.getByRole("heading", { name: "API keys (1)" }).waitFor();
    await ended.getByRole("button", { name: "Revoke" }).click();
    await ended.waitFor({ state: "detached" });
    expect(searches).toEqual(["?descendants=keep", "?descendants=revoke"]);
    expect(await Promise.all(made.map(({ client }) => isRefused(client)))).toEqual([true, false]);
  });

  it("does not revoke the session of the request", async () => {
    const { membership } = await service.owner.call("GET", "/v1/whoami");
    const other = await signIn(service.owner.key);
    const { page } = await open(`organization/members/${membership.id}`);
    await waitUntilLoaded(page);
    await page.getByText("(this one)").waitFor();
    const rows = await page.getByRole("list", { name: "Sessions" }).getByRole("listitem").count();
    expect(await page.getByRole("button", { name: "Revoke: session" }).count()).toBe(rows - 1);
    await page.getByRole("button", { name: other.id }).waitFor();
  });
});

const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();

describe("a session that is not full", () => {
  const rolesOf = (page: Page, name: string) =>
    page.getByLabel(`Role of ${name}`).locator("option").allTextContents();

  it("neither invites nor promotes, and says why; a full one does", async () => {
    await addMember(service.owner, "an ordinary member");
    await addMember(service.owner, "another admin", "admin");
    const reason = "To invite people and give higher roles, sign in with";
    const expiring = await createKey(service.owner, "expiring", { expires_at: tomorrow() });
    const ofAnother = await newMember("whose key another has made", "admin");
    for (const { key } of [expiring.client, ofAnother.client]) {
      const { page } = await open("organization/members", key);
      await page.getByText(reason).waitFor();
      await page.getByLabel("Role of an ordinary member").waitFor();
      expect(await rolesOf(page, "an ordinary member")).toEqual(["Member"]);
      expect(await rolesOf(page, "another admin")).toEqual(["Member", "Admin"]);
      expect(await page.getByRole("button", { name: "Invite a person" }).count()).toBe(0);
    }
    const full = await open("organization/members");
    await full.page.getByRole("button", { name: "Invite a person" }).waitFor();
    await full.page.getByLabel("Role of an ordinary member").waitFor();
    expect(await rolesOf(full.page, "an ordinary member")).toEqual(["Member", "Admin", "Owner"]);
    expect(await full.page.getByText(reason).count()).toBe(0);
  });

  it("gives a service account no higher role", async () => {
    const role = "member";
    await service.owner.call("POST", `${root()}/service-accounts`, { name: "ci", role });
    await service.owner.call("POST", `${root()}/service-accounts`, { name: "cd", role: "admin" });
    const { client } = await createKey(service.owner, "expiring", { expires_at: tomorrow() });
    for (const [apiKey, roles] of [
      [client.key, ["Member"]],
      [service.owner.key, ["Member", "Admin"]],
    ] as const) {
      const { page } = await open("organization/service-accounts", apiKey);
      await page.getByRole("button", { name: "Edit ci" }).click();
      const options = page.getByRole("dialog").getByLabel("Role").locator("option");
      expect(await options.allTextContents()).toEqual(roles);
    }
  });
});

describe("a session", () => {
  it("rotates runner tokens, and no API key", async () => {
    const id = await createPool(service.owner, "rotated");
    for (const name of ["runner-1", "runner-2"]) {
      await service.owner.call("POST", `${root()}/runner-pools/${id}/tokens`, { name });
    }
    const { page } = await open("organization/keys");
    await page
      .getByRole("button", { name: /^Revoke / })
      .first()
      .waitFor();
    expect(await page.getByRole("button", { name: /^Rotate/ }).count()).toBe(0);
    await page.goto(at(`runners/${id}`).href);
    await page.getByRole("button", { name: "Rotate runner-2" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("How long the old token stays valid").selectOption("10 minutes");
    await dialog.getByRole("button", { name: "Rotate" }).click();
    await dialog.getByText("lsr_").first().waitFor();
  });
});
