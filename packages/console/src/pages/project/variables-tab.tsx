import { inOrder } from "../../../../cli/src/in-order.ts";
import type { Schemas } from "../../api.ts";
import { Pending } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { formatCount, showHidden } from "../../format.ts";
import { readAll, useReadOnce } from "../../query.ts";
import { ROOT } from "../../router.ts";
import type { ProjectTabProps } from "../tabs.ts";

/** How many environments are columns, each with a request of its own. */
const MOST_ENVIRONMENTS = 12;

interface Columns {
  columns: readonly Column[];
  environmentCount: number;
}

interface Column {
  environment: Schemas["Environment"];
  /** By the name of the variable. */
  methods: ReadonlyMap<string, string>;
}

/** Which variables each environment has, and how they are stored. No values. */
export function ProjectVariablesTab({ project, can }: ProjectTabProps) {
  return (
    <Section title="Variables of the environments">
      <p class="soft">Their names, and how their values are stored. Components have their own.</p>
      {can("listEnvironmentVariables") ? (
        <Matrix projectId={project.id} />
      ) : (
        <p>Your role or your scopes do not allow this page.</p>
      )}
    </Section>
  );
}

async function readColumns(projectId: string): Promise<Columns> {
  const path = { project_id: projectId };
  const environments = await readAll("/v1/projects/{project_id}/environments", { path });
  const columns = await Promise.all(
    inOrder(environments)
      .slice(0, MOST_ENVIRONMENTS)
      .map(async (environment) => {
        const variables = await readAll("/v1/environments/{environment_id}/variables", {
          path: { environment_id: environment.id },
        });
        const methods = variables.map(
          ({ name, storage_method }) => [name, storage_method] as const,
        );
        return { environment, methods: new Map(methods) };
      }),
  );
  return { columns, environmentCount: environments.length };
}

function Matrix({ projectId }: { projectId: string }) {
  const { data, error } = useReadOnce(() => readColumns(projectId));
  if (!data) return <Pending error={error} />;
  const { columns, environmentCount } = data;
  const names = [...new Set(columns.flatMap(({ methods }) => [...methods.keys()]))].toSorted();
  const of =
    environmentCount > columns.length
      ? `Of the first ${columns.length} of ${formatCount(environmentCount, "environment")}.`
      : "";
  if (names.length === 0) return <p>No environment has variables. {of}</p>;
  return (
    <>
      {of && <p>{of}</p>}
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              {columns.map(({ environment: { id, name } }) => (
                <th key={id} scope="col">
                  <a href={`${ROOT}environments/${id}/variables`}>{showHidden(name)}</a>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {names.map((name) => (
              <tr key={name}>
                <th scope="row">
                  <code>{showHidden(name)}</code>
                </th>
                {columns.map(({ environment, methods }) => (
                  <td key={environment.id}>
                    {methods.get(name) ?? <span class="soft">missing</span>}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
