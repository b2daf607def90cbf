import type { Schemas } from "../../api.ts";
import { ChoiceFilter } from "../../components/filter.tsx";
import { Pending } from "../../components/list.tsx";
import { Facts, Section } from "../../components/page.tsx";
import { PatchDiff } from "../../components/patch-diff.tsx";
import { showHidden } from "../../format.ts";
import { useQuery } from "../../query.ts";
import { queryOf, ROOT } from "../../router.ts";
import { SourceDetails } from "../deployment/source.tsx";
import type { EnvironmentTabProps } from "../tabs.ts";
import { DifferentVariables } from "./different-variables.tsx";
import { useOtherEnvironments } from "./other-environments.ts";

/** What another environment of the project has instead. */
export function ComparisonTab({ environment }: EnvironmentTabProps) {
  const { id, project_id } = environment;
  const { others, error } = useOtherEnvironments(id, project_id);
  if (!others) return <Pending error={error} />;
  const chosen = others.find((each) => each.id === queryOf("with")) ?? others[0];
  if (!chosen) {
    return (
      <p>
        The project has no other environment.{" "}
        <a href={`${ROOT}projects/${project_id}`}>Create one first.</a>
      </p>
    );
  }
  return (
    <div class="stack loose">
      <div class="filters">
        <ChoiceFilter
          name="with"
          label="Compare with"
          options={others.map(({ id, name }) => [id, showHidden(name)] as const)}
        />
      </div>
      <Comparison id={id} otherId={chosen.id} />
    </div>
  );
}

function Comparison({ id, otherId }: { id: string; otherId: string }) {
  const { data, error } = useQuery(
    "/v1/environments/{environment_id}/comparison",
    { path: { environment_id: id }, query: { with: otherId } },
    "on",
  );
  if (!data) return <Pending error={error} />;
  const { environment, with: other, same_source, configuration, variables } = data;
  const own = showHidden(environment.name);
  const others = showHidden(other.name);
  return (
    <>
      {same_source !== undefined && (
        <Section title="Source">
          {same_source ? (
            <p>
              Both have the same: <Source of={environment} />
            </p>
          ) : (
            <Facts
              facts={[
                [own, <Source key="own" of={environment} />],
                [others, <Source key="other" of={other} />],
              ]}
            />
          )}
        </Section>
      )}
      <Section title="Configuration">
        {configuration.length === 0 ? (
          <p class="soft">Both have the same.</p>
        ) : (
          <>
            <p class="soft">
              What {own} would have to change to be as {others} is:
            </p>
            <PatchDiff patch={configuration} />
          </>
        )}
      </Section>
      {variables && (
        <Section title="Variables">
          <DifferentVariables names={[own, others]} variables={variables} />
        </Section>
      )}
    </>
  );
}

function Source({ of: { source } }: { of: Schemas["ComparedEnvironment"] }) {
  return <SourceDetails source={source} />;
}
