import { showHidden } from "../format.ts";

/** The project's emoji, or else its initial: pages load no image from elsewhere. */
export function ProjectIcon({ icon, name }: { icon?: string | undefined; name: string }) {
  const emoji = icon?.startsWith("emoji:") ? icon.slice("emoji:".length) : undefined;
  return (
    <span class="project-icon" aria-hidden="true">
      {showHidden(emoji ?? ([...name][0] ?? "").toUpperCase())}
    </span>
  );
}
