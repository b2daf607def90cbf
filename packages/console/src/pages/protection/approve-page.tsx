import { useEffect } from "preact/hooks";
import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { FormDialog } from "../../components/dialog.tsx";
import { type OpenDialogProps, PageButtons } from "../../components/dialog-buttons.tsx";
import { Form, TextField } from "../../components/form.tsx";
import { Pending } from "../../components/list.tsx";
import { Page, PendingPage, Section } from "../../components/page.tsx";
import { useList, useQuery } from "../../query.ts";
import { navigate, type Params, ROOT } from "../../router.ts";
import { currentWho } from "../../session.ts";
import { useCrumbs } from "../deployment/crumbs.ts";
import { Summary } from "../deployment/facts.tsx";
import { Waiting } from "../deployment/waiting.tsx";
import { ApprovedContent, type Content, useContent } from "./approved-content.tsx";
import { openConditions, useMayDecide } from "./decisions.tsx";
import { Elsewhere } from "./elsewhere.tsx";
import { Approvals } from "./marks.tsx";

type Deployment = Schemas["Deployment"];

const APPROVALS = "/v1/deployments/{deployment_id}/approvals" as const;

/** What an approval covers, and who has asked for it. Without an open approval, the deployment's page is shown. */
export function ApprovePage({ params }: { params: Params }) {
  const { deployment_id: id = "" } = params;
  const path = { deployment_id: id };
  const { data, error } = useQuery("/v1/deployments/{deployment_id}", { path }, "on");
  const { projectId, crumbs, title } = useCrumbs(data);
  const isOpen = data && openConditions(data).includes("approvals");
  const page = `${ROOT}deployments/${id}`;
  useEffect(() => {
    if (isOpen === false) navigate(page, { replace: true });
  }, [isOpen]);
  if (!data || !isOpen || !projectId) return <PendingPage title="Approve" error={error} />;
  return (
    <Page
      title={`Approve: ${title}`}
      crumbs={[...crumbs, [title, page]]}
      lead={<Summary deployment={data} />}
    >
      <Review deployment={data} projectId={projectId} leave={() => navigate(page)} />
    </Page>
  );
}

interface ReviewProps {
  deployment: Deployment;
  projectId: string;
  /** Shows the deployment. */
  leave: () => void;
}

function Review({ deployment, projectId, leave }: ReviewProps) {
  const content = useContent(deployment, projectId);
  if (!content.data) return <Pending error={content.error} lines={6} />;
  return (
    <div class="with-aside">
      <div class="stack loose">
        <ApprovedContent content={content.data} />
        {can("getProjectOverview", "viewer") && (
          <Elsewhere deployment={deployment} projectId={projectId} />
        )}
      </div>
      <div class="stack loose">
        <Section title="Decision">
          <Waiting reasons={deployment.waiting_for ?? []} />
          <Decision deployment={deployment} content={content.data} leave={leave} />
        </Section>
        <Approvals deployment={deployment} />
      </div>
    </div>
  );
}

interface DecisionProps extends Omit<ReviewProps, "projectId"> {
  content: Content;
}

function Decision({ deployment, content: { digest }, leave }: DecisionProps) {
  const { id, created_by } = deployment;
  const mayDecide = useMayDecide(deployment);
  const isLast = useIsLast(deployment, digest);
  if (mayDecide === undefined) return <Pending error={undefined} lines={2} />;
  if (!mayDecide) {
    const isOwn = created_by?.membership_id === currentWho().membership.id;
    return (
      <p>
        {isOwn
          ? "You can't approve your own deployment."
          : "Nothing to do for you: it waits for somebody else's approval."}
      </p>
    );
  }
  const reject = (
    <PageButtons
      buttons={[
        {
          verb: "Reject…",
          kind: "danger",
          inPalette: "Reject this deployment",
          dialog: (props) => <Reject id={id} {...props} leave={leave} />,
        },
      ]}
    />
  );
  if (digest === undefined) {
    return (
      <>
        <p>
          The deployment can't start any more: its changes no longer apply to the configuration.
          Reject or cancel it.
        </p>
        <div>{reject}</div>
      </>
    );
  }
  return (
    <Form
      verb={isLast ? "Approve and deploy" : "Approve"}
      done="Approved."
      beside={reject}
      submit={async (fields) => {
        const comment = fields.optional("comment");
        const body = { decision: "approve", digest, ...(comment && { comment }) } as const;
        await client.post(APPROVALS, { path: { deployment_id: id }, body });
        leave();
      }}
    >
      {(error) => <TextField name="comment" label="Comment (optional)" error={error} />}
    </Form>
  );
}

/** Whether nothing else keeps the deployment from its runner. */
function useIsLast(deployment: Deployment, digest: string | undefined): boolean {
  const { id, environment_id } = deployment;
  const rules = useQuery(
    can("getProtection", "viewer") ? "/v1/environments/{environment_id}/protection" : undefined,
    { path: { environment_id } },
  );
  const { items = [] } = useList(APPROVALS, { path: { deployment_id: id } });
  const given = items.filter((each) => each.decision === "approve" && each.digest === digest);
  const needed = rules.data?.approvals?.required ?? 1;
  return openConditions(deployment).length === 1 && given.length + 1 >= needed;
}

interface RejectProps extends OpenDialogProps {
  id: string;
  leave: () => void;
}

function Reject({ id, leave, ...dialog }: RejectProps) {
  return (
    <FormDialog
      {...dialog}
      title="Reject"
      verb="Reject the deployment"
      done="Rejected."
      submit={async (fields) => {
        const body = { decision: "reject", comment: fields.text("comment") } as const;
        await client.post(APPROVALS, { path: { deployment_id: id }, body });
        leave();
      }}
    >
      {(error) => (
        <>
          <p>This ends the deployment. Everybody who sees it reads your comment.</p>
          <TextField name="comment" label="Comment" required error={error} />
        </>
      )}
    </FormDialog>
  );
}
