import type { Container } from "./containers.ts";
import type { Project } from "./project.ts";

/** What `up` will do with each service, in lines such as `update web (shop:1 -> shop:2)`. */
export function describeChanges(
  { file: { services } }: Pick<Project, "file">,
  hashes: ReadonlyMap<string, string>,
  containers: readonly Container[],
): string[] {
  const removed = new Set(containers.map(({ service }) => service));
  const lines = Object.entries(services).map(([name, { image = "" }]) => {
    removed.delete(name);
    const current = containers.filter(({ service }) => service === name);
    const [first] = current;
    if (first === undefined) return `create ${name} (${image})`;
    if (current.every(({ configHash }) => configHash === hashes.get(name))) {
      return `keep   ${name} (${image}), unless its image has changed`;
    }
    const images = first.image === image ? image : `${first.image} -> ${image}`;
    return `update ${name} (${images})`;
  });
  return [...lines, ...[...removed].map((name) => `remove ${name}`)];
}
