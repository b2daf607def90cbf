import type { SettingValues } from "../../../runner/src/executors/setting.ts";
import { type ProgramContext, ProgramError, readTool } from "../../program/src/index.ts";
import { type Kubeconfig, writeKubeconfig } from "./kubeconfig.ts";
import type { Cluster } from "./kubectl.ts";
import { NAMESPACE, type SETTINGS } from "./settings.ts";

export type KubernetesSettings = SettingValues<typeof SETTINGS>;

const DEFAULT_NAMESPACE = "default";

interface Connection {
  context?: string;
  namespace?: string;
}

/** Where the stack goes: by its settings, the connection of its project, and the configuration of kubectl. */
export async function findCluster({
  input,
  settings,
  folder,
}: ProgramContext<KubernetesSettings>): Promise<Cluster> {
  const connection = readConnection(input.connection);
  const own = settings.kubeconfig && writeKubeconfig(folder, settings.kubeconfig);
  const config = own ? own.config : await readConfig(folder);
  const context = own
    ? (settings.context ?? config["current-context"])
    : (chooseContext(settings, connection) ?? config["current-context"]);
  const found = config.contexts?.find(({ name }) => name === context);
  if (!found && (context || own)) {
    const where = own ? "The setting kubeconfig" : "The configuration of the runner's kubectl";
    throw new ProgramError(`${where} has no such context. Name another one.`);
  }
  const namespace =
    settings.namespace ?? connection.namespace ?? found?.context.namespace ?? DEFAULT_NAMESPACE;
  // That of a connection or a context is not checked before.
  if (!NAMESPACE.pattern.test(namespace)) {
    throw new ProgramError(
      `The namespace must be ${NAMESPACE.description}. Set the setting namespace.`,
    );
  }
  return { context: found?.name, namespace, kubeconfig: own ? own.file : undefined };
}

/** The configuration of kubectl has no secrets in what this reads. */
async function readConfig(folder: string): Promise<Kubeconfig> {
  const text = await readTool("kubectl", ["config", "view", "--output=json"], {
    folder,
    problem: "kubectl cannot read its configuration. The log says why.",
  });
  return JSON.parse(text);
}

function readConnection(connection: unknown): Connection {
  if (typeof connection !== "object" || connection === null) return {};
  const { provider, context, namespace } = connection as Record<string, unknown>;
  if (provider !== "kubernetes") return {};
  return {
    ...(typeof context === "string" && { context }),
    ...(typeof namespace === "string" && { namespace }),
  };
}

/** Who writes a configuration does not choose another cluster of the operator than that of the project. */
function chooseContext(settings: KubernetesSettings, connection: Connection): string | undefined {
  const { context = connection.context } = settings;
  if (connection.context === undefined || connection.context === context) return context;
  throw new ProgramError(
    "The setting context is not that of the project's connection. Remove the setting, or change the connection.",
  );
}
