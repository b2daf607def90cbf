import { initialsOf } from "../format.ts";

/** A person's initials, beside the name. */
export function Avatar({ name }: { name: string }) {
  return (
    <span class="avatar" aria-hidden="true">
      {initialsOf(name)}
    </span>
  );
}
