import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { wordsOf } from "../../../packages/reference/script/ranking.ts";
import { FAILED_REQUEST, openPage } from "../support/console.ts";
import { type Parsed, useService } from "../support/service.ts";

const service = useService();

const open = (path: string, options = {}) => openPage(new URL(path, service.pages), options);

/** Whether all of it is within the visible part of `frame`. */
async function isWithin(element: Locator, frame: Locator): Promise<boolean> {
  const [inner, outer] = await Promise.all([element.boundingBox(), frame.boundingBox()]);
  if (!inner || !outer) return false;
  return inner.y >= outer.y - 1 && inner.y + inner.height <= outer.y + outer.height + 1;
}

/** The initials of the first words; and more letters of the last one, if there are fewer than three. */
function keystrokesFor(summary: string): string {
  const words = wordsOf(summary).slice(0, 3);
  const initials = words.map((word) => word.charAt(0)).join("");
  return initials + (words.at(-1) ?? "").slice(1, 1 + 3 - initials.length);
}

describe("the search", () => {
  it("shows each operation within three keystrokes", async () => {
    const { page } = await open("/docs");
    const document = await fetch(new URL("/openapi.json", service.pages));
    const { paths }: Parsed = await document.json();
    const operations = Object.entries<Parsed>(paths).flatMap(([path, item]) =>
      Object.entries<Parsed>(item).map(([method, { operationId, summary }]) => {
        return { operationId, summary, detail: `${method.toUpperCase()} ${path}` };
      }),
    );
    expect(operations.length).toBeGreaterThan(100);
    const byKeystrokes = Map.groupBy(operations, ({ summary }) => keystrokesFor(summary));
    const input = page.getByRole("combobox", { name: "Search" });
    await input.focus();
    const missed: string[] = [];
    for (const [keystrokes, expected] of byKeystrokes) {
      expect(keystrokes.length).toBeLessThanOrEqual(3);
      await input.fill("");
      await page.keyboard.type(keystrokes);
      await page.getByRole("option").first().waitFor();
      const shown: string[] = await page.evaluate(READ_SHOWN_OPTIONS);
      for (const { operationId, summary, detail } of expected) {
        if (!shown.includes(summary + detail)) missed.push(`${operationId}: ${keystrokes}`);
      }
    }
    expect(missed).toEqual([]);
  });

  it.each([
    ["rollback", "Deploy again, or roll back", "/docs/deployments#redeployDeployment"],
    ["create pro", "Create a project", "/docs/projects#createProject"],
    ["/v1/whoami", "Read what your key may do", "/docs/account#whoAmI"],
    ["not_found", "not_found", "/docs#error-not_found"],
    ["default_environment_id", "default_environment_id", "/docs/schemas#schema-Project"],
    ["deployments.failed", "A deployment has failed", "/docs/webhooks#webhook-deployments-failed"],
    ["safe wri", "Safe writes", "/docs/guides/safe-writes"],
  ])("finds %s", async (query, title, target) => {
    const { page } = await open("/docs/stacks");
    await page.keyboard.press("/");
    await page.keyboard.type(query);
    await page.getByRole("option", { name: title }).first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(new URL(target, service.pages).href);
  });

  it("is a combobox: arrows move, Escape closes, and the slash is also a character", async () => {
    const { page } = await open("/docs/projects");
    const input = page.getByRole("combobox", { name: "Search" });
    await page.keyboard.press("/");
    expect(await input.inputValue()).toBe("");
    await page.keyboard.type("v1/p");
    expect(await input.inputValue()).toBe("v1/p");
    const options = page.getByRole("option");
    await options.first().waitFor();
    const active = () => input.getAttribute("aria-activedescendant");
    const ids = await options.evaluateAll((all) => all.map(({ id }) => id));
    expect(await active()).toBe(ids[0]);
    await page.keyboard.press("ArrowDown");
    expect(await active()).toBe(ids[1]);
    expect(await page.getByRole("option", { selected: true }).getAttribute("id")).toBe(ids[1]);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    expect(await active()).toBe(ids.at(-1));
    expect(
      await isWithin(page.getByRole("option", { selected: true }), page.getByRole("listbox")),
    ).toBe(true);
    expect(await input.getAttribute("aria-expanded")).toBe("true");
    await page.keyboard.press("Escape");
    expect(await input.getAttribute("aria-expanded")).toBe("false");
    expect(await active()).toBe(null);
    expect(await page.getByRole("listbox").isVisible()).toBe(false);
    expect(await input.inputValue()).toBe("v1/p");
    await page.keyboard.press("Escape");
    expect(await input.inputValue()).toBe("");
  });

  it("says that it finds nothing, and opens the result that is clicked", async () => {
    const { page } = await open("/docs/projects");
    await page.getByRole("combobox", { name: "Search" }).fill("<img src=x> qqq");
    await page.getByRole("search").getByText("No results").waitFor();
    await page.getByRole("combobox", { name: "Search" }).fill("cancel");
    await page.getByRole("option", { name: "Cancel a deployment" }).click();
    await page.waitForURL("**/docs/deployments#cancelDeployment");
  });
});

/** Those in the visible part of the list. */
const READ_SHOWN_OPTIONS = `(() => {
  const list = document.querySelector("[role=listbox]").getBoundingClientRect();
  const end = Math.min(list.bottom, innerHeight);
  return [...document.querySelectorAll("[role=option]")]
    .filter((each) => each.getBoundingClientRect().bottom <= end)
    .map((each) => each.textContent);
})()`;

describe("the samples", () => {
  it("show the language that was chosen last, on every page", async () => {
    const { page } = await open("/docs/projects#createProject");
    const tab = (language: string, id: string) =>
      page.locator(`#${id}`).getByRole("tab", { name: language });
    const panel = (language: string, id: string) => page.locator(`#${id} [data-tab=${language}]`);
    expect(await tab("curl", "createProject").getAttribute("aria-selected")).toBe("true");
    const top = async () => (await tab("CLI", "createProject").boundingBox())?.y;
    const before = await top();
    await tab("CLI", "createProject").click();
    expect(await top()).toBe(before);
    expect(await panel("cli", "createProject").isVisible()).toBe(true);
    expect(await panel("curl", "createProject").isVisible()).toBe(false);
    expect(await panel("cli", "deleteProject").isVisible()).toBe(true);
    await page.keyboard.press("ArrowRight");
    expect(await tab("TypeScript", "createProject").getAttribute("aria-selected")).toBe("true");
    expect(await panel("typescript", "createProject").isVisible()).toBe(true);
    await page.goto(new URL("/docs/stacks", service.pages).href);
    expect(await panel("typescript", "createStack").isVisible()).toBe(true);
    expect(await panel("cli", "createStack").isVisible()).toBe(false);
    expect(await tab("CLI", "createStack").getAttribute("tabindex")).toBe("-1");
  });

  it("have tabs in a browser that refuses storage", async () => {
    const { page } = await open("/docs");
    await page.addInitScript(
      `Object.defineProperty(window, "localStorage", { get() { throw new DOMException("Refused", "SecurityError"); } })`,
    );
    await page.goto(new URL("/docs/projects", service.pages).href);
    await page.locator("#getProject").getByRole("tab", { name: "CLI" }).click();
    expect(await page.locator("#getProject [data-tab=cli]").isVisible()).toBe(true);
  });

  it("are copied, and it is announced", async () => {
    const { page } = await open("/docs/projects", {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const sample = page.locator("#createProject [data-tab=curl]");
    await sample.getByRole("button", { name: /^Copy/ }).click();
    await page.getByRole("status").getByText("Copied", { exact: true }).waitFor();
    const copied = await page.evaluate("navigator.clipboard.readText()");
    expect(copied).toBe(await sample.locator("code").textContent());
    expect(copied).toContain(`"${service.pages.origin}/v1/projects"`);
  });

  it("are selected where there is no clipboard", async () => {
    const { page } = await open("/docs");
    await page.addInitScript(`Object.defineProperty(navigator, "clipboard", { value: undefined })`);
    await page.goto(new URL("/docs/projects", service.pages).href);
    const sample = page.locator("#createProject [data-tab=curl]");
    await sample.getByRole("button", { name: /^Copy/ }).click();
    await page
      .getByRole("status")
      .getByText(/press Ctrl\+C/)
      .waitFor();
    expect(await page.evaluate("getSelection().toString()")).toContain("/v1/projects");
  });
});

describe("the contents", () => {
  const current = (page: Page) => page.locator("#contents ul ul [aria-current]");

  it("open at the target of the address, and follow the scroll position", async () => {
    const { page } = await open("/docs/notification-integrations#resumeIntegration");
    const sidebar = page.locator("header.side");
    const link = (id: string) => page.locator(`#contents a[href$="#${id}"][aria-current]`);
    await link("resumeIntegration").waitFor();
    expect(await isWithin(current(page), sidebar)).toBe(true);
    expect(await page.evaluate("document.querySelector('.side').scrollTop")).toBeGreaterThan(0);
    const top = (await page.locator("#resumeIntegration").boundingBox())?.y ?? Number.NaN;
    expect(Math.abs(top)).toBeLessThan(100);
    for (const id of ["listIntegrations", "getIntegration"]) {
      await page.evaluate(`document.getElementById("${id}").scrollIntoView()`);
      await link(id).waitFor();
    }
    expect(await current(page).count()).toBe(1);
    expect(await isWithin(current(page), sidebar)).toBe(true);
  });

  it("mark the last section, which cannot reach the top of the window", async () => {
    const { page } = await open("/docs/guides/safe-writes");
    await page.setViewportSize({ width: 1280, height: 2000 });
    const links = page.locator("#contents ul ul a");
    for (const at of [-2, -1]) {
      const link = links.nth((await links.count()) + at);
      await link.click();
      await page
        .locator(`#contents a[href="${await link.getAttribute("href")}"][aria-current]`)
        .waitFor();
    }
  });
});

describe("trying an operation", () => {
  const formOf = async (page: Page, id: string) => {
    const operation = page.locator(`#${id}`);
    await operation.locator(".try summary").click();
    return operation.getByRole("form");
  };
  const send = (form: Locator) => form.getByRole("button", { name: /^Send/ }).click();
  const status = (form: Locator, text: string | RegExp) =>
    form.locator("output").getByText(text).waitFor();
  const body = async (form: Locator) => JSON.parse((await form.locator("pre").textContent()) ?? "");

  it("creates and reads with the key, which is nowhere but in memory", async () => {
    const { page } = await open("/docs/projects");
    const requested: string[] = [];
    page.on("request", (request) => requested.push(request.url()));
    const create = await formOf(page, "createProject");
    await create.getByLabel("API key").fill(service.owner.key);
    await create.getByRole("textbox", { name: "Body" }).fill('{"name": "made in a browser <b>"}');
    await create.getByText(`This changes data on ${service.pages.host}`).waitFor();
    await send(create);
    await status(create, /^201 Created/);
    await status(create, /^x-request-id: /);
    const { id } = await body(create);
    expect(await create.locator("pre").textContent()).toContain('{\n  "id": ');

    const read = await formOf(page, "getProject");
    expect(await read.getByText("This changes data").count()).toBe(0);
    await read.getByLabel("project_id").fill(id);
    await send(read);
    await status(read, /^200 OK/);
    expect(await body(read)).toMatchObject({ id, name: "made in a browser <b>" });
    expect(await service.owner.call("GET", `/v1/projects/${id}`)).toMatchObject({ id });

    const { key } = service.owner;
    expect(
      await page.evaluate(
        "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])",
      ),
    ).not.toContain(key);
    expect(await page.content()).not.toContain(key);
    expect(requested.filter((url) => url.includes(key))).toEqual([]);
    expect(await create.getByLabel("API key").getAttribute("type")).toBe("password");
    await page.reload();
    expect(await (await formOf(page, "getProject")).getByLabel("API key").inputValue()).toBe("");
  });

  it("sends parameters of the query and headers, and leaves out empty ones", async () => {
    const { page } = await open("/docs/projects");
    const form = await formOf(page, "listProjects");
    await form.getByLabel("API key").fill(service.owner.key);
    await form.getByLabel("limit").fill("1");
    const request = page.waitForRequest("**/v1/projects*");
    await send(form);
    expect(new URL((await request).url()).search).toBe("?limit=1");
    await status(form, /^200 OK/);
    const change = await formOf(page, "updateProject");
    await change.getByLabel("project_id").fill("a/b?c");
    await change.getByLabel("If-Match").fill('"7"');
    const patch = page.waitForRequest("**/v1/projects/a*");
    await send(change);
    expect(new URL((await patch).url()).pathname).toBe("/v1/projects/a%2Fb%3Fc");
    expect((await patch).headers()).toMatchObject({
      "if-match": '"7"',
      "x-api-key": service.owner.key,
    });
  });

  it("says what to do about a bad key, a missing value and a body that is not JSON", async () => {
    const { page } = await open("/docs/projects", { expectedProblem: FAILED_REQUEST });
    const requested: string[] = [];
    page.on("request", (request) => requested.push(request.url()));
    const create = await formOf(page, "createProject");
    await create.getByRole("textbox", { name: "Body" }).fill('{"name": }');
    await send(create);
    await status(create, /^Not sent: correct the body, which is not JSON/);
    expect(await create.getByRole("textbox", { name: "Body" }).getAttribute("aria-invalid")).toBe(
      "true",
    );
    const read = await formOf(page, "getProject");
    await send(read);
    expect(
      await read.getByLabel("project_id").evaluate((input) => input.matches(":invalid:focus")),
    ).toBe(true);
    expect(requested).toEqual([]);
    await create.getByRole("textbox", { name: "Body" }).fill('{"name": "shop"}');
    await create.getByLabel("API key").fill("lsh_wrong");
    await send(create);
    await status(create, /^401 .*Enter a valid key/);
    expect(await body(create)).toMatchObject({ code: "unauthenticated" });
    expect(await create.getByRole("textbox", { name: "Body" }).getAttribute("aria-invalid")).toBe(
      null,
    );
  });

  it("uses the session of the console where no key is given, and a given key alone", async () => {
    const { page } = await open("/docs/account", { expectedProblem: FAILED_REQUEST });
    const form = await formOf(page, "whoAmI");
    await send(form);
    await status(form, /^401 .*or sign in at the console/);
    const sessions = new URL("/v1/sessions", service.pages).href;
    await page.context().request.post(sessions, { data: { api_key: service.owner.key } });
    await send(form);
    await status(form, /^200/);
    expect(await body(form)).toMatchObject({ credential: { type: "session" } });
    await form.getByLabel("API key").fill("lsh_wrong");
    await send(form);
    await status(form, /^401/);
  });

  it("says what to do when there is no response", async () => {
    const { page } = await open("/docs/account", { expectedProblem: FAILED_REQUEST });
    const form = await formOf(page, "whoAmI");
    await page.route("**/v1/whoami", (route) => route.abort());
    await send(form);
    await status(form, /^No response\. Check that you are online/);
  });
});
