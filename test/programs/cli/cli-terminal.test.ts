import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { CliUser, cliCommand } from "../support/cli.ts";
import { DeployedEnvironment } from "../support/deployed-environment.ts";
import { ApiClient, useService } from "../support/service.ts";

const CTRL_C = "\u0003";
const SOON = { timeout: 300_000 };

const service = useService();

const hasScript = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;
if (!hasScript) console.warn("The tests of the terminal need script of util-linux.");

/** A command in a terminal of its own. */
class PseudoTerminal {
  output = "";
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcess;

  constructor(user: CliUser, shellCommand: string, changes: NodeJS.Dict<string>) {
    this.#child = spawn("script", ["-qec", shellCommand, "/dev/null"], {
      cwd: user.folder,
      env: user.environment({
        TERM: "xterm-256color",
        CI: undefined,
        SHELL: "/bin/sh",
        ...changes,
      }),
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.output += text;
    });
    this.exited = once(this.#child, "close").then(([status]) => status);
  }

  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** Waits until the program has printed this since `from`. */
  async waitFor(text: string | RegExp, from = 0): Promise<void> {
    await expect.poll(() => this.output.slice(from), SOON).toMatch(text);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}

async function open(
  context: TestContext,
  args: readonly string[],
  {
    before = "stty cols 80 rows 24",
    changes = {},
  }: { before?: string; changes?: NodeJS.Dict<string> } = {},
) {
  const environment = await DeployedEnvironment.make(service);
  const user = await CliUser.in(environment, service.url);
  const [command, all] = cliCommand(args);
  const quoted = [command, ...all].map((word) => `'${word}'`).join(" ");
  const terminal = new PseudoTerminal(user, `${before}; exec ${quoted}`, changes);
  context.onTestFinished(() => terminal.kill());
  return { environment, user, terminal };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const ESCAPES = /\u001b\[[0-9;?]*[a-zA-Z]/g;
const toPlain = (text: string) => text.replaceAll(ESCAPES, "");

describe.runIf(hasScript)("deploy --wait in a terminal", () => {
  it("shows the stacks below the log, whose colours pass, and nothing else of it", async (context) => {
    const { environment, terminal } = await open(context, ["deploy", "--wait"]);
    const started = await environment.start();
    await started.report(0, "in_progress");
    await terminal.waitFor(/Deployment \w{22} {2}in_progress/);
    await terminal.waitFor(/web {7}in_progress/);
    await terminal.waitFor(/worker {4}pending/);
    await started.print(0, "\u001b[31mred\u001b[2J\n");
    await terminal.waitFor("web | \u001b[31mred\\x1b[2J\u001b[0m\r\n");
    await started.complete("succeeded");
    expect(await terminal.exited).toBe(0);
    expect(toPlain(terminal.output)).toMatch(/✔ Deployment \w{22} {2}succeeded +\d+s\r\n/);
    expect(toPlain(terminal.output)).toMatch(/✔ worker {4}succeeded/);
    // A hidden cursor would stay hidden after a signal.
    expect(terminal.output).not.toContain("\u001b[?25l");
  });

  it("shows no colours with NO_COLOR", async (context) => {
    const { environment, terminal } = await open(context, ["deploy", "--wait"], {
      changes: { NO_COLOR: "1" },
    });
    const started = await environment.start();
    await started.print(1, "\u001b[31mred\u001b[0m\n");
    await started.complete("failed");
    expect(await terminal.exited).toBe(2);
    expect(terminal.output).toContain("worker | red\r\n");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
    expect(terminal.output).not.toMatch(/\u001b\[[0-9;]*m/);
  });

  it("fits the view to a terminal that becomes narrow", async (context) => {
    const before =
      "stty cols 100 rows 24; (while [ ! -e narrow ]; do sleep 0.1; done; stty cols 24 rows 24 < /dev/tty) &";
    const { environment, user, terminal } = await open(context, ["deploy", "--wait"], {
      before: before.replace(/&$/, "& true"),
    });
    const started = await environment.start();
    await terminal.waitFor(/worker {4}pending/);
    writeFileSync(join(user.folder, "narrow"), "");
    await terminal.waitFor(/Deploym… {2}in_progress/);
    const from = terminal.output.length;
    await started.print(0, "after\n");
    await terminal.waitFor("web | after", from);
    await started.complete("succeeded");
    expect(await terminal.exited).toBe(0);
    const views = toPlain(terminal.output.slice(from)).split(/\r\n/);
    expect(views.slice(-2)).toEqual(["The deployment is succeeded.", ""]);
    expect(views.slice(0, -2).filter((line) => line.length > 24)).toEqual([]);
  });

  it("asks on Ctrl-C, and cancels the deployment if the answer is yes", async (context) => {
    const { environment, terminal } = await open(context, ["deploy", "--wait"]);
    const started = await environment.start();
    await terminal.waitFor(/worker {4}pending/);
    terminal.type(CTRL_C);
    await terminal.waitFor(`Cancel the deployment ${started.id}?`);
    await started.print(0, "while it asks\n");
    terminal.type("y");
    const isCanceling = async () => (await environment.read(started.id)).status;
    await expect.poll(isCanceling, SOON).toBe("canceling");
    await terminal.waitFor("web | while it asks");
    await started.complete("canceled");
    expect(await terminal.exited).toBe(3);
    expect(toPlain(terminal.output)).toMatch(/■ Deployment \w{22} {2}canceled/);
  });

  it("leaves at a second Ctrl-C, and if the answer is no, and the deployment continues", async (context) => {
    const answers = [CTRL_C, "n"];
    for (const answer of answers) {
      const { environment, terminal } = await open(context, ["deploy", "--wait"]);
      const started = await environment.start();
      await terminal.waitFor(/worker {4}pending/);
      terminal.type(CTRL_C);
      await terminal.waitFor(`Cancel the deployment ${started.id}?`);
      terminal.type(answer);
      expect(await terminal.exited).toBe(130);
      expect(terminal.output).toContain(`longshore deployments cancel ${started.id}`);
      expect((await environment.read(started.id)).status).toBe("in_progress");
    }
  });

  it("leaves at a second Ctrl-C after yes, while the deployment is canceling", async (context) => {
    const { environment, terminal } = await open(context, ["deploy", "--wait"]);
    const started = await environment.start();
    await terminal.waitFor(/worker {4}pending/);
    terminal.type(CTRL_C);
    await terminal.waitFor("Cancel the deployment");
    terminal.type("y");
    await terminal.waitFor(/Deployment \w{22} {2}canceling/);
    terminal.type(CTRL_C);
    expect(await terminal.exited).toBe(130);
    expect((await environment.read(started.id)).status).toBe("canceling");
  });

  it("exits with the outcome if the deployment ends while it asks", async (context) => {
    const { environment, terminal } = await open(context, ["deploy", "--wait"]);
    const started = await environment.start();
    await terminal.waitFor(/worker {4}pending/);
    terminal.type(CTRL_C);
    await terminal.waitFor("Cancel the deployment");
    await started.complete("failed");
    expect(await terminal.exited).toBe(2);
  });
});

describe.runIf(hasScript)("keys revoke in a terminal", () => {
  const UP = "\u001b[A";
  const keysPath = () => `/v1/orgs/${service.organizationId}/api-keys`;

  const revokeInTerminal = async (context: TestContext, id: string) => {
    const user = CliUser.of(service.owner);
    const [command, all] = cliCommand(["keys", "revoke", id]);
    const quoted = [command, ...all].map((word) => `'${word}'`).join(" ");
    const terminal = new PseudoTerminal(user, `stty cols 200 rows 40; exec ${quoted}`, {});
    context.onTestFinished(() => terminal.kill());
    await terminal.waitFor("Do nothing");
    return terminal;
  };

  const openRevocation = async (context: TestContext, name: string) => {
    const { owner, url } = service;
    const { id, key } = await owner.call("POST", keysPath(), { name });
    const creator = new ApiClient(url, key);
    const child = await creator.call("POST", keysPath(), { name: `${name}'s child` });
    const terminal = await revokeInTerminal(context, id);
    expect(toPlain(terminal.output)).toMatch(new RegExp(`API key +${name}'s child +${child.id} `));
    const areRevoked = async () => {
      const keys = [id, child.id].map((each) => owner.call("GET", `${keysPath()}/${each}`));
      return (await Promise.all(keys)).map(({ revoked_at }) => revoked_at !== undefined);
    };
    return { id, terminal, areRevoked };
  };

  it("does nothing by default, and at Ctrl-C", async (context) => {
    for (const [answer, status] of [
      ["\r", 1],
      [CTRL_C, 130],
    ] as const) {
      const { terminal, areRevoked } = await openRevocation(context, "undecided");
      terminal.type(answer);
      expect(await terminal.exited).toBe(status);
      expect(terminal.output).toContain("Nothing was changed.");
      expect(await areRevoked()).toEqual([false, false]);
    }
  });

  it("keeps the family, or revokes it with the key", async (context) => {
    const kept = await openRevocation(context, "kept");
    kept.terminal.type(`${UP}\r`);
    expect(await kept.terminal.exited).toBe(0);
    expect(await kept.areRevoked()).toEqual([true, false]);
    const ended = await openRevocation(context, "ended");
    ended.terminal.type(`${UP}${UP}\r`);
    expect(await ended.terminal.exited).toBe(0);
    expect(ended.terminal.output).toContain("Revoked the API key ended with its family.");
    expect(await ended.areRevoked()).toEqual([true, true]);
  });

  it("offers only to revoke the family of a key that is revoked already", async (context) => {
    const path = (id: string) => `${keysPath()}/${id}?descendants=keep`;
    const first = await openRevocation(context, "revoked");
    await service.owner.call("DELETE", path(first.id));
    first.terminal.kill();
    const terminal = await revokeInTerminal(context, first.id);
    expect(terminal.output).not.toContain("keep its family");
    terminal.type(`${UP}\r`);
    expect(await terminal.exited).toBe(0);
    expect(await first.areRevoked()).toEqual([true, true]);
  });
});
