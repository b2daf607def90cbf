import { findTypedText, hasTypedText, isOutdated } from "../build.ts";
import { currentUrl } from "../router.ts";
import { Button } from "./button.tsx";

/** Offers the new build of the console. It never reloads by itself, and nothing that was typed is stored. */
export function UpdateNotice() {
  return (
    <div role="status" class={isOutdated.value ? "notice" : ""}>
      {isOutdated.value && <Offer />}
    </div>
  );
}

function Offer() {
  if (hasTypedText.value) {
    return (
      <>
        <span>A new version of the console is available. This tab keeps what you have typed.</span>
        <a class="button" href={currentUrl.value.href} target="_blank" rel="noopener">
          Open it in a new tab
        </a>
      </>
    );
  }
  return (
    <>
      <span>A new version of the console is available.</span>
      <Button onClick={reload}>Reload</Button>
    </>
  );
}

function reload(): void {
  findTypedText();
  if (!hasTypedText.value) location.reload();
}
