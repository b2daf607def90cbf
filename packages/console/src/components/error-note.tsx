import { signal } from "@preact/signals";
import { useId, useLayoutEffect } from "preact/hooks";
import { isForbidden } from "../access.ts";
import { ApiError, describeProblem } from "../api.ts";

/**
 * An error of a request: what happened, what to do, and the ID for the operator. `fields` are those that show the
 * issues with them.
 */
export function ErrorNote({ error, fields }: { error: unknown; fields?: ReadonlySet<string> }) {
  if (error === undefined || error === null) return null;
  const { message, advice, requestId, issues } = describeProblem(error);
  const others = issues.filter(({ path }) => !fields?.has(lastPartOf(path)));
  return (
    <div class="note bad" role="alert">
      <p>{issues.length > 0 ? "Correct what is not accepted, then retry." : message}</p>
      {others.length > 0 && (
        <ul>
          {others.map((issue) => (
            <li key={issue.path}>
              <code>{issue.path}</code>: {issue.message}
            </li>
          ))}
        </ul>
      )}
      {advice && <p>{advice}</p>}
      {isForbidden(error) && <p>Ask an administrator of the organization for access.</p>}
      {requestId && (
        <p class="small soft">
          Request <code>{requestId}</code>
        </p>
      )}
    </div>
  );
}

/** The name of the field of an issue. */
export function lastPartOf(path: string): string {
  return path.split(/[./]/).at(-1) ?? path;
}

/** In the order of their appearance. */
const failures = signal<readonly { owner: string; message: string }[]>([]);

/**
 * The error of something that was read. What concerns every request, such as a lost connection, is shown once
 * on a page, however many of its parts could not be read.
 */
export function ReadErrorNote({ error }: { error: unknown }) {
  const owner = useId();
  const message = concernsAll(error) ? describeProblem(error).message : undefined;
  useLayoutEffect(() => {
    if (message === undefined) return;
    failures.value = [...failures.value, { owner, message }];
    return () => {
      failures.value = failures.value.filter((each) => each.owner !== owner);
    };
  }, [message]);
  const first = failures.value.find((each) => each.message === message);
  return message === undefined || first?.owner === owner ? <ErrorNote error={error} /> : null;
}

function concernsAll(error: unknown): boolean {
  if (error === undefined) return false;
  return !(error instanceof ApiError) || error.code === "internal" || error.code === "rate";
}
