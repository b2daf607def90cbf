import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, type TestContext, vi } from "vitest";
import { startMessage } from "../../../scripts/lib/start-message.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { LONGSHORE, readCommandBlocks } from "../support/page-commands.ts";
import { newClient, useService } from "../support/service.ts";
import { Terminal } from "../support/terminal.ts";

const PAGE = readFileSync(join(ROOT, "docs/to-production.md"), "utf8");
const BLOCKS = readCommandBlocks(PAGE);
const LINES = BLOCKS.flatMap(({ terminal, commands }) =>
  commands
    .trimEnd()
    .split("\n")
    .map((line) => ({ terminal, line })),
);
/** The clone's line counts, too. */
const MAXIMUM_LINES = 12;

const GIT = {
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.com",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.com",
};

/** Two modules, of which `web` has the bucket of `infra` as a variable. */
const MODULES = {
  infra: `terraform {
  backend "local" {}
}
resource "terraform_data" "bucket" {
  input = "assets-of-\${var.environment}"
}
variable "environment" { type = string }
output "bucket" { value = terraform_data.bucket.output }
`,
  web: `terraform {
  backend "local" {}
}
variable "bucket" { type = string }
resource "terraform_data" "site" { input = "site in \${var.bucket}" }
output "site" { value = terraform_data.site.output }
`,
};

const service = useService();

/** A clone of a bare repository with these files, and terminals of people in it. */
async function openRepository(context: TestContext, fill: (folder: string) => void) {
  const root = mkdtempSync(join(tmpdir(), "longshore-to-production-"));
  mkdirSync(join(root, "shop"));
  fill(join(root, "shop"));
  const terminals: Terminal[] = [];
  context.onTestFinished(async () => {
    for (const each of terminals.toReversed()) await each.interrupt();
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
  const open = (person: string) => {
    const terminal = new Terminal(join(root, "shop"), {
      ...GIT,
      LONGSHORE_CONFIG_DIR: join(root, `config-${person}`),
      LONGSHORE_URL: undefined,
      LONGSHORE_API_KEY: undefined,
      TMPDIR: root,
    });
    terminals.push(terminal);
    return terminal;
  };
  const ada = open("ada");
  const made = await ada.run(
    "git init -q -b main && git add . && git commit -qm 'Say hello' && git init -q --bare -b main ../shop.git && " +
      'git remote add origin "file://$PWD.git" && git push -q -u origin main',
  );
  expect(made.status, made.output).toBe(0);
  return { root, ada, open };
}

/** The line that `npm start` prints, or that a person gets with their key. */
function loginWith(apiKey: string): string {
  const message = startMessage(service.url.origin, { apiKey, signInLink: "" });
  return /^echo lsh_\w+ \| node .*$/m.exec(message)?.[0] ?? "";
}

/** Opens the link of an invitation, and accepts. Returns the key. */
async function accept(printed: string): Promise<string> {
  const token = /lsi_\w+/.exec(printed)?.[0];
  const response = await fetch(new URL("/v1/invitations/accept", service.url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  expect(response.status).toBe(201);
  return JSON.parse(await response.text()).api_key.key;
}

async function newKey(): Promise<string> {
  return (await newClient(service)).key;
}

/** Waits until the newest deployment to production has succeeded. */
async function waitForSuccess(terminal: Terminal): Promise<void> {
  const list = `${LONGSHORE} deployments ls --limit 1 -e production`;
  await vi.waitUntil(async () => (await terminal.run(list)).output.includes("succeeded"), {
    ...{ interval: 500, timeout: 120_000 },
  });
}

describe("the way from a clone to an approved production", () => {
  it("has at most twelve lines to paste, without JSON, IDs or made-up values", () => {
    expect(1 + LINES.length).toBeLessThanOrEqual(MAXIMUM_LINES);
    expect(PAGE).toContain(`in ${LINES.length === 11 ? "eleven" : LINES.length} lines to`);
    for (const { line } of LINES) {
      expect(line).not.toMatch(/[[\]"]\w|\{"|\b[1-9A-HJ-NP-Za-km-z]{22}\b/);
    }
    expect(LINES[0]).toEqual({
      terminal: "server",
      line: "npm ci && npm start",
    });
  });

  it("leads to a server in production that another stack is deployed for", async (context) => {
    const { ada, open } = await openRepository(context, (folder) =>
      cpSync(join(ROOT, "examples/node-server"), folder, { recursive: true }),
    );
    let invitation = "";
    let printed = "";
    const grace = open("grace");
    for (const { terminal, line } of LINES.slice(1)) {
      const command = line.replaceAll("npx @longshore/cli", LONGSHORE);
      if (terminal === "runner") {
        const runner = open("ada");
        runner.start(command);
        await runner.waitForOutput("Waiting for deployments");
        continue;
      }
      const isLogin = line.startsWith("echo lsh_");
      const login = isLogin && loginWith(terminal ? await accept(invitation) : await newKey());
      const { output, status } = await (terminal ? grace : ada).run(login || command);
      expect(status, `${line}\n${output}`).toBe(0);
      if (line.includes("invitations create")) invitation = output;
      if (line.includes(" promote ")) expect(output).toContain("Waiting: 0 of 1");
      if (line.includes(" approve ")) await waitForSuccess(ada);
      printed = output;
    }
    const url = /http:\S+/.exec(printed)?.[0] ?? "";
    expect(await (await fetch(url)).text()).toBe("Hello from production, visit 1\n");
    const { output } = await ada.run(`${LONGSHORE} deployments show -e production`);
    expect(output).toMatch(/infra[\s\S]*web/);
  });

  it.runIf(process.env["LONGSHORE_TEST_TERRAFORM"])(
    "is the same with two modules of Terraform",
    async (context) => {
      const { root, ada, open } = await openRepository(context, (folder) => {
        for (const [name, text] of Object.entries(MODULES)) {
          mkdirSync(join(folder, name));
          writeFileSync(join(folder, name, "main.tf"), text);
        }
      });
      const longshore = async (terminal: Terminal, command: string) => {
        const { output, status } = await terminal.run(`${LONGSHORE} ${command}`);
        expect(status, `${command}\n${output}`).toBe(0);
        return output;
      };
      await ada.run(loginWith(await newKey()));
      await longshore(
        ada,
        "init --project modules --environment staging --environment production --stack infra --stack web --with terraform --yes",
      );
      const runner = open("ada");
      runner.start(
        `${LONGSHORE} runner --executor terraform --grace 45 --backend-allow path --repository "$(git remote get-url origin)"`,
      );
      await runner.waitForOutput("Waiting for deployments");
      const settings = ["infra", "web"].map(
        (name) =>
          `--set stacks.${name}.folder=${name} --set 'stacks.${name}.backend.path=${root}/\${environment.name}-${name}.tfstate'`,
      );
      await longshore(
        ada,
        `deploy ${settings.join(" ")} --set 'stacks.web.variables.bucket=\${outputs.infra.bucket}' ` +
          "--set 'stacks.infra.variables.environment=${environment.name}' --wait",
      );
      await longshore(ada, "protect production --approvals 1 --by owners --from staging");
      const invited = await longshore(ada, "invitations create hopper@example.com --role admin");
      await longshore(ada, "deployments promote --to production");
      const grace = open("grace");
      await grace.run(loginWith(await accept(invited)));
      await longshore(grace, "approve --project modules --environment production --yes");
      await waitForSuccess(ada);
      expect(await longshore(ada, "outputs web -e production")).toContain(
        "site in assets-of-production",
      );
    },
  );
});
