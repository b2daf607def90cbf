import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, FormDialog } from "../../components/dialog.tsx";
import type { Buttons, OpenDialogProps } from "../../components/dialog-buttons.tsx";
import { Choices, TextField } from "../../components/form.tsx";
import { Pending } from "../../components/list.tsx";
import { PatchDiff } from "../../components/patch-diff.tsx";
import { formatCount } from "../../format.ts";
import { useQuery, useReadOnce } from "../../query.ts";
import { currentWho } from "../../session.ts";
import { describeSource } from "../deployment/source.tsx";
import { useNamedByFreezes } from "./freezes.ts";

type Deployment = Schemas["Deployment"];
type Condition = Schemas["OverrideDeployment"]["conditions"][number];

const APPROVALS = "/v1/deployments/{deployment_id}/approvals" as const;

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

/** What starts a deployment that waits for rules, or ends it, for those who may. */
export function useDecisions(deployment: Deployment, projectId: string | undefined): Buttons {
  const { id } = deployment;
  const open = openConditions(deployment);
  const needsApproval = open.includes("approvals") && can("listPendingApprovals");
  const { credential, organization } = currentWho();
  const pending = useQuery(
    needsApproval ? "/v1/orgs/{org_id}/approvals" : undefined,
    { path: { org_id: organization.id }, query: { deployment_id: id } },
    "on",
  );
  const mayDecide = (needsApproval && pending.data?.data.length) || false;
  const isOwner = credential.role === "owner";
  const isNamed = useNamedByFreezes(deployment, open.includes("freeze") && !isOwner, projectId);
  const overridable = isOwner ? open : open.filter((code) => code === "freeze" && isNamed);
  return [
    mayDecide !== false && {
      verb: "Approve",
      kind: "primary",
      inPalette: "Approve this deployment",
      dialog: (props) => <Approve deployment={deployment} {...props} />,
    },
    mayDecide !== false && {
      verb: "Reject",
      kind: "danger",
      inPalette: "Reject this deployment",
      dialog: (props) => <Reject id={id} {...props} />,
    },
    credential.full &&
      overridable.length > 0 && {
        verb: "Override",
        inPalette: "Override the rules for this deployment",
        dialog: (props) => <Override id={id} conditions={overridable} {...props} />,
      },
  ];
}

function Comment({ error }: { error: unknown }) {
  return <TextField name="comment" label="Comment (optional)" error={error} />;
}

/** Shows what it approves: the digest is of that alone. */
function Approve({ deployment, ...dialog }: OpenDialogProps & { deployment: Deployment }) {
  const { id, data, stack_ids } = deployment;
  const path = { deployment_id: id };
  const content = useReadOnce(() =>
    client.get("/v1/deployments/{deployment_id}/configuration", { path }),
  );
  const { digest, diff = [] } = content.data ?? {};
  if (digest === undefined) {
    return (
      <Dialog title="Approve" onClose={dialog.onClose}>
        {content.data ? (
          <p>
            The deployment cannot start any more: its changes no longer apply to the configuration.
            Reject or cancel it.
          </p>
        ) : (
          <Pending error={content.error} />
        )}
        <div>
          <Button onClick={dialog.onClose}>Close</Button>
        </div>
      </Dialog>
    );
  }
  return (
    <FormDialog
      {...dialog}
      title="Approve"
      verb="Approve"
      done="Approved."
      submit={async (fields) => {
        const comment = fields.optional("comment");
        const body = { decision: "approve", digest, ...(comment && { comment }) } as const;
        return client.post(APPROVALS, { path, body });
      }}
    >
      {(error) => (
        <>
          <p>
            Source: {describeSource(data.source)}. {formatCount(stack_ids.length, "stack")}. Your
            approval counts for this source and these changes alone:
          </p>
          <PatchDiff patch={diff} />
          <Comment error={error} />
        </>
      )}
    </FormDialog>
  );
}

function Reject({ id, ...dialog }: OpenDialogProps & { id: string }) {
  return (
    <FormDialog
      {...dialog}
      title="Reject"
      verb="Reject the deployment"
      done="Rejected."
      submit={async (fields) => {
        const comment = fields.optional("comment");
        const body = { decision: "reject", ...(comment && { comment }) } as const;
        return client.post(APPROVALS, { path: { deployment_id: id }, body });
      }}
    >
      {(error) => (
        <>
          <p>This ends the deployment. Everybody who sees it reads your comment.</p>
          <Comment error={error} />
        </>
      )}
    </FormDialog>
  );
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
