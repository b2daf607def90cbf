import { useEffect } from "preact/hooks";
import { useAction } from "./action.ts";
import { announcement } from "./announce.ts";
import { Button } from "./components/button.tsx";
import { PendingPage } from "./components/page.tsx";
import { Shell } from "./components/shell.tsx";
import { UpdateNotice } from "./components/update-notice.tsx";
import { findPage } from "./pages/routes.tsx";
import { SignInPage } from "./pages/sign-in.tsx";
import { currentUrl, pathOf } from "./router.ts";
import { readSession, sessionError, who } from "./session.ts";

export function App() {
  return (
    <>
      <Content />
      <UpdateNotice />
      <div role="status" aria-live="polite" class={announcement.value ? "toast" : ""}>
        {announcement.value}
      </div>
    </>
  );
}

function Content() {
  if (who.value === null) return <SignInPage />;
  if (who.value === undefined) return <StartPage />;
  const path = pathOf(currentUrl.value);
  const { credential } = who.value;
  // Another path or another session is another page, with a state of its own.
  return <Shell key={credential.id}>{findPage(path)}</Shell>;
}

/** Before it is known who is signed in. */
function StartPage() {
  const { isRunning, run } = useAction();
  const retry = () => run(readSession);
  useEffect(() => {
    addEventListener("online", retry);
    return () => removeEventListener("online", retry);
  }, []);
  return (
    <main class="stack">
      <PendingPage title="Longshore" error={sessionError.value} />
      {sessionError.value !== undefined && (
        <div>
          <Button isBusy={isRunning} onClick={retry}>
            Retry
          </Button>
        </div>
      )}
    </main>
  );
}
