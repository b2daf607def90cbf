import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { addEncryptionKey, ensureDevVars, requireSafeDevVars } from "../../scripts/lib/dev-vars.ts";
import { ROOT } from "../../scripts/lib/wrangler.ts";
import { REQUIRED_SECRETS } from "../../src/lib/settings.ts";

const KEY = `k1:${Buffer.alloc(32, 1).toString("base64")}`;
const OLDER = `k0:${Buffer.alloc(32, 2).toString("base64")}`;

const folder = mkdtempSync(join(tmpdir(), "longshore-dev-vars-"));
let files = 0;

afterAll(() => rmSync(folder, { recursive: true }));

function write(text: string): string {
  files += 1;
  const file = join(folder, `.dev.vars-${files}`);
  writeFileSync(file, text);
  return file;
}

describe("ensureDevVars", () => {
  it("creates the file with all secrets, readable only by this user", () => {
    const file = join(folder, ".dev.vars");
    const secrets = ensureDevVars(file);
    expect(parseEnv(readFileSync(file, "utf8"))).toEqual({
      ...secrets,
      ALLOW_INSECURE_WEBHOOKS: "true",
    });
    expect(Object.keys(secrets).toSorted()).toEqual(REQUIRED_SECRETS.toSorted());
    expect(new Set(Object.values(secrets)).size).toBe(REQUIRED_SECRETS.length);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("keeps everything that a file has, and adds what it lacks", () => {
    const text = `# My settings\nENCRYPTION_KEYS="${KEY},${OLDER}"\nALLOW_INSECURE_WEBHOOKS=false\nMINE=1`;
    const file = write(text);
    const secrets = ensureDevVars(file);
    const result = readFileSync(file, "utf8");
    expect(result.startsWith(`${text}\n`)).toBe(true);
    expect(parseEnv(result)).toEqual({
      ENCRYPTION_KEYS: `${KEY},${OLDER}`,
      ALLOW_INSECURE_WEBHOOKS: "false",
      MINE: "1",
      BOOTSTRAP_TOKEN: secrets.BOOTSTRAP_TOKEN,
      LEASE_SECRET: secrets.LEASE_SECRET,
    });
    expect(secrets.ENCRYPTION_KEYS).toBe(`${KEY},${OLDER}`);
  });

  it("changes nothing in a complete file", () => {
    const file = join(folder, ".dev.vars-complete");
    const secrets = ensureDevVars(file);
    const text = readFileSync(file, "utf8");
    expect(ensureDevVars(file)).toEqual(secrets);
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  it("generates a value for an empty secret", () => {
    const file = write('BOOTSTRAP_TOKEN=""\n');
    const { BOOTSTRAP_TOKEN } = ensureDevVars(file);
    expect(BOOTSTRAP_TOKEN.length).toBeGreaterThanOrEqual(32);
    expect(parseEnv(readFileSync(file, "utf8"))["BOOTSTRAP_TOKEN"]).toBe(BOOTSTRAP_TOKEN);
  });
});

describe("requireSafeDevVars", () => {
  const SAMPLE_KEY = "Y2hhbmdlLW1lLWNoYW5nZS1tZS1jaGFuZ2UtbWUtISE=";

  it("accepts what ensureDevVars creates, also from .dev.vars.example", () => {
    const example = readFileSync(join(ROOT, ".dev.vars.example"), "utf8");
    const values = parseEnv(example);
    expect(Object.keys(values).toSorted()).toEqual(REQUIRED_SECRETS.toSorted());
    expect(Object.values(values).join("")).toBe("");
    requireSafeDevVars(ensureDevVars(write(example)));
    requireSafeDevVars(ensureDevVars(join(folder, ".dev.vars-safe")));
  });

  it("names each sample value and what to do, without the value", () => {
    const file = write(
      `BOOTSTRAP_TOKEN="change-me"\nENCRYPTION_KEYS="k1:${SAMPLE_KEY}"\nLEASE_SECRET="change-me-too"\n`,
    );
    const text = readFileSync(file, "utf8");
    const secrets = ensureDevVars(file);
    const check = () => requireSafeDevVars(secrets);
    for (const name of REQUIRED_SECRETS) expect(check).toThrow(name);
    expect(check).toThrow("openssl rand -hex 32");
    expect(check).toThrow("docs/configuration.md, Replace the sample key");
    expect(check).not.toThrow(/change-me|Y2hh/);
    expect(readFileSync(file, "utf8").startsWith(text)).toBe(true);
  });
});

describe("addEncryptionKey", () => {
  it.each([
    ["in quotes", `ENCRYPTION_KEYS="${KEY},${OLDER}"`],
    ["without quotes", `ENCRYPTION_KEYS=${KEY},${OLDER}`],
    ["with spaces and export", `export ENCRYPTION_KEYS = '${KEY},${OLDER}'`],
  ])("puts the new key before the others, %s, and keeps the rest of the file", (_, line) => {
    const before = "# Local\nBOOTSTRAP_TOKEN=a\n";
    const after = "\nLEASE_SECRET='b'\n";
    const file = write(`${before}${line}${after}`);
    const id = addEncryptionKey(file);
    const text = readFileSync(file, "utf8");
    const keys = parseEnv(text)["ENCRYPTION_KEYS"]?.split(",") ?? [];
    expect(keys.slice(1)).toEqual([KEY, OLDER]);
    expect(keys[0]).toMatch(new RegExp(`^${id}:[A-Za-z0-9+/]{43}=$`));
    expect(text.startsWith(before) && text.endsWith(after)).toBe(true);
    expect(existsSync(`${file}.new`)).toBe(false);
  });

  it.each([
    ["has no keys", "BOOTSTRAP_TOKEN=a\n"],
    ["has empty keys", 'ENCRYPTION_KEYS=""\n'],
    ["mentions the keys in a comment only", `# ENCRYPTION_KEYS=${KEY}\n`],
  ])("refuses a file that %s, and leaves it unchanged", (_, text) => {
    const file = write(text);
    expect(() => addEncryptionKey(file)).toThrow("Add ENCRYPTION_KEYS to .dev.vars");
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  it("refuses a file that does not exist", () => {
    expect(() => addEncryptionKey(join(folder, "none"))).toThrow(".dev.vars does not exist");
  });
});
