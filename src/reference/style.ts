import { NARROW_LAYOUT, PAGE_STYLE } from "../http/html-page.ts";

const PARTS = `
.method { --of: var(--get); color: var(--of); font-size: .6875rem; font-weight: 700; letter-spacing: .02em; }
.method.post { --of: var(--post); } .method.put { --of: var(--put); }
.method.patch { --of: var(--patch); } .method.delete { --of: var(--delete); }
.endpoint { font-size: .9375rem; margin: .5rem 0 0; }
.endpoint code { background: none; padding: 0; overflow-wrap: break-word; }
.endpoint .method {
  background: color-mix(in srgb, var(--of) 9%, transparent);
  border-radius: .25rem; padding: .2rem .4rem; font-size: .75rem; margin-right: .25rem;
}
.endpoint var { font-style: normal; color: var(--accent); }
.status { color: var(--post); font-size: .875rem; }
.needs { display: flex; flex-wrap: wrap; gap: .25rem 2rem; font-size: .875rem; }
.needs div { display: flex; gap: .5rem; }
.needs dt, .type { color: var(--soft); }
.type { font-size: .8125rem; }
.required, .optional { margin-left: .25rem; color: var(--warn); font-size: .75rem; font-weight: 600; }
.optional { color: var(--soft); font-weight: 400; font-style: italic; }
.fields > div { border-top: 1px solid var(--line); padding: .75rem 0; }
h4 + .fields > div:first-child { border-top: 0; }
.fields dt code { font-weight: 600; color: var(--text); margin-right: .25rem; }
h3 + p { margin: .5rem 0; }
h3 ~ .fields > div:first-child { border-top: 0; }
.fields dd { font-size: .9375rem; }
.fields dd > :first-child { margin-top: .25rem; }
.fields p { margin: 0; }
.fields .fields, .variants > li {
  border-left: 2px solid var(--line); padding-left: 1rem; margin-top: .5rem;
}
.fields .fields > div:first-child, .variants .fields > div:first-child { border-top: 0; }
.variants .fields { border: 0; padding: 0; margin: 0; }
.limits { display: flex; flex-wrap: wrap; gap: .125rem 1rem; color: var(--soft); font-size: .8125rem; }
.limits code { color: var(--text); }
.limits summary { width: fit-content; }
.errors { margin-top: 2rem; }
.errors summary { font-size: .9375rem; font-weight: 600; width: fit-content; }
.errors table { margin-top: .5rem; }
figure { margin: 0 0 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--raised); overflow: hidden; }
figcaption { font-size: .75rem; font-weight: 600; color: var(--soft); padding: .5rem 1rem; border-bottom: 1px solid var(--line); }
pre { margin: 0; padding: .875rem 1rem; overflow: auto; max-height: 32rem; font-size: .8125rem; line-height: 1.55; tab-size: 2; }
pre:focus-visible { outline-offset: -2px; }
pre code { font-size: inherit; overflow-wrap: normal; }
pre b { font-weight: 400; color: var(--key); }
pre i { font-style: normal; color: var(--string); }`;

const LAYOUT = `
main { padding: 3rem clamp(1.25rem, 4vw, 4rem) 6rem; max-width: 86rem; min-width: 0; }
main > section { padding-bottom: 3.5rem; }
main > section + section { border-top: 1px solid var(--line); padding-top: 3.5rem; }
.prose > *, .facts, section > p { max-width: 42rem; }
.prose > h3:not(:first-child), section > p + .prose { margin-top: 2rem; }
article { padding-top: 2.5rem; }
article + article { border-top: 1px solid var(--line); margin-top: 2.5rem; }
.facts, .samples { min-width: 0; }
article > header { margin-bottom: 1rem; }
.samples { margin-top: 1.5rem; }
.side details { display: none; }
.to-contents { display: none; }
.brand { font-weight: 700; font-size: 1.0625rem; letter-spacing: -.01em; margin: 0; }
.brand span { color: var(--soft); font-weight: 400; }
.side ul a { display: flex; gap: .5rem; align-items: baseline; color: var(--soft); padding: .25rem .5rem; border-radius: .375rem; }
.side a { text-decoration: none; }
.side nav { font-size: .875rem; line-height: 1.4; }
.side nav p { margin: 1.25rem 0 .25rem; padding: 0 .5rem; font-weight: 600; }
.side nav p a { color: var(--text); }
.side nav a:hover { color: var(--text); }
.side ul a:hover { background: color-mix(in srgb, var(--soft) 12%, transparent); }
.side .method { flex: 0 0 3.25rem; font-size: .625rem; }
.side nav { scroll-target-group: auto; }
.side ul a:target-current { background: var(--accent-soft); color: var(--text); }
footer { border-top: 1px solid var(--line); padding-top: 1.5rem; color: var(--soft); font-size: .875rem; }
@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 19rem minmax(0, 1fr); }
  .side { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.75rem 1rem 2rem; background: var(--raised); border-right: 1px solid var(--line); overscroll-behavior: contain; }
  .brand { padding: 0 .5rem 1.25rem; }
}
@media (max-width: 59.999rem) {
  .side { padding: 1rem 1.25rem 0; }
  .side > nav { display: none; }
  .side details { display: block; margin-top: .75rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--raised); }
  .side summary { padding: .625rem 1rem; font-weight: 600; font-size: .9375rem; }
  .side details nav { padding: 0 .5rem 1rem; }
  .side ul a { padding: .4375rem .5rem; }
  main { padding-top: 2rem; }
  h1 { font-size: 1.875rem; }
  .to-contents { display: block; position: fixed; right: 1rem; bottom: 1rem; background: var(--page); border: 1px solid var(--line); border-radius: 2rem; padding: .5rem 1rem; font-size: .875rem; text-decoration: none; box-shadow: 0 2px 8px rgb(0 0 0 / .15); }
}
@media (min-width: 80rem) {
  article:not(.prose), #errors, #introduction { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 30rem); column-gap: 3rem; }
  article > header { grid-column: 1 / -1; }
  .samples { position: sticky; top: 1.5rem; align-self: start; margin-top: 0; }
  article .samples pre { max-height: calc(50vh - 5rem); }
}`;

/** The content security policy allows this exact text, by its hash. */
export const STYLE = PAGE_STYLE + PARTS + LAYOUT;

export const HOME_STYLE = `${PAGE_STYLE}${NARROW_LAYOUT}
dl { margin: 0 0 1.5rem; border-top: 1px solid var(--line); }
dt { font-weight: 600; padding-top: .75rem; }
dd { color: var(--soft); border-bottom: 1px solid var(--line); padding-bottom: .75rem; }`;
