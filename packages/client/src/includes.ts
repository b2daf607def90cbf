/** Whether a JSON object has all fields of another, with equal values. */
export function includes(record: unknown, fields: unknown): boolean {
  if (!isObject(record) || !isObject(fields)) return false;
  return Object.entries(fields).every(([name, value]) => isEqual(record[name], value));
}

function isEqual(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at) => isEqual(item, other[at]));
  }
  if (!isObject(one) || !isObject(other)) return one === other;
  return includes(one, other) && includes(other, one);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
