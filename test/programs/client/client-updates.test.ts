import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type Client,
  type ClientOptions,
  createClient,
} from "../../../packages/client/src/index.ts";
import { ScriptedProxy } from "../support/scripted-proxy.ts";
import { failureOf, newClient, useService } from "../support/service.ts";

const service = useService();
let proxy: ScriptedProxy;
let apiKey: string;
let longshore: Client;

beforeAll(async () => {
  proxy = await ScriptedProxy.start(service.url);
});

/** Each test has its own key, and with it its own rate limit. */
beforeEach(async () => {
  ({ key: apiKey } = await newClient(service, { role: "admin" }));
  longshore = clientWith();
  proxy.reset();
});

afterAll(() => proxy.close());

function clientWith(options: Partial<ClientOptions> = {}): Client {
  return createClient({ url: proxy.url, apiKey, ...options });
}

const newName = () => `project-${crypto.randomUUID().slice(0, 8)}`;

async function newProject(client = longshore) {
  return client.post("/v1/projects", { body: { name: newName() } });
}

/** Headers of the requests since the last `reset`. */
const sent = (header: string) => proxy.requests.map(({ headers }) => headers[header]);

describe("the update of a record", () => {
  const RECORD = "/v1/environments/{environment_id}";

  it("loses no change of others at the same time", async () => {
    const { default_environment_id: id } = await newProject();
    const path = { environment_id: id };
    await longshore.put(RECORD, {
      path,
      body: { name: "production", configuration: { count: 0 } },
    });
    const increments = Array.from({ length: 6 }, (_, index) =>
      clientWith().update(RECORD, { path }, ({ name, configuration }) => ({
        name,
        configuration: {
          ...configuration,
          [`writer-${index}`]: index,
          count: Number(configuration["count"]) + 1,
        },
      })),
    );
    await Promise.all(increments);
    const { configuration } = await longshore.get(RECORD, { path });
    expect(configuration).toMatchObject({ count: increments.length, "writer-0": 0, "writer-5": 5 });
  });

  it("makes its change once if the response to the write is lost", async () => {
    const { default_environment_id: id, id: projectId } = await newProject();
    const path = { environment_id: id };
    await longshore.put(RECORD, {
      path,
      body: { name: "production", configuration: { count: 7 } },
    });
    proxy.reset("none", "lost response");
    const written = await longshore.update(RECORD, { path }, ({ name, configuration }) => ({
      configuration: { count: Number(configuration["count"]) + 1 },
      name,
    }));
    expect(written).toMatchObject({ configuration: { count: 8 } });
    expect(proxy.requests.map(({ method }) => method)).toEqual(["GET", "PUT", "PUT", "GET"]);
    expect(projectId).toBe(written.project_id);
  });

  it("writes with PATCH where there is no PUT, once if the response is lost", async () => {
    const path = { org_id: service.organizationId };
    const { name } = await longshore.get("/v1/orgs/{org_id}", { path });
    proxy.reset("none", "lost response");
    const written = await longshore.update("/v1/orgs/{org_id}", { path }, (org) => ({
      name: `${org.name}!`,
    }));
    expect(written.name).toBe(`${name}!`);
    expect(proxy.requests.map(({ method }) => method)).toEqual(["GET", "PATCH", "PATCH"]);
  });

  it("writes the whole record with PUT, and nothing if there is nothing to change", async () => {
    const { default_environment_id: id } = await newProject();
    const variable = await longshore.post("/v1/environments/{environment_id}/variables", {
      path: { environment_id: id },
      body: { name: "URL", storage_method: "string", value: "one" },
    });
    const options = { path: { variable_id: variable.id } };
    proxy.reset();
    const written = await longshore.update("/v1/variables/{variable_id}", options, (record) => ({
      name: record.name,
      storage_method: record.storage_method,
      value: "two",
    }));
    expect(written).toMatchObject({ version: variable.version + 1 });
    const same = await longshore.update("/v1/variables/{variable_id}", options, () => undefined);
    expect(same).toEqual(written);
    expect(proxy.requests.map(({ method }) => method)).toEqual(["GET", "PUT", "GET"]);
    expect(sent("if-match")[1]).toMatch(/^"\d+\./);
  });

  it("ends with other conflicts at once", async () => {
    const { id } = await newProject();
    await longshore.post("/v1/projects/{project_id}/environments", {
      path: { project_id: id },
      body: { name: "staging" },
    });
    const { data } = await longshore.get("/v1/projects/{project_id}/environments", {
      path: { project_id: id },
    });
    const taken = data.map(({ name }) => name);
    const [environment] = data;
    proxy.reset();
    const path = { environment_id: String(environment?.id) };
    const call = longshore.update(RECORD, { path }, (record) => ({
      name: String(taken.find((name) => name !== record.name)),
      configuration: {},
    }));
    expect(await failureOf(call)).toMatchObject({ code: "conflict", cause: undefined });
    expect(proxy.requests).toHaveLength(2);
  });
});
