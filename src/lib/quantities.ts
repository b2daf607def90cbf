const DURATIONS = [
  ["days", 86_400_000],
  ["hours", 3_600_000],
  ["minutes", 60_000],
] as const;

/** In the largest unit of which it is a whole number, and more than one: `24 hours`, `5 days`. */
export function durationOf(ms: number): string {
  const [name, size] = DURATIONS.find(([, each]) => ms > each && ms % each === 0) ?? [
    "seconds",
    1000,
  ];
  return `${ms / size} ${name}`;
}

/** `256 KiB`, `1 MiB`. */
export function sizeOf(bytes: number): string {
  const kib = bytes / 1024;
  return kib < 1024 ? `${kib} KiB` : `${kib / 1024} MiB`;
}
