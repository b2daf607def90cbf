import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "vitest";
import type { RunnerFixture } from "./fixture.ts";
import { GitRepository } from "./git-repository.ts";
import { prepare } from "./reports.ts";
import { RunnerProcess } from "./runner-process.ts";
import { installStandIn } from "./stand-in.ts";

/** What the stand-in of a tool has got. */
export interface ToolCall {
  host?: string;
  args: string[];
}

/** A project, a repository, and a runner with one executor, whose tool is a stand-in. */
export async function prepareExecutor(
  fixture: RunnerFixture,
  context: TestContext,
  { executor, tool }: { executor: string; tool: "docker" | "kubectl" },
) {
  const setup = await prepare(fixture, context);
  const { project, client, proxy, stackId } = setup;
  const repository = await GitRepository.create();
  const folder = mkdtempSync(join(tmpdir(), `longshore-${tool}-`));
  const PATH = installStandIn(tool, folder);
  context.onTestFinished(() => {
    repository.remove();
    rmSync(folder, { recursive: true });
  });
  const read = (name: string) => {
    const path = join(folder, name);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  };
  return {
    ...setup,
    repository,
    read,
    write: (name: string, text: string) => writeFileSync(join(folder, name), text),
    removeFile: (name: string) => rmSync(join(folder, name)),
    calls: (): ToolCall[] =>
      read(`${tool}.log`)
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    connect: (connection: object) =>
      client.call("PUT", `/v1/projects/${project.projectId}/connection`, connection),
    /** Deploys the first stack with these settings and a new commit of these files. */
    deploy: async (settings: object, files: Record<string, string> = {}): Promise<string> => {
      const sha = await repository.commit(files);
      const value = { first: { executor, ...settings } };
      const patch = [{ op: "add", path: "/stacks", value }];
      const source = repository.source(sha);
      const body = { patch, source, stack_ids: [stackId], queue: "fifo" };
      return String((await project.deploy(body)).id);
    },
    start: (...flags: string[]) => {
      const repositoryFlag = `github:acme/shop=${repository.url}`;
      const runner = new RunnerProcess({
        ...{ url: proxy.url, token: project.token },
        flags: ["--executor", executor, "--repository", repositoryFlag, ...flags],
        environment: { PATH },
      });
      context.onTestFinished(() => runner.stop());
      return runner;
    },
    readOutputs: async () => (await client.call("GET", `/v1/stacks/${stackId}`)).outputs,
  };
}
