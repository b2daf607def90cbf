import type { Schemas } from "../../api.ts";
import { ChoiceFilter } from "../../components/filter.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { Status } from "../../components/status.tsx";
import { Time, TimeAfter } from "../../components/time.tsx";
import { formatCount } from "../../format.ts";
import { useList } from "../../query.ts";
import { queryOf } from "../../router.ts";
import { INTEGRATION, type IntegrationPath, linkIntegration } from "./integration.ts";

const STATUSES = [
  ["", "All"],
  ["pending", "Pending"],
  ["succeeded", "Succeeded"],
  ["failed", "Failed"],
] as const;

export function Deliveries({ path }: { path: IntegrationPath }) {
  const status = queryOf("status");
  const list = useList(
    `${INTEGRATION}/deliveries`,
    { path, ...(status && { query: { status } }) },
    "live",
  );
  return (
    <ItemList
      title="Deliveries"
      list={list}
      filters={<ChoiceFilter name="status" label="Status" options={STATUSES} />}
      row={(delivery) => <DeliveryRow delivery={delivery} path={path} />}
      empty="There are no deliveries. A ping sends one."
    />
  );
}

interface DeliveryRowProps {
  delivery: Schemas["Delivery"];
  path: IntegrationPath;
}

function DeliveryRow({ delivery, path }: DeliveryRowProps) {
  const { id, type, status, attempt_count, next_attempt_at, created_at } = delivery;
  return (
    <div class="list-item">
      <span>
        <a href={`${linkIntegration(path)}/deliveries/${id}`}>{type}</a>
        <br />
        <span class="soft small">
          {formatCount(attempt_count, "attempt")}
          <TimeAfter words=", next" at={next_attempt_at} />
        </span>
      </span>
      <span class="row">
        <Status of={status} />
        <Time at={created_at} />
      </span>
    </div>
  );
}
