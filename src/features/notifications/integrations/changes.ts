import type { Change, Fields } from "../../changelog/index.ts";
import type { IntegrationRow } from "./store.ts";

/** The host names a webhook in events, which go to others: the rest of its URL is not theirs. */
export function changeOf<Kind extends Change["action"]>(
  action: Kind,
  { id, projectId, shownUrl }: IntegrationRow,
  fields: { before?: Fields; after?: Fields },
): Change<Kind> {
  const name = URL.parse(shownUrl)?.host;
  return { projectId, action, record: { type: "integration", id, name }, ...fields };
}
