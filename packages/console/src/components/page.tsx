import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { showHidden } from "../format.ts";
import { currentUrl } from "../router.ts";
import { Pending } from "./list.tsx";

interface PageProps {
  title: string;
  /** How much there is to do: before the title of the document. */
  count?: number;
  /** The pages above this one. */
  crumbs?: readonly (readonly [label: string, href: string])[];
  /** Before the title. */
  icon?: ComponentChildren;
  /** What belongs to the title, such as a status. */
  beside?: ComponentChildren;
  actions?: ComponentChildren;
  /** Between the title and the tabs. */
  lead?: ComponentChildren;
  tabs?: readonly (readonly [label: string, href: string])[];
  children: ComponentChildren;
}

/** The frame of every page: sets the document's title, and moves the focus to the heading. */
export function Page({
  title,
  count = 0,
  crumbs = [],
  icon,
  beside,
  actions,
  lead,
  tabs,
  children,
}: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ""}${showHidden(title)} · Longshore`;
  }, [title, count]);
  useEffect(() => {
    if (!document.querySelector("dialog[open]") && location.hash === "") heading.current?.focus();
  }, []);
  return (
    <div class="stack">
      {crumbs.length > 0 && (
        <nav class="crumbs" aria-label="Path">
          <ol>
            {crumbs.map(([label, href], at) => (
              // A name that arrives later keeps its place.
              <li key={at}>
                <a href={href}>{showHidden(label)}</a>
              </li>
            ))}
          </ol>
        </nav>
      )}
      <div class="heading">
        <div class="row">
          {icon}
          <h1 ref={heading} tabIndex={-1}>
            {showHidden(title)}
          </h1>
          {beside}
        </div>
        {actions && <div class="row">{actions}</div>}
      </div>
      {lead}
      {tabs && <Tabs tabs={tabs} />}
      {children}
    </div>
  );
}

function Tabs({ tabs }: { tabs: NonNullable<PageProps["tabs"]> }) {
  const { pathname } = currentUrl.value;
  return (
    <nav class="tabs" aria-label="Sections">
      <ul>
        {tabs.map(([label, href]) => (
          <li key={href}>
            <a href={href} aria-current={pathname === href ? "page" : undefined}>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** A page whose resource is being read, or cannot be read. */
export function PendingPage({ title, error }: { title: string; error: unknown }) {
  return (
    <Page title={title}>
      <Pending error={error} lines={6} />
    </Page>
  );
}

export function Section({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="stack" aria-label={title}>
      <div class="heading">
        <h2>{title}</h2>
        {actions && <div class="row">{actions}</div>}
      </div>
      {children}
    </section>
  );
}

type Fact = readonly [term: string, value: ComponentChildren];

interface FactsProps {
  facts: readonly (Fact | undefined | false | "")[];
  /** Each has a line of its own. */
  areSentences?: boolean;
}

/** Terms with their values. Undefined, false and empty: there is no value. */
export function Facts({ facts, areSentences = false }: FactsProps) {
  return (
    <dl class={areSentences ? "facts sentences" : "facts"}>
      {facts.map(
        (fact) =>
          fact && (
            <div key={fact[0]}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
