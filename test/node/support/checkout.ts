import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { ROOT } from "../../../scripts/lib/wrangler.ts";

/** What a fresh clone contains, as far as the commands need it. */
const CONTENT = [
  ".dev.vars.example",
  ".npmrc",
  "docs",
  "examples",
  "migrations",
  "package-lock.json",
  "package.json",
  "packages",
  "scripts",
  "src",
  "tsconfig.json",
  "wrangler.toml",
];

interface CheckoutOptions {
  /** Whether a command has built the static assets. Building them takes some seconds. */
  hasAssets?: boolean;
}

/** A fresh clone after `npm ci`, without secrets and data, in a temporary folder. */
export class Checkout {
  readonly folder = mkdtempSync(join(inject("dataFolder"), "longshore-checkout-"));

  constructor({ hasAssets = true }: CheckoutOptions = {}) {
    for (const each of hasAssets ? [...CONTENT, "dist"] : CONTENT) {
      cpSync(join(ROOT, each), join(this.folder, each), { recursive: true });
    }
    symlinkSync(join(ROOT, "node_modules"), join(this.folder, "node_modules"));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
