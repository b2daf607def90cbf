import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAst } from "vitest/node";
import { ROOT } from "../../scripts/lib/wrangler.ts";
import { type Node, nodesIn } from "../programs/support/syntax.ts";

/** To bindings, objects and the app itself: these requests do not leave the service. */
const INSIDE = [
  "src/app.ts: app.fetch",
  "src/app.ts: features.fetch",
  "src/features/deployments/logs/connection.ts: stub.fetch",
  "src/http/assets.ts: assets?.fetch",
  "src/http/lazily.ts: (await loaded).fetch",
  "src/index.ts: getApp().fetch",
];
/** test/features/outgoing-requests.test.ts has a kind of request for each. */
const OUTGOING = [
  "src/features/identity/open-id-connect/provider.ts: this.#fetch",
  "src/features/identity/trusts/issuer-keys.ts: fetch",
  "src/features/notifications/delivery/send.ts: ctx.fetch",
  "src/features/notifications/slack/oauth.ts: network",
];
/** The one call of the global function, and what names the service in each request. */
const NETWORK = ["src/app.ts: fetch", "src/lib/fetch.ts: fetch"];
const OTHER_WAYS =
  /\b(?:globalThis|self)\.fetch\b|\bnew (?:WebSocket|EventSource|XMLHttpRequest)\b|cloudflare:sockets/;

const files = globSync("src/**/*.ts", { cwd: ROOT }).map((file) => ({
  file,
  text: readFileSync(join(ROOT, file), "utf8"),
}));

const textOf = (text: string, { start, end }: Node) => text.slice(start, end);

/** What is called by a name of the type `Fetch`, as it is written. */
function sendersIn(file: string, text: string): string[] {
  const nodes = nodesIn(parseAst(text, { lang: "ts" }, file));
  const calls = nodes.filter(({ type }) => type === "CallExpression");
  return calls.flatMap(({ callee }) => {
    const called = textOf(text, callee as Node);
    return /(?:^|\.|#)(?:fetch|network)$/.test(called) ? [`${file}: ${called}`] : [];
  });
}

describe("every request of the Worker", () => {
  it("is sent by what names the service in it, or stays inside", () => {
    const found = files.flatMap(({ file, text }) => sendersIn(file, text));
    expect(found.toSorted()).toEqual([...INSIDE, ...OUTGOING, ...NETWORK].toSorted());
  });

  it("is sent with a parameter of the type Fetch, and not with the global function", () => {
    const senders = files.filter(({ file }) => OUTGOING.some((each) => each.startsWith(file)));
    expect(senders).toHaveLength(OUTGOING.length);
    for (const { file, text } of senders) {
      expect(text, file).toMatch(/import \{[^}]*type Fetch\b|import type \{ Fetch \}/);
    }
  });

  it("is not sent in another way", () => {
    expect(files.filter(({ text }) => OTHER_WAYS.test(text)).map(({ file }) => file)).toEqual([]);
    expect("const socket = new WebSocket(url)").toMatch(OTHER_WAYS);
  });
});
