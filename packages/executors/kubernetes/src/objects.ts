/** What is read of any object. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    generation?: number;
    deletionTimestamp?: string;
    labels?: Readonly<Record<string, string>>;
    annotations?: Readonly<Record<string, string>>;
  };
  spec?: Fields;
  status?: Fields;
}

export type Fields = Readonly<Record<string, unknown>>;

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

/** Such as `deployment.apps/web`, as kubectl prints it. */
export function nameOf({ apiVersion, kind, metadata }: KubernetesObject): string {
  const group = groupOf(apiVersion);
  return `${kind.toLowerCase()}${group === "" ? "" : `.${group}`}/${metadata.name}`;
}

/** Such as `Deployment.apps`, or `Service`. */
export function kindOf({ apiVersion, kind }: KubernetesObject): string {
  const group = groupOf(apiVersion);
  return group === "" ? kind : `${kind}.${group}`;
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
}

/** What `get --output=json` prints: an object, or a list of them. */
export function toObjects(printed: unknown): KubernetesObject[] {
  if (printed === undefined) return [];
  const { items } = printed as { items?: KubernetesObject[] };
  return items ?? [printed as KubernetesObject];
}

export function conditionsOf({ status }: KubernetesObject): Condition[] {
  const conditions = status?.["conditions"];
  return Array.isArray(conditions) ? conditions : [];
}

export function findCondition(object: KubernetesObject, type: string): Condition | undefined {
  return conditionsOf(object).find((each) => each.type === type);
}

export function numberOf(fields: Fields | undefined, name: string, otherwise = 0): number {
  const value = fields?.[name];
  return typeof value === "number" ? value : otherwise;
}
