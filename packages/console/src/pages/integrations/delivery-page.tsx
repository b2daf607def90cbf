import { useCan } from "../../access.ts";
import { useAction } from "../../action.ts";
import { client, type Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { JsonText } from "../../components/json-text.tsx";
import { Facts, Page, PendingPage, Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";
import { humanize, showHidden } from "../../format.ts";
import { useQuery } from "../../query.ts";
import { navigate, type Params, ROOT } from "../../router.ts";
import { useProjectCrumbs } from "../crumbs.ts";
import { INTEGRATION, isSending, linkIntegration, stateOf, targetOf } from "./integration.ts";

const DELIVERY = `${INTEGRATION}/deliveries/{delivery_id}` as const;

export function DeliveryPage({ params }: { params: Params }) {
  const { project_id = "", integration_id = "", delivery_id = "" } = params;
  const path = { project_id, integration_id, delivery_id };
  const { data, error } = useQuery(DELIVERY, { path }, "live");
  const integration = useQuery(INTEGRATION, { path: { project_id, integration_id } });
  const mayRedeliver = integration.data && isSending(stateOf(integration.data));
  const can = useCan(project_id);
  const crumbs = useProjectCrumbs(project_id);
  const action = useAction();
  const integrationPath = linkIntegration(path);
  if (!data) return <PendingPage title="Delivery" error={error} />;
  const redeliver = () =>
    action.run(async () => {
      const { id } = await client.post(`${DELIVERY}/redeliver`, { path });
      navigate(`${integrationPath}/deliveries/${id}`);
    }, "A new delivery of the event is created.");
  return (
    <Page
      title={data.type}
      crumbs={[
        ...crumbs,
        ["Integrations", `${ROOT}projects/${project_id}/integrations`],
        [integration.data ? targetOf(integration.data) : "Integration", integrationPath],
      ]}
      beside={<Status of={data.status} />}
      actions={
        mayRedeliver &&
        can("redeliver") && (
          <Button kind="primary" isBusy={action.isRunning} onClick={redeliver}>
            Redeliver
          </Button>
        )
      }
    >
      <div class="stack loose">
        <ErrorNote error={action.error} />
        <DeliveryFacts delivery={data} />
        <Attempts attempts={data.attempts} />
        <Section title="Payload">
          <JsonText value={data.payload} />
        </Section>
      </div>
    </Page>
  );
}

function DeliveryFacts({ delivery }: { delivery: Schemas["DeliveryInFull"] }) {
  const { id, event_id, created_at, failure_reason, next_attempt_at } = delivery;
  return (
    <Facts
      facts={[
        ["Delivery", <code key="id">{id}</code>],
        ["Event", <code key="event">{event_id}</code>],
        ["Created", <Time key="created" at={created_at} />],
        failure_reason && ["Failed because", humanize(failure_reason)],
        next_attempt_at && ["Next attempt", <Time key="next" at={next_attempt_at} />],
      ]}
    />
  );
}

function Attempts({ attempts }: { attempts: readonly Schemas["DeliveryAttempt"][] }) {
  return (
    <Section title="Attempts">
      {attempts.length === 0 && <p class="soft">Nothing was sent yet.</p>}
      {attempts.length > 0 && (
        <ol class="list" aria-label="Attempts">
          {attempts.map(({ number, started_at, duration_ms, status_code, error, response }) => (
            <li key={number} class="stack">
              <div class="list-item">
                <span>
                  {number}.{" "}
                  {status_code ? `Status ${status_code}` : showHidden(error ?? "No response")}
                </span>
                <span class="soft small">
                  <Time at={started_at} />, {duration_ms} ms
                </span>
              </div>
              {response && <pre class="card">{showHidden(response)}</pre>}
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}
