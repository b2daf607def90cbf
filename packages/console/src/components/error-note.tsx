import { isForbidden } from "../access.ts";
import { describeProblem } from "../api.ts";

/** An error of a request: what happened, what to do, and the ID for the operator. */
export function ErrorNote({ error }: { error: unknown }) {
  if (error === undefined || error === null) return null;
  const { message, advice, requestId, issues } = describeProblem(error);
  return (
    <div class="note bad" role="alert">
      <p>{message}</p>
      {issues.length > 0 && (
        <ul>
          {issues.map((issue) => (
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
