import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { newSecrets } from "../../../packages/server/src/secrets.ts";
import { readConfiguration } from "../../../scripts/lib/configuration.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { Checkout } from "../support/checkout.ts";

const SAMPLE_KEY = "Y2hhbmdlLW1lLWNoYW5nZS1tZS1jaGFuZ2UtbWUtISE=";

/** Records its arguments, one line for each command, and the secrets that it is given. */
const FAKE_WRANGLER = `
const { appendFileSync, readFileSync } = require("node:fs");
const args = process.argv.slice(2);
const file = args.indexOf("--secrets-file");
const secrets = file < 0 ? {} : JSON.parse(readFileSync(args[file + 1], "utf8"));
const sees = Boolean(process.env.BOOTSTRAP_TOKEN || process.env.ENCRYPTION_KEYS || process.env.LEASE_SECRET);
appendFileSync(process.env.RECORD, JSON.stringify({ command: args.join(" "), secrets, sees }) + "\\n");
if (args[0] === "d1" && args[1] === "list") console.log("[]");
`;

const NOT_GIVEN = {
  BOOTSTRAP_TOKEN: "",
  ENCRYPTION_KEYS: "",
  LEASE_SECRET: "",
  SLACK_CLIENT_SECRET: "",
  OIDC_CLIENT_SECRET: "",
};

interface RecordedCommand {
  command: string;
  secrets: Record<string, string>;
  /** Whether a secret is in its environment. */
  sees?: boolean;
}

/** A checkout that deploys with a wrangler that only records its commands. */
class Deployer {
  readonly checkout = new Checkout();
  readonly #record = this.checkout.path("commands.ndjson");

  constructor(context: TestContext) {
    context.onTestFinished(() => this.checkout.remove());
    const modules = this.checkout.path("node_modules");
    rmSync(modules);
    linkAllBut("wrangler", join(ROOT, "node_modules"), modules);
    linkAllBut("bin", join(ROOT, "node_modules/wrangler"), join(modules, "wrangler"));
    mkdirSync(join(modules, "wrangler/bin"));
    writeFileSync(join(modules, "wrangler/bin/wrangler.js"), FAKE_WRANGLER);
  }

  run(secrets: Record<string, string>): { code: number | null; stderr: string } {
    const { status, stderr } = spawnSync(
      process.execPath,
      ["--experimental-strip-types", "scripts/deploy.ts"],
      {
        cwd: this.checkout.folder,
        env: { ...process.env, ...NOT_GIVEN, RECORD: this.#record, ...secrets },
        encoding: "utf8",
      },
    );
    return { code: status, stderr };
  }

  get commands(): RecordedCommand[] {
    if (!existsSync(this.#record)) return [];
    return readFileSync(this.#record, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  }
}

function linkAllBut(name: string, from: string, to: string): void {
  mkdirSync(to);
  const others = readdirSync(from).filter((each) => each !== name);
  for (const each of others) symlinkSync(join(from, each), join(to, each));
}

it("reads of wrangler.toml what wrangler reads", async () => {
  const { unstable_readConfig } = await import("wrangler");
  const { d1_databases, queues, assets, vars, secrets } = await readConfiguration("");
  expect(Object.keys(vars).length).toBeGreaterThan(5);
  expect(unstable_readConfig({ config: join(ROOT, "wrangler.toml") })).toMatchObject({
    ...{ d1_databases, queues, assets, vars, secrets },
  });
});

describe("npm run deploy", () => {
  it("refuses bad secrets before it touches anything, and names each without its value", (context) => {
    const deployer = new Deployer(context);
    const { code, stderr } = deployer.run({
      BOOTSTRAP_TOKEN: "change-me",
      ENCRYPTION_KEYS: `k1:${SAMPLE_KEY}`,
      LEASE_SECRET: "a-short-text",
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^ {2}BOOTSTRAP_TOKEN: It contains a published sample\./m);
    expect(stderr).toMatch(/^ {2}ENCRYPTION_KEYS: Key 1 of the keyring is a published sample\./m);
    expect(stderr).toMatch(/^ {2}LEASE_SECRET: It has fewer than 32 characters\./m);
    expect(stderr).not.toMatch(/change-me|a-short-text|Y2hh/);
    expect(deployer.commands).toEqual([]);
  });

  it.for([
    ["insecure webhooks", "ALLOW_INSECURE_WEBHOOKS", "false", "true"],
    ["every origin", "CORS_ORIGINS", "", "*"],
  ])("refuses %s in wrangler.toml", ([, name, safe, refused], context) => {
    const deployer = new Deployer(context);
    const file = deployer.checkout.path("wrangler.toml");
    const text = deployer.checkout.read("wrangler.toml");
    const setting = new RegExp(`^${name} = "${safe}"$`, "m");
    expect(text).toMatch(setting);
    writeFileSync(file, text.replace(setting, `${name} = "${refused}"`));
    const { code, stderr } = deployer.run(newSecrets());
    expect(code).toBe(1);
    expect(stderr).toContain(`${name}: `);
    expect(deployer.commands).toEqual([]);
  });

  it("refuses settings of the environment that CLOUDFLARE_ENV selects, and of no other", (context) => {
    const deployer = new Deployer(context);
    const text = deployer.checkout.read("wrangler.toml");
    const environment = `[env.staging.vars]\nCORS_ORIGINS = "*"\n`;
    writeFileSync(deployer.checkout.path("wrangler.toml"), `${text}\n${environment}`);
    const { code, stderr } = deployer.run({ ...newSecrets(), CLOUDFLARE_ENV: "staging" });
    expect(code).toBe(1);
    expect(stderr).toContain("CORS_ORIGINS: ");
    expect(deployer.commands).toEqual([]);
    expect(deployer.run(newSecrets())).toMatchObject({ code: 0 });
  });

  it("says which line of wrangler.toml is wrong", (context) => {
    const deployer = new Deployer(context);
    const text = deployer.checkout.read("wrangler.toml");
    writeFileSync(deployer.checkout.path("wrangler.toml"), `${text}\nname = \n`);
    const { code, stderr } = deployer.run(newSecrets());
    expect(code).toBe(1);
    expect(stderr).toMatch(/^wrangler\.toml cannot be read: .*\n\n\d+: {2}name = /);
    expect(stderr).not.toContain("    at ");
  });

  it("deploys with good secrets, and keeps those that are not given", (context) => {
    const deployer = new Deployer(context);
    const secrets = newSecrets();
    expect(deployer.run(secrets)).toMatchObject({ code: 0 });
    const names = deployer.commands.map(({ command }) => command.split(" --")[0]);
    expect(names).toEqual([
      "queues info longshore-deliveries",
      "d1 list",
      "d1 create longshore",
      "d1 migrations apply DB",
      "deploy",
    ]);
    // The build of the static assets, which wrangler starts, does not see the secrets.
    expect(deployer.commands.at(-1)).toMatchObject({ secrets, sees: false });
    expect(deployer.run({})).toMatchObject({ code: 0 });
    expect(deployer.commands.at(-1)).toMatchObject({ command: "deploy", secrets: {} });
  });
});
