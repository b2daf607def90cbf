import { render } from "preact";
import { App } from "./app.tsx";
import { watchBuild } from "./build.ts";
import { prefetch } from "./query.ts";
import { currentUrl, pathOf, startRouter } from "./router.ts";
import { readSession } from "./session.ts";

const root = document.getElementById("app");
if (root) {
  startRouter();
  watchBuild();
  void readSession();
  if (pathOf(currentUrl.value) === "") prefetch("/v1/projects");
  render(<App />, root);
}
