import { Page } from "../components/page.tsx";
import { ROOT } from "../router.ts";

export function NotFoundPage() {
  return (
    <Page title="There is no such page">
      <p>
        The address is wrong, or the page is gone. <a href={ROOT}>Go to the projects.</a>
      </p>
    </Page>
  );
}
