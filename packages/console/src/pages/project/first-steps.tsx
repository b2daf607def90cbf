import type { ComponentChildren } from "preact";
import { RUN_CLI } from "../../../../../src/lib/addresses.ts";
import { type Can, can as canInOrganization } from "../../access.ts";
import { LinkButton } from "../../components/button.tsx";
import { Command } from "../../components/copy.tsx";
import { PageButtons } from "../../components/dialog-buttons.tsx";
import { Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { ROOT } from "../../router.ts";
import { currentWho } from "../../session.ts";
import { useStacks } from "../environment/use-stacks.ts";
import { runnerCommand } from "../runner-pools/runner-tokens.tsx";
import { EditStack } from "../stack/edit-stack.tsx";

interface FirstStepsProps {
  /** The one that is deployed first. */
  environment: { id: string; name: string };
  can: Can;
}

/** What is missing until a project's first deployment, each a button and a command. */
export function FirstSteps({ environment, can }: FirstStepsProps) {
  const { id, name } = environment;
  const stacks = useStacks(id);
  const pools = useList(
    canInOrganization("listRunnerPools") ? "/v1/orgs/{org_id}/runner-pools" : undefined,
    { path: { org_id: currentWho().organization.id } },
    "on",
  );
  const pool = pools.items?.find(({ environment_ids }) => environment_ids.includes(id));
  const runners = useList(
    pool && canInOrganization("listRunnerPoolRunners")
      ? "/v1/orgs/{org_id}/runner-pools/{pool_id}/runners"
      : undefined,
    { path: { org_id: currentWho().organization.id, pool_id: pool?.id ?? "" } },
    "on",
  );
  if (!stacks.items) return null;
  const hasStacks = stacks.items.length > 0;
  const hasRunners = (runners.items ?? []).length > 0;
  return (
    <Section title="Your first deployment">
      <ol class="list" aria-label="Steps">
        <Step title={`1. Add a stack to ${showHidden(name)}`} isDone={hasStacks}>
          <p class="soft">A stack is what a runner deploys, such as a service or a network.</p>
          {can("createStack") && (
            <div>
              <PageButtons
                reload={stacks.reload}
                buttons={[
                  {
                    verb: "Create a stack",
                    kind: "primary",
                    dialog: (props) => <EditStack environmentId={id} {...props} />,
                  },
                ]}
              />
            </div>
          )}
          <Command text={`${RUN_CLI} stacks create web -e ${id}`} />
        </Step>
        <Step title="2. Start a runner" isDone={hasRunners}>
          <p class="soft">
            A runner executes deployments with credentials that stay on your machine.
            {!canInOrganization("listRunnerPools") && " Ask an organization admin to start one."}
          </p>
          {canInOrganization("listRunnerPools") && (
            <>
              <div>
                <LinkButton href={pool ? `${ROOT}runners/${pool.id}` : `${ROOT}runners`}>
                  {pool ? "Open the runner pool" : "Create a runner pool"}
                </LinkButton>
              </div>
              <Command text={pool ? runnerCommand() : `${RUN_CLI} pools create main -e ${id}`} />
            </>
          )}
        </Step>
        <Step title="3. Deploy" isDone={false}>
          {hasStacks ? (
            <>
              <div>
                <LinkButton kind="primary" href={`${ROOT}environments/${id}`}>
                  Deploy to {showHidden(name)}
                </LinkButton>
              </div>
              <Command text={`${RUN_CLI} deploy -e ${id} --wait`} />
            </>
          ) : (
            <p class="soft">Add a stack first.</p>
          )}
        </Step>
      </ol>
    </Section>
  );
}

interface StepProps {
  title: string;
  isDone: boolean;
  children: ComponentChildren;
}

function Step({ title, isDone, children }: StepProps) {
  return (
    <li class="stack tight">
      <h3 class="row">
        {title} {isDone && <Status of="done" />}
      </h3>
      {!isDone && children}
    </li>
  );
}
