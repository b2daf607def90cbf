import { RUN_CLI } from "../../../../src/lib/addresses.ts";
import { client } from "../api.ts";
import { LinkButton } from "../components/button.tsx";
import { Command } from "../components/copy.tsx";
import { Form, TextField } from "../components/form.tsx";
import { Page } from "../components/page.tsx";
import { useReadOnce } from "../query.ts";
import { currentUrl } from "../router.ts";
import { signIn } from "../session.ts";

/** Shown at every path without a session. The page of the path follows. */
export function SignInPage() {
  const { data: methods } = useReadOnce(() => client.get("/v1/sign-in-methods"));
  const provider = methods?.open_id_connect;
  const { pathname, search } = currentUrl.value;
  const returnTo = new URLSearchParams({ return_to: pathname + search });
  return (
    <main class="narrow">
      <Page title="Sign in to Longshore">
        {provider && (
          <>
            <p>
              <LinkButton kind="primary" href={`${provider.url}?${returnTo}`}>
                Sign in with {new URL(provider.issuer).host}
              </LinkButton>
            </p>
            <p class="soft">Or with an API key:</p>
          </>
        )}
        <Form verb="Sign in" done="Signed in." submit={(fields) => signIn(fields.text("api_key"))}>
          {(error) => (
            <TextField
              name="api_key"
              type="password"
              label="API key"
              required
              error={error}
              hint="The session has the key's permissions. The browser does not keep the key."
            />
          )}
        </Form>
        <p class="soft">Logged in with the command line? It opens this page, signed in:</p>
        <Command text={`${RUN_CLI} console`} />
        <p class="soft">No key yet? Ask an admin to invite you.</p>
      </Page>
    </main>
  );
}
