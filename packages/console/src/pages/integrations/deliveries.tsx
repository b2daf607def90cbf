import type { Schemas } from "../../api.ts";
import { ChoiceFilter } from "../../components/filter.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";
import { useList } from "../../query.ts";
import { queryOf, ROOT } from "../../router.ts";
import type { IntegrationPath } from "./integration-page.tsx";

const STATUSES = [
  ["", "All"],
  ["pending", "Pending"],
  ["succeeded", "Succeeded"],
  ["failed", "Failed"],
] as const;

export function Deliveries({ path }: { path: IntegrationPath }) {
  const status = queryOf("status");
  const list = useList(
    "/v1/projects/{project_id}/notification-integrations/{integration_id}/deliveries",
    { path, ...(status && { query: { status } }) },
    "live",
  );
  return (
    <Section title="Deliveries">
      <div class="filters">
        <ChoiceFilter name="status" label="Status" options={STATUSES} />
      </div>
      <RecordList
        list={list}
        label="Deliveries"
        keyOf={({ id }) => id}
        render={(delivery) => <DeliveryRow delivery={delivery} path={path} />}
        empty={<Empty title="There are no deliveries. A ping sends one." />}
      />
    </Section>
  );
}

interface DeliveryRowProps {
  delivery: Schemas["Delivery"];
  path: IntegrationPath;
}

function DeliveryRow({ delivery, path }: DeliveryRowProps) {
  const { id, type, status, attempt_count, next_attempt_at, created_at } = delivery;
  const root = `${ROOT}projects/${path.project_id}/integrations/${path.integration_id}`;
  return (
    <div class="list-item">
      <span>
        <a href={`${root}/deliveries/${id}`}>{type}</a>
        <br />
        <span class="soft small">
          {attempt_count === 1 ? "1 attempt" : `${attempt_count} attempts`}
          {next_attempt_at && (
            <>
              , next <Time at={next_attempt_at} />
            </>
          )}
        </span>
      </span>
      <span class="row">
        <Status of={status} />
        <Time at={created_at} />
      </span>
    </div>
  );
}
