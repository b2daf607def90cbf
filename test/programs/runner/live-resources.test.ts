import { describe, expect, it } from "vitest";
import { EXECUTORS } from "../../../packages/runner/src/executors/list.ts";
import { RESOURCE_STATUSES } from "../../../src/features/deployments/resources/model.ts";
import { RunnerFixture } from "../support/fixture.ts";
import { GitRepository } from "../support/git-repository.ts";
import { HELD_EXECUTORS } from "../support/held-executors.ts";
import { POLLING, prepare, toStatuses } from "../support/reports.ts";
import { RunnerProcess } from "../support/runner-process.ts";
import type { Parsed } from "../support/service.ts";

const fixture = RunnerFixture.use();

/** Below the rate limit of a key, however long an executor takes. */
const SLOWLY = { ...POLLING, interval: 400 };

/** What the contract demands of each resource in the list. */
const RESOURCE = {
  id: expect.any(String),
  environment_id: expect.any(String),
  template_id: expect.any(String),
  physical_id: expect.any(String),
  resource_type: expect.any(String),
  created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
};

describe.concurrent("the resources of a stack", () => {
  it("change with every executor", ({ expect }) => {
    const names = EXECUTORS.map(({ name }) => name).toSorted();
    expect(Object.keys(HELD_EXECUTORS)).toEqual(names);
  });

  it.for(Object.entries(HELD_EXECUTORS))(
    "change live in the list while %s works",
    async ([name, { start, created, changed }], context) => {
      const { expect } = context;
      const { project, proxy, client, stackId, readResources } = await prepare(fixture, context);
      const held = await start();
      await held.connect?.(client, project.projectId);
      const repository = await GitRepository.create();
      const runner = new RunnerProcess({
        url: proxy.url,
        token: project.token,
        flags: [
          ...["--executor", name, "--repository", `github:acme/shop=${repository.url}`],
          ...["--backend-allow", "path"],
          ...held.passed.flatMap((each) => ["--show-env", each]),
        ],
        environment: held.environment,
      });
      context.onTestFinished(async () => {
        await runner.stop();
        await held.stop();
        repository.remove();
      });
      const seen: Parsed[] = [];
      const readAll = async () => {
        const resources = await readResources();
        seen.push(...resources);
        return resources;
      };
      const readStatuses = async () => toStatuses(await readAll());
      const deploy = async (deployment: 1 | 2) => {
        const source = repository.source(await repository.commit(held.filesOf(deployment)));
        const value = { first: { executor: name, ...held.settings } };
        const patch = [{ op: "add", path: "/stacks", value }];
        return String((await project.deploy({ patch, source, stack_ids: [stackId] })).id);
      };

      for (const [deployment, { whileHeld, atTheEnd }] of [
        [1, created],
        [2, changed],
      ] as const) {
        held.hold();
        const id = await deploy(deployment);
        await expect.poll(readStatuses, SLOWLY).toEqual(whileHeld);
        expect((await project.read(id)).status).toBe("in_progress");
        held.release();
        const readEach = async () => {
          await readAll();
          return (await project.read(id)).status;
        };
        await expect.poll(readEach, SLOWLY).not.toBe("in_progress");
        expect(await project.waitForEnd(id)).toEqual({
          status: "succeeded",
          stacks: ["succeeded"],
        });
        expect(await readStatuses()).toEqual(atTheEnd);
      }
      for (const each of seen) {
        expect(each).toMatchObject({ ...RESOURCE, stack_id: stackId });
        expect(RESOURCE_STATUSES).toContain(each.status);
      }
      const list = await client.call("GET", `/v1/environments/${project.environmentId}/resources`);
      expect(toStatuses(list.data)).toEqual(changed.atTheEnd);
    },
  );
});
