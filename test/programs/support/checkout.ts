import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { inject } from "vitest";
import { STAMP, type Stamp } from "../../../scripts/lib/local-state.ts";
import { digestMigrations } from "../../../scripts/lib/migrations.ts";
import { ROOT, STATE } from "../../../scripts/lib/wrangler.ts";

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
  /** Whether the local database has been migrated, as by an earlier start, and has no rows. Migrating it takes some seconds. */
  isMigrated?: boolean;
}

/** A fresh clone after `npm ci`, without secrets and without rows in its database, in a temporary folder. */
export class Checkout {
  readonly folder = mkdtempSync(join(inject("dataFolder"), "longshore-checkout-"));

  constructor({ hasAssets = true, isMigrated = false }: CheckoutOptions = {}) {
    for (const each of hasAssets ? [...CONTENT, "dist"] : CONTENT) {
      cpSync(join(ROOT, each), join(this.folder, each), { recursive: true });
    }
    symlinkSync(join(ROOT, "node_modules"), join(this.folder, "node_modules"));
    if (isMigrated) this.#addDatabase();
  }

  #addDatabase(): void {
    cpSync(inject("migrated"), this.path(relative(ROOT, STATE)), { recursive: true });
    const stamp: Stamp = { migrations: digestMigrations(), hasKey: false };
    writeFileSync(this.path(relative(ROOT, STAMP)), JSON.stringify(stamp));
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
