import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { FormDialog } from "../../components/dialog.tsx";
import type { Buttons, OpenDialogProps } from "../../components/dialog-buttons.tsx";
import { Choices, TextField } from "../../components/form.tsx";
import { useQuery } from "../../query.ts";
import { ROOT } from "../../router.ts";
import { currentWho } from "../../session.ts";
import { useNamedByFreezes } from "./freezes.ts";

type Deployment = Schemas["Deployment"];
type Condition = Schemas["OverrideDeployment"]["conditions"][number];

/** What an override may leave out. */
const CONDITIONS: Readonly<Record<Condition, string>> = {
  approvals: "Approvals",
  from: "That it was tried before",
  sources: "Its source",
  window: "Its times",
  freeze: "Freezes",
};

export function openConditions({ waiting_for = [] }: Deployment): Condition[] {
  const codes = waiting_for.map(({ code }) => code).filter((code) => code in CONDITIONS);
  return [...new Set(codes)] as Condition[];
}

export function describeCondition(code: string): string {
  return CONDITIONS[code as Condition] ?? code;
}

/** In a sentence, such as "approvals, freezes". */
export function describeConditions(codes: readonly string[]): string {
  return codes.map((code) => describeCondition(code).toLowerCase()).join(", ");
}

/** Shows everything that an approval covers. */
export function approvePath(deploymentId: string): string {
  return `${ROOT}deployments/${deploymentId}/approve`;
}

/** Whether the person may approve it, and has not done so. Undefined: it is not known yet. */
export function useMayDecide(deployment: Deployment): boolean | undefined {
  const isPending = openConditions(deployment).includes("approvals") && can("listPendingApprovals");
  const path = { org_id: currentWho().organization.id };
  const pending = useQuery(
    isPending ? "/v1/orgs/{org_id}/approvals" : undefined,
    { path, query: { deployment_id: deployment.id } },
    "on",
  );
  if (!isPending) return false;
  return pending.data && pending.data.data.length > 0;
}

/** What starts a deployment that waits for rules, or ends it, for those who may. */
export function useDecisions(deployment: Deployment, projectId: string | undefined): Buttons {
  const { id } = deployment;
  const open = openConditions(deployment);
  const { credential } = currentWho();
  const mayDecide = useMayDecide(deployment) ?? false;
  const isOwner = credential.role === "owner";
  const isNamed = useNamedByFreezes(deployment, open.includes("freeze") && !isOwner, projectId);
  const overridable = isOwner ? open : open.filter((code) => code === "freeze" && isNamed);
  return [
    mayDecide && {
      verb: "Approve or reject",
      kind: "primary",
      inPalette: "Approve or reject this deployment",
      href: approvePath(id),
    },
    credential.full &&
      overridable.length > 0 && {
        verb: "Override",
        inPalette: "Override the rules for this deployment",
        dialog: (props) => <Override id={id} conditions={overridable} {...props} />,
      },
  ];
}

interface OverrideProps extends OpenDialogProps {
  id: string;
  conditions: readonly Condition[];
}

function Override({ id, conditions, ...dialog }: OverrideProps) {
  return (
    <FormDialog
      {...dialog}
      title="Override"
      verb="Override"
      done="Overridden."
      submit={async (fields) => {
        const chosen = fields.all("conditions") as Condition[];
        const body = { reason: fields.text("reason"), conditions: chosen };
        return client.post("/v1/deployments/{deployment_id}/override", {
          path: { deployment_id: id },
          body,
        });
      }}
    >
      {(error) => (
        <>
          <p>The deployment starts in spite of what you choose, and shows it for good.</p>
          <Choices
            name="conditions"
            legend="Left out"
            options={conditions.map((code) => [code, describeCondition(code)])}
            chosen={conditions}
          />
          <TextField name="reason" label="Reason" required error={error} />
        </>
      )}
    </FormDialog>
  );
}
