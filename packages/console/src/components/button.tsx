import type { ComponentChildren } from "preact";

export type ButtonKind = "primary" | "danger" | "plain" | "small";

interface ButtonProps {
  children: ComponentChildren;
  onClick?: () => void;
  kind?: ButtonKind | undefined;
  type?: "button" | "submit";
  /** Stays focusable, so that the focus is not lost while it works. */
  isBusy?: boolean;
  label?: string | undefined;
}

export function Button({
  children,
  onClick,
  kind = "plain",
  type = "button",
  isBusy = false,
  label,
}: ButtonProps) {
  return (
    <button
      type={type}
      class={`button ${kind}`}
      aria-disabled={isBusy}
      aria-label={label}
      onClick={(event) => {
        if (isBusy) event.preventDefault();
        else onClick?.();
      }}
    >
      {children}
    </button>
  );
}

export function LinkButton({
  href,
  children,
  kind = "plain",
  label,
}: {
  href: string;
  children: ComponentChildren;
  kind?: ButtonKind | undefined;
  label?: string;
}) {
  return (
    <a class={`button ${kind}`} href={href} aria-label={label}>
      {children}
    </a>
  );
}
