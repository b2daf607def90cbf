import { CommandError } from "../../packages/server/src/command-error.ts";
import { bootstrap } from "../../packages/server/src/first-key.ts";
import { call, type Run } from "../lib/killable-process.ts";
import { applyMigrations } from "../lib/migrations.ts";
import { start } from "../lib/workers.ts";
import { SECRETS, SHOWN } from "./output.ts";

export interface QueuedDeployment {
  id: string;
  /** In the order of the deployment. */
  stackIds: readonly string[];
  /** Of the owner. */
  key: string;
  runnerToken: string;
}

type Created = Record<string, string>;

/** A deployment of two stacks with secret variables, which its runner has not claimed. */
export async function createDeployment(run: Run): Promise<QueuedDeployment> {
  const { file, folder, bindings, port } = run;
  const worker = await start(file, bindings, { folder, port });
  try {
    await applyMigrations(worker.d1);
    const url = worker.url.origin;
    const key = (await bootstrap(url, bindings["BOOTSTRAP_TOKEN"] ?? "")) ?? "";
    const send = async (method: string, path: string, body?: object): Promise<unknown> => {
      const response = await call(url, key, method, path, body);
      if (response.ok) return response.json();
      throw new CommandError(`${method} ${path}: ${response.status} ${await response.text()}`);
    };
    const post = async (path: string, body: object) => (await send("POST", path, body)) as Created;
    const { data } = (await send("GET", "/v1/orgs")) as { data: { id: string }[] };
    const pools = `/v1/orgs/${data[0]?.id}/runner-pools`;
    const project = await post("/v1/projects", { name: "storefront" });
    const connection = { provider: "aws", account_id: "123456789012", region: "eu-central-1" };
    await send("PUT", `/v1/projects/${project["id"]}/connection`, connection);
    const environmentId = project["default_environment_id"];
    const environment = `/v1/environments/${environmentId}`;
    const stackIds: string[] = [];
    for (const name of ["network", "services"]) {
      stackIds.push((await post(`${environment}/stacks`, { name }))["id"] ?? "");
    }
    const variables = Object.entries({ ...SECRETS, ...SHOWN }).map(([name, variable]) => ({
      name,
      ...variable,
    }));
    await send("PUT", `${environment}/variables`, { mode: "merge", variables });
    const pool = await post(pools, { name: "runners", environment_ids: [environmentId] });
    const { token = "" } = await post(`${pools}/${pool["id"]}/tokens`, { name: "runner" });
    const { id = "" } = await post(`${environment}/deployments`, { stack_ids: stackIds });
    return { id, stackIds, key, runnerToken: token };
  } finally {
    await worker.stop();
  }
}
