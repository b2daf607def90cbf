import { render } from "preact";
import { App } from "./app.tsx";
import { startRouter } from "./router.ts";
import { readSession } from "./session.ts";

const root = document.getElementById("app");
if (root) {
  startRouter();
  void readSession();
  render(<App />, root);
}
