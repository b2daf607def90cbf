import { useState } from "preact/hooks";
import { type Action, useAction } from "../action.ts";
import { showHidden } from "../format.ts";
import { useList } from "../query.ts";
import { navigate, ROOT } from "../router.ts";
import { signOut, switchOrganization, type Who } from "../session.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { ErrorNote } from "./error-note.tsx";
import { Facts } from "./page.tsx";

/** Who is signed in, in which organization, and how to change it. */
export function AccountMenu({ who }: { who: Who }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="small" onClick={() => setOpen(true)}>
        <span class="wide">
          <bdi>{showHidden(who.organization.name)}</bdi> ·
        </span>
        <bdi>{showHidden(who.account.name)}</bdi>
      </Button>
      {isOpen && <AccountDialog who={who} onClose={() => setOpen(false)} />}
    </>
  );
}

function AccountDialog({ who, onClose }: { who: Who; onClose: () => void }) {
  const { credential } = who;
  const action = useAction();
  return (
    <Dialog title="You" onClose={onClose}>
      <Facts
        facts={[
          ["Name", showHidden(who.account.name)],
          ["Organization", showHidden(who.organization.name)],
          ["Role", credential.role],
          ["Signed in with", showHidden(credential.name)],
          credential.scopes && ["Scopes", credential.scopes.join(", ")],
        ]}
      />
      <Organizations action={action} />
      <ErrorNote error={action.error} />
      <div class="row">
        <Button isBusy={action.isRunning} onClick={() => action.run(signOut, "Signed out.")}>
          Sign out
        </Button>
        <Button onClick={onClose}>Close</Button>
        <a href="/docs">Documentation</a>
      </div>
    </Dialog>
  );
}

/** The other organizations of the person. */
function Organizations({ action }: { action: Action }) {
  const list = useList("/v1/sessions/current/organizations");
  const others = list.items?.filter(({ current }) => !current) ?? [];
  const change = (id: string) =>
    action.run(async () => {
      await switchOrganization(id);
      navigate(ROOT);
    });
  if (others.length === 0 && !list.hasMore) return null;
  return (
    <div class="stack">
      <h3>Switch to</h3>
      {others.map(({ id, name, role }) => (
        <div key={id}>
          <Button isBusy={action.isRunning} onClick={() => change(id)}>
            <bdi>{showHidden(name)}</bdi> ({role})
          </Button>
        </div>
      ))}
      {list.hasMore && (
        <div>
          <Button kind="small" isBusy={action.isRunning} onClick={() => action.run(list.loadMore)}>
            Load more organizations
          </Button>
        </div>
      )}
    </div>
  );
}
