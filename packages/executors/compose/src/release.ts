import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ComposeFile, withoutBuilds } from "./compose-file.ts";
import type { Container } from "./containers.ts";
import type { Docker } from "./docker.ts";
import { createTar } from "./tar.ts";

/** What a deployment has deployed, so that it can be deployed again without the checkout. */
export interface Release {
  deployment: string;
  file: ComposeFile;
  /** The IDs of the images by the names in the file. A name may get another image later. */
  images: Record<string, string>;
}

const FILE_NAME = "release.json";

/**
 * The last success of a stack, as an image on the engine: it survives the runner and its machine, is replaced as a
 * whole, and no argument of a process has the values in the file.
 */
export class ReleaseStore {
  readonly #docker: Docker;
  readonly #image: string;
  readonly #folder: string;

  constructor(docker: Docker, project: string, folder: string) {
    this.#docker = docker;
    this.#image = `longshore-release:${project}`;
    this.#folder = folder;
  }

  /** Returns whether it is kept. */
  async save(release: Release): Promise<boolean> {
    const path = join(this.#folder, "release.tar");
    writeFileSync(path, createTar(FILE_NAME, JSON.stringify(release)), { mode: 0o600 });
    const previous = await this.#readId();
    const { code } = await this.#docker.run(["image", "import", "--", path, this.#image], {
      onLine: () => undefined,
    });
    if (previous !== undefined) await this.#removeImage(previous);
    return code === 0;
  }

  /** Undefined: there is none. */
  async load(): Promise<Release | undefined> {
    if ((await this.#readId()) === undefined) return undefined;
    const problem = "What was deployed before cannot be read from the engine. The log says why.";
    // The command is never started.
    const create = ["container", "create", "--", this.#image, "none"];
    const container = await this.#docker.read(create, problem);
    try {
      const path = join(this.#folder, FILE_NAME);
      await this.#docker.read(
        ["container", "cp", "--", `${container}:/${FILE_NAME}`, path],
        problem,
      );
      return JSON.parse(readFileSync(path, "utf8"));
    } finally {
      await this.#docker.run(["container", "rm", "--", container], { onLine: () => undefined });
    }
  }

  /** One of an earlier deployment would be the wrong one for the next rollback. */
  async remove(): Promise<void> {
    if ((await this.#readId()) !== undefined) await this.#removeImage(this.#image);
  }

  /** The same names for the images as then. Returns the names of the images that the engine no longer has. */
  async restoreImages({ images }: Release): Promise<string[]> {
    const missing: string[] = [];
    for (const [name, id] of Object.entries(images)) {
      const isFixed = name.includes("@") || name.startsWith("sha256:");
      const args = isFixed
        ? ["image", "inspect", "--format=ok", "--", id]
        : ["image", "tag", "--", id, name];
      const { code } = await this.#docker.run(args, { onLine: () => undefined });
      if (code !== 0) missing.push(name);
    }
    return missing;
  }

  async #readId(): Promise<string | undefined> {
    const lines: string[] = [];
    const { code } = await this.#docker.run(
      ["image", "inspect", "--format={{.Id}}", "--", this.#image],
      { onLine: (line) => lines.push(line), hidesErrors: true },
    );
    return code === 0 ? lines.at(0) : undefined;
  }

  /** It may be in use, or the same as the new one. */
  async #removeImage(id: string): Promise<void> {
    const args = ["image", "rm", "--", id];
    await this.#docker.run(args, { onLine: () => undefined, hidesErrors: true });
  }
}

export function toRelease(
  deployment: string,
  file: ComposeFile,
  containers: readonly Container[],
): Release {
  const images = containers.map(({ image, imageId }) => [image, imageId]);
  return { deployment, file: withoutBuilds(file), images: Object.fromEntries(images) };
}
