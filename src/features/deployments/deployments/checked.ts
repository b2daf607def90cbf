import { sql } from "drizzle-orm";
import { attempts } from "./table.ts";

/** What a start has checked. Until the attempt ends, its runner gets this, whatever changes meanwhile. */
export interface Checked {
  projectName: string;
  environmentName: string;
  /** A row of `project_connections`. Null: the project has none. */
  connection: object | null;
  /** In the order of the deployment: ID, name, and the ID and name of the component, if there is one. */
  stacks: readonly [
    id: string,
    name: string,
    componentId: string | null,
    component: string | null,
  ][];
}

/** JSON of `Checked`, as it is at this moment, in a statement that reads or changes `attempts`. */
export const CHECKED = sql<string>`(select json_object('projectName', projects.name,
    'environmentName', environments.name,
    'connection', (select json_object('provider', place.provider, 'accountId', place.account_id,
        'region', place.region, 'roleArn', place.role_arn, 'externalId', place.external_id, 'settings', place.settings)
      from project_connections as place where place.project_id = projects.id),
    'stacks', (select json_group_array(json_array(stacks.id, stacks.name, components.id, components.name)
        order by part.position)
      from deployment_stacks as part join stacks on stacks.id = part.stack_id
      left join components on components.id = stacks.component_id
      where part.deployment_id = attempts.deployment_id))
  from environments join projects on projects.id = environments.project_id
  where environments.id = attempts.environment_id)`;

/** An attempt that was started before the column existed has none, for 7 days at most: the longest run. */
export const CHECKED_OF_ATTEMPT = sql<string>`coalesce(${attempts.checked}, ${CHECKED})`;
