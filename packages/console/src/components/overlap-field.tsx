import { SelectField } from "./form.tsx";

const OVERLAPS = [
  ["0", "Not at all: it is revoked at once"],
  ["600", "10 minutes"],
  ["3600", "1 hour"],
  ["86400", "1 day"],
] as const;

/** How long the old secret stays valid when it is rotated, in seconds. */
export function OverlapField({ what }: { what: string }) {
  return (
    <SelectField
      name="overlap_seconds"
      label={`How long the old ${what} stays valid`}
      options={OVERLAPS}
      value="3600"
    />
  );
}
