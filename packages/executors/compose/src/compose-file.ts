import { isAbsolute, relative, sep } from "node:path";
import { ProgramError } from "../../program/src/index.ts";

/** What `docker compose config` makes of the files, as far as it is read. References are replaced, and paths absolute. */
export interface ComposeFile {
  services: Record<string, ComposeService>;
  configs?: Record<string, { file?: string }>;
  secrets?: Record<string, { file?: string }>;
}

export interface ComposeService {
  image?: string;
  build?: unknown;
  volumes?: { type: string; source?: string }[];
  ports?: { target: number; protocol?: string; app_protocol?: string }[];
}

/** Names the images that are built. Compose would use the same names. */
export function readComposeFile(text: string, project: string): ComposeFile {
  const file: ComposeFile = JSON.parse(text);
  const services = Object.entries(file.services ?? {}).map(([name, service]) => [
    name,
    { ...service, image: service.image ?? `${project}-${name}` },
  ]);
  if (services.length === 0) {
    throw new ProgramError(
      "The files have no service for these profiles. Add one, or set the setting profiles.",
    );
  }
  return { ...file, services: Object.fromEntries(services) };
}

/** Containers would lose these files: they are on the runner's machine, and only until the deployment ends. */
export function refuseLocalFiles(file: ComposeFile, checkout: string): void {
  const found = findLocalFile(file, checkout);
  if (found === undefined) return;
  throw new ProgramError(
    `${found.owner} uses ${found.path || "the folder"} of the checkout, which is removed after the deployment. Put it into an ` +
      "image, or write it as a config with content.",
  );
}

function findLocalFile({ services, configs, secrets }: ComposeFile, checkout: string) {
  const used = [
    ...Object.entries(services).flatMap(([name, { volumes = [] }]) =>
      volumes.flatMap(({ type, source }) =>
        type === "bind" ? [{ owner: `The service ${name}`, path: source }] : [],
      ),
    ),
    ...Object.entries({ ...configs, ...secrets }).map(([name, { file }]) => {
      return { owner: `The config or secret ${name}`, path: file };
    }),
  ];
  return used
    .flatMap(({ owner, path }) => {
      const inside = path === undefined ? ".." : relative(checkout, path);
      return inside.split(sep)[0] === ".." || isAbsolute(inside) ? [] : [{ owner, path: inside }];
    })
    .at(0);
}

/** Without what only a checkout has. */
export function withoutBuilds(file: ComposeFile): ComposeFile {
  const services = Object.entries(file.services).map(([name, { build: _, ...service }]) => [
    name,
    service,
  ]);
  return { ...file, services: Object.fromEntries(services) };
}
