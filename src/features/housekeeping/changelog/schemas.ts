import { ListQuery } from "../../../http/pagination.ts";
import { lazy } from "../../../lib/lazy.ts";
import { actorNameFilter, targetNameFilter } from "../audit/index.ts";

export const ChangelogQuery = lazy(() =>
  ListQuery().extend({ actor_name: actorNameFilter(), record_name: targetNameFilter("record") }),
);
