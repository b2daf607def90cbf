import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse, stringify } from "yaml";
import { demand, type Fields, type Manifest, readDocuments, toId } from "./kubectl-cluster.ts";
import { currentCall, print } from "./tool-call.ts";

export function kustomize(folder: string): void {
  demand(currentCall().env["GIT_ALLOW_PROTOCOL"] === "none", "no protocols of git");
  demand(
    /127\.0\.0\.1:9$/.test(currentCall().env["HTTPS_PROXY"] ?? ""),
    "a proxy without a network",
  );
  print(
    render(folder)
      .map((each) => stringify(each))
      .join("---\n"),
  );
}

/** Resources and images, as the tests have them. */
export function render(folder: string): Manifest[] {
  const file = ["kustomization.yaml", "kustomization.yml", "Kustomization"]
    .map((name) => join(folder, name))
    .find(existsSync);
  if (file === undefined) return readDocuments(folder);
  const {
    resources = [],
    images = [],
    configMapGenerator = [],
    labels = [],
  } = parse(readFileSync(file, "utf8"));
  const given = JSON.stringify(resources.flatMap((each: string) => render(join(folder, each))));
  const maps: Manifest[] = configMapGenerator.map((each: Generator) => generate(folder, each));
  const named = configMapGenerator.reduce(
    (all: string, { name }: Generator, at: number) =>
      all.replaceAll(
        `"configMap":{"name":"${name}"}`,
        `"configMap":{"name":"${maps[at]?.metadata.name}"}`,
      ),
    given,
  );
  const pairs = Object.assign({}, ...labels.map((each: Fields) => each["pairs"]));
  return [...maps, ...setImages(named, images)].map((each) => addLabels(each, pairs));
}

function addLabels(manifest: Manifest, pairs: Record<string, string>): Manifest {
  const { metadata } = manifest;
  const labels = { ...metadata.labels, ...pairs };
  if (Object.keys(labels).length === 0) return manifest;
  return { ...manifest, metadata: { ...metadata, labels } };
}

interface Generator {
  name: string;
  files: string[];
}

/** With a hash of its files in its name. */
function generate(folder: string, { name, files }: Generator): Manifest & Fields {
  const data = Object.fromEntries(
    files.map((file) => [basename(file), readFileSync(join(folder, file), "utf8")]),
  );
  const metadata = { name: `${name}-${toId(JSON.stringify(data)).slice(0, 10)}` };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data };
}

function setImages(text: string, images: Record<string, string>[]): Manifest[] {
  return JSON.parse(
    images.reduce((all: string, { name, newName, newTag, digest }: Record<string, string>) => {
      const end = digest === undefined ? `:${newTag}` : `@${digest}`;
      return all.replaceAll(
        new RegExp(`"image":"${name}(:[^"]*)?"`, "g"),
        `"image":"${newName}${end}"`,
      );
    }, text),
  );
}
