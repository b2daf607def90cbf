import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findFreePort } from "../../../scripts/lib/port.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { Checkout } from "../support/checkout.ts";
import { ApiClient } from "../support/service.ts";
import { Terminal } from "../support/terminal.ts";

const HINT = "The local database has no API key yet.";
/** The command that creates the first key, as it is printed. */
const BOOTSTRAP =
  /curl (\S+)\/v1\/bootstrap -H 'authorization: (Bearer \S+)' -H 'content-type: (\S+)' -d '(.*)'/;

/** Everything for people, of the one Worker. */
async function expectPages(url: URL, client: ApiClient): Promise<void> {
  const read = async (path: string) => {
    const response = await fetch(new URL(path, url), { redirect: "manual" });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text };
  };
  const guide = await read("/docs/guides/variables");
  expect([guide.status, /<h1[^>]*>(.+?)<\/h1>/.exec(guide.text)?.[1]]).toEqual([200, "Variables"]);
  expect((await read("/docs")).text).toContain(url.origin);
  expect((await read("/docs/nope")).status).toBe(404);
  expect(JSON.parse((await read("/openapi.json")).text).openapi).toMatch(/^3\.1/);

  const page = await read("/console/runners");
  const [script = ""] = /\/console\/assets\/[\w-]+\.js/.exec(page.text) ?? [];
  expect([page.status, page.text]).toEqual([200, (await read("/console/")).text]);
  expect((await read(script)).headers.get("content-type")).toMatch(/javascript/);
  expect((await read("/console/assets/index-0.js")).status).toBe(404);

  const link = await client.call("POST", "/v1/sign-in-links");
  const signedIn = await fetch(link.url, {
    method: "POST",
    headers: { "sec-fetch-site": "same-origin" },
    redirect: "manual",
  });
  expect([signedIn.status, signedIn.headers.get("location")]).toEqual([303, "/console/"]);
}

describe("npx wrangler dev in a fresh clone", () => {
  it("is what npm run dev runs", () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect(scripts.dev).toBe("wrangler dev");
  });

  it("serves, prints how to create the first key, and keeps the data when the code changes", async (context) => {
    const checkout = new Checkout({ hasAssets: false });
    const terminal = new Terminal(checkout.folder);
    context.onTestFinished(async () => {
      await terminal.kill();
      checkout.remove();
    });
    const url = new URL(`http://localhost:${await findFreePort()}`);
    // By default, wrangler may choose an inspector port that another one is about to use.
    terminal.start(`npx wrangler dev --port ${url.port} --inspector-port 0`);
    await terminal.waitForOutput(`Ready on ${url.origin}`);

    const [, origin, authorization = "", type = "", body = ""] =
      BOOTSTRAP.exec(terminal.output) ?? [];
    expect(origin).toBe("http://localhost:8787");
    const bootstrapped = await fetch(new URL("/v1/bootstrap", url), {
      method: "POST",
      headers: { authorization, "content-type": type },
      body,
    });
    expect(bootstrapped.status).toBe(201);
    const { api_key } = (await bootstrapped.json()) as { api_key: { key: string } };
    const client = new ApiClient(url, api_key.key);
    const { id } = await client.call("POST", "/v1/projects", { name: "storefront" });
    expect(await client.call("GET", "/health")).toMatchObject({ status: "ok", missing_tables: [] });

    await expectPages(url, client);

    terminal.output = "";
    appendFileSync(checkout.path("src/app.ts"), "\n// changed\n");
    await terminal.waitForOutput("scripts/build.ts");
    await terminal.waitForOutput("Local server updated and ready");
    expect(terminal.output).not.toContain(HINT);
    expect((await client.call("GET", `/v1/projects/${id}`)).name).toBe("storefront");
  });
});
