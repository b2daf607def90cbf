import { stringify } from "yaml";

/** Manifests of tests. The tag of an image says how its pods behave in the stand-in. */
export function deployment(
  name: string,
  {
    image,
    replicas = 1,
    ...spec
  }: { image: string; replicas?: number; progressDeadlineSeconds?: number },
): object {
  const labels = { app: name };
  return {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name } },
    spec: {
      ...{ replicas, selector: { matchLabels: labels }, ...spec },
      template: { metadata: { labels }, spec: { containers: [{ name, image }] } },
    },
  };
}

export function service(name: string): object {
  const spec = { type: "LoadBalancer", selector: { app: name }, ports: [{ port: 80 }] };
  return { apiVersion: "v1", kind: "Service", metadata: { name }, spec };
}

export function configMap(name: string, data: Record<string, string>): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
}

export function job(name: string, image: string): object {
  const template = { spec: { containers: [{ name, image }], restartPolicy: "Never" } };
  return { apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec: { template } };
}

export function toManifests(...objects: readonly object[]): string {
  return objects.map((each) => stringify(each)).join("---\n");
}
