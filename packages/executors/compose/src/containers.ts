import type { Docker } from "./docker.ts";

/** A container of a service, as the engine has it. */
export interface Container {
  id: string;
  name: string;
  service: string;
  /** As the file names it. */
  image: string;
  imageId: string;
  state: string;
  /** Empty: it has no health check. */
  health: string;
  exitCode: number;
  /** By the engine, after it has ended. */
  restarts: number;
  /** Of its service, when it was created. */
  configHash: string;
  ports: Port[];
}

/** A port of the container, and where the engine publishes it. */
export interface Port {
  target: number;
  protocol: string;
  host: string;
  published: number;
}

/** What Docker's `inspect` prints, as far as it is read. */
interface InspectedContainer {
  Id: string;
  Name: string;
  Image: string;
  RestartCount: number;
  State: { Status: string; ExitCode: number; Health?: { Status: string } };
  Config: { Image: string; Labels: Record<string, string> | null };
  NetworkSettings: {
    Ports: Record<string, { HostIp: string; HostPort: string }[] | null> | null;
  };
}

const LABEL = "com.docker.compose";

/** Those of the project, by the names of their services. Throws a `ProgramError` if the engine does not answer. */
export async function readContainers(
  docker: Docker,
  project: string,
  problem = "The engine does not answer. The log says why.",
  { hidesErrors = false } = {},
): Promise<Container[]> {
  const list = ["container", "ls", "--all", "--quiet", "--no-trunc"];
  const ids = await docker.readLines(
    [...list, `--filter=label=${LABEL}.project=${project}`],
    problem,
    {
      hidesErrors,
    },
  );
  if (ids.length === 0) return [];
  const inspect = ["container", "inspect", "--format={{json .}}", "--", ...ids];
  const lines = await docker.readLines(inspect, problem, { hidesErrors });
  return lines
    .map((line): InspectedContainer => JSON.parse(line))
    .filter(({ Config }) => Config.Labels?.[`${LABEL}.oneoff`] !== "True")
    .map(toContainer)
    .toSorted((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
}

function toContainer(inspected: InspectedContainer): Container {
  const { Id, Name, Image, RestartCount, State, Config, NetworkSettings } = inspected;
  const labels = Config.Labels ?? {};
  const { Status: health = "" } = State.Health ?? {};
  return {
    id: Id,
    name: Name.replace(/^\//, ""),
    service: labels[`${LABEL}.service`] ?? "",
    image: Config.Image,
    imageId: Image,
    state: State.Status,
    health: health === "none" ? "" : health,
    exitCode: State.ExitCode,
    restarts: RestartCount,
    configHash: labels[`${LABEL}.config-hash`] ?? "",
    ports: Object.entries(NetworkSettings.Ports ?? {}).flatMap(([port, bindings]) => {
      const [target, protocol = "tcp"] = port.split("/");
      return (bindings ?? []).map(({ HostIp, HostPort }) => {
        return { target: Number(target), protocol, host: HostIp, published: Number(HostPort) };
      });
    }),
  };
}

export function groupByService(containers: readonly Container[]): Map<string, Container[]> {
  return Map.groupBy(containers, ({ service }) => service);
}
