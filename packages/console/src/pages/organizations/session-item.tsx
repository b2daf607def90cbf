import type { ComponentChildren } from "preact";
import type { Schemas } from "../../api.ts";
import { Time, TimeAfter } from "../../components/time.tsx";
import { humanize, showHidden } from "../../format.ts";

interface SessionItemProps {
  session: Schemas["MemberSession"];
  isCurrent: boolean;
  /** What can be done with it. */
  children: ComponentChildren;
}

/** A session in a list. */
export function SessionItem({ session, isCurrent, children }: SessionItemProps) {
  const { source, user_agent, created_at, expires_at, ended_at } = session;
  return (
    <div class="list-item">
      <span>
        {humanize(source)}
        {isCurrent && <strong> (this one)</strong>}
        <br />
        <span class="soft small">{showHidden(user_agent ?? "Unknown browser")}</span>
      </span>
      <span class="row">
        <span class="soft small">
          Started <Time at={created_at} />
          <TimeAfter words=", ended" at={ended_at} />
          <TimeAfter words=", ends" at={expires_at} />
        </span>
        {children}
      </span>
    </div>
  );
}
