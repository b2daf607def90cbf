import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { describeOwner } from "../../../../cli/src/key-owner.ts";
import { can } from "../../access.ts";
import { type Action, useAction } from "../../action.ts";
import type { Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Check } from "../../components/form.tsx";
import { Skeleton } from "../../components/list.tsx";
import { Time } from "../../components/time.tsx";
import { formatNumber, humanize, showHidden } from "../../format.ts";
import type { List } from "../../query.ts";
import { ROOT } from "../../router.ts";
import { currentWho } from "../../session.ts";

type FamilyItem = Schemas["FamilyItem"];
type FamilyType = FamilyItem["type"];

/** How many items of a family are read at once. */
export const FAMILY_PAGE = 50;

const GROUPS: readonly (readonly [type: FamilyType, label: string])[] = [
  ["api_key", "API keys"],
  ["runner_token", "Runner tokens"],
  ["trust", "Trusts"],
  ["invitation", "Invitations"],
  ["session", "Sessions"],
  ["sign_in_link", "Sign-in links"],
  ["organization", "Other organizations"],
  ["member", "Members"],
];

interface RevokeFamilyProps {
  title: string;
  children: ComponentChildren;
  /** What was made with the key or in the session. */
  family: List<FamilyItem>;
  /** Whether only its family is left to revoke. */
  hasEnded: boolean;
  /** The types that end with it in any case. */
  endsAnyway: readonly FamilyType[];
  /** Without an argument if there is nothing to choose. */
  revoke: (descendants?: "revoke" | "keep") => Promise<unknown>;
  /** Announced when it has worked. */
  done: string;
  reload: () => Promise<void>;
  onClose: () => void;
}

/** Shows what was made with a key or in a session, and revokes it with or without that. */
export function RevokeFamily(props: RevokeFamilyProps) {
  const { title, children, family, hasEnded, endsAnyway, revoke, done, reload, onClose } = props;
  const action = useAction();
  const [withFamily, setWithFamily] = useState(true);
  const isLoading = family.items === undefined && family.error === undefined;
  const hasChoice = !hasEnded && mayHave(family, endsAnyway);
  const isBusy = action.isRunning || isLoading || (hasEnded && !mayHave(family, []));
  const work = async () => {
    const chosen = hasEnded || withFamily ? "revoke" : "keep";
    try {
      await revoke(hasEnded || hasChoice ? chosen : undefined);
    } catch (error) {
      // The family may have grown since.
      await family.reload();
      throw error;
    }
    await reload();
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!isBusy && (await action.run(work, done))) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {children}
        {isLoading ? <Skeleton lines={2} /> : <Family family={family} action={action} />}
        {hasChoice && !isLoading && (
          <Check
            name="descendants"
            checked={withFamily}
            onChange={setWithFamily}
            label="Revoke what was made with it, too"
          />
        )}
        <ErrorNote error={action.error ?? family.error} />
        <div class="row">
          <Button type="submit" kind="danger" isBusy={isBusy}>
            Revoke
          </Button>
          <Button onClick={onClose}>Back</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Whether it may have something of another type that a revocation ends: what is not loaded may be anything. */
function mayHave(
  { items, hasMore, error }: List<FamilyItem>,
  otherThan: readonly FamilyType[],
): boolean {
  if (items === undefined || hasMore || error !== undefined) return true;
  return items.some(({ type }) => type !== "member" && !otherThan.includes(type));
}

function Family({ family, action }: { family: List<FamilyItem>; action: Action }) {
  const { items, hasMore, loadMore } = family;
  if (items?.length === 0) return <p class="soft">Nothing else was made with it.</p>;
  return (
    <>
      {GROUPS.map(([type, label]) => {
        const found = items?.filter((item) => item.type === type) ?? [];
        const title = `${label} (${formatNumber(found.length)}${hasMore ? " so far" : ""})`;
        return found.length > 0 && <Group key={type} type={type} title={title} items={found} />;
      })}
      {hasMore && (
        <div>
          <Button kind="small" isBusy={action.isRunning} onClick={() => action.run(loadMore)}>
            Load more
          </Button>
        </div>
      )}
    </>
  );
}

interface GroupProps {
  type: FamilyType;
  title: string;
  items: readonly FamilyItem[];
}

function Group({ type, title, items }: GroupProps) {
  return (
    <section class="stack tight">
      <h3>{title}</h3>
      {type === "member" && <p>Members stay. Remove those that you do not know.</p>}
      {type === "organization" && currentWho().credential.role !== "owner" && (
        <p>Only an owner revokes in other organizations: what is there stays valid.</p>
      )}
      <ul>
        {items.map((item) => (
          <li key={item.id}>
            <ItemName item={item} />{" "}
            <span class="soft small">
              {item.owner && (
                <>
                  <bdi>{showHidden(describeOwner(item.owner))}</bdi> ·{" "}
                </>
              )}
              {item.counts ? describeCounts(item.counts) : item.role} <Time at={item.created_at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function ItemName({ item: { type, id, name } }: { item: FamilyItem }) {
  const text = <>{name === undefined ? humanize(type) : showHidden(name)}</>;
  if (type !== "member" || !can("getMember")) return text;
  return <a href={`${ROOT}organization/members/${id}`}>{text}</a>;
}

/** Such as "2 API keys, 1 trust". */
function describeCounts(counts: Schemas["FamilyCounts"]): string {
  const parts = [
    [counts.api_keys, "API key"],
    [counts.runner_tokens, "runner token"],
    [counts.trusts, "trust"],
    [counts.invitations, "invitation"],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${formatNumber(count)} ${what}${count === 1 ? "" : "s"}`)
    .join(", ");
}
