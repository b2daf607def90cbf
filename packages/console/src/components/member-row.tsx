import type { ComponentChildren } from "preact";
import { useAction } from "../action.ts";
import { Avatar } from "./avatar.tsx";
import { ErrorNote } from "./error-note.tsx";
import { Options } from "./form.tsx";

interface MemberRowProps {
  name: string;
  /** With what is special about the member. */
  title: ComponentChildren;
  role: string;
  /** Those that the person may choose. Undefined: none. */
  roles: readonly (readonly [value: string, label: string])[] | undefined;
  /** Gives the member another role, at once. */
  change: (role: string) => Promise<unknown>;
  /** The buttons. */
  children: ComponentChildren;
}

/** A member of the organization or of a project, in a list. */
export function MemberRow({ name, title, role, roles, change, children }: MemberRowProps) {
  const action = useAction();
  const choose = (chosen: string) => action.run(() => change(chosen), `${name} is now ${chosen}.`);
  return (
    <>
      <div class="list-item">
        <span class="who">
          <Avatar name={name} />
          <span>{title}</span>
        </span>
        <span class="row">
          {roles ? (
            <select
              class="input auto"
              aria-label={`Role of ${name}`}
              onChange={(event) => choose(event.currentTarget.value)}
            >
              <Options options={roles} value={role} />
            </select>
          ) : (
            role
          )}
          {children}
        </span>
      </div>
      <ErrorNote error={action.error} />
    </>
  );
}
