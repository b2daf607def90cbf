import { NARROW_LAYOUT, PAGE_STYLE } from "../../../src/http/html-page.ts";

const REFERENCE_COLORS = `
:root {
  --get: #0b5cad; --post: #19703b; --put: #8a5200; --patch: #6b3fb3; --delete: #b3261e;
  --warn: #9a3d12; --key: #0b5c66; --string: #7a4a00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --get: #7db9ff; --post: #6fd196; --put: #e5b05c; --patch: #c4a6f7; --delete: #ff9188;
    --warn: #f0a480; --key: #7fd0d9; --string: #e0b878;
  }
}`;

const REFERENCE_TEXT = `
.method, .status, .endpoint {
  font-family: ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
.needs dd code { background: var(--raised); border-radius: .25rem; padding: .1em .3em; }
h3 a, .brand a { color: inherit; text-decoration: none; }
h3 a:hover { text-decoration: underline; }
summary { cursor: pointer; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 1rem; z-index: 2; background: var(--page); padding: .5rem 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; margin-bottom: 1rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem 1rem .5rem 0; font-weight: 400; }
tr { border-bottom: 1px solid var(--line); }
thead th { color: var(--soft); font-size: .8125rem; }
tbody tr:last-child { border: 0; }
th code { white-space: nowrap; }
td:first-child { font-variant-numeric: tabular-nums; color: var(--soft); }`;

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
.links { font-size: .875rem; }
.fields > div { border-top: 1px solid var(--line); padding: .75rem 0; }
h3 + .fields > div:first-child { border-top: 0; }
.fields dt code { font-weight: 600; color: var(--text); margin-right: .25rem; }
article > header h2 { font-size: 1.25rem; letter-spacing: -.01em; margin: 0; }
h2 a, .index h3 a { color: inherit; text-decoration: none; }
h2 a:hover, .index h3 a:hover { text-decoration: underline; }
.facts h3 { font-size: .9375rem; margin: 2rem 0 .25rem; }
h2 + p { margin: .5rem 0; }
h2 ~ .fields > div:first-child { border-top: 0; }
:target { scroll-margin-top: 1.5rem; }
tr:target, .fields > div:target { background: var(--accent-soft); }
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
.errors td { overflow-wrap: anywhere; }
figure { margin: 0 0 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--raised); overflow: hidden; }
figcaption { font-size: .75rem; font-weight: 600; color: var(--soft); padding: .5rem 1rem; border-bottom: 1px solid var(--line); }
figure { position: relative; }
.table { overflow-x: auto; }
.absent { font-size: .875rem; color: var(--soft); margin: 0 0 1rem; }
pre { margin: 0; padding: .875rem 1rem; overflow: auto; max-height: 32rem; font-size: .8125rem; line-height: 1.55; tab-size: 2; }
pre:focus-visible { outline-offset: -2px; }
pre code { font-size: inherit; overflow-wrap: normal; }
pre b { font-weight: 400; color: var(--key); }
pre i { font-style: normal; color: var(--string); }`;

/** Of what the script adds. */
const SCRIPTED = `
button, .search input, .try input, .try textarea, .try select { font: inherit; font-size: .875rem; color: var(--text); }
.copy {
  position: absolute; top: .25rem; right: .375rem; padding: .125rem .5rem; font-size: .75rem; cursor: pointer;
  color: var(--soft); background: var(--raised); border: 1px solid var(--line); border-radius: .25rem;
}
.copy:hover, .copy:focus-visible { color: var(--text); border-color: var(--soft); }
.tablist { display: flex; gap: .25rem; border-bottom: 1px solid var(--line); margin-bottom: .75rem; }
.tablist [role=tab] {
  padding: .375rem .75rem; cursor: pointer; background: none; color: var(--soft);
  border: 0; border-bottom: 2px solid transparent; margin-bottom: -1px;
}
.tablist [role=tab][aria-selected=true] { color: var(--text); font-weight: 600; border-color: var(--accent); }
.tablist [role=tab]:hover { color: var(--text); }
.search { position: relative; margin: 0 0 1rem; }
.search label { font-size: .8125rem; color: var(--soft); }
.search input, .try input, .try textarea, .try select {
  width: 100%; padding: .4375rem .625rem; background: var(--page); border: 1px solid var(--soft); border-radius: .375rem;
}
.search [role=listbox] {
  position: absolute; z-index: 3; left: 0; right: 0; max-height: 70vh; overflow-y: auto; margin: .25rem 0 0; padding: .25rem;
  background: var(--page); border: 1px solid var(--line); border-radius: .5rem; box-shadow: 0 8px 24px rgb(0 0 0 / .2);
}
.search [role=listbox]:empty { display: none; }
.search [role=option] { display: block; padding: .375rem .5rem; border-radius: .375rem; font-size: .8125rem; line-height: 1.35; cursor: pointer; }
.search [role=option] a { display: block; padding: 0; color: inherit; }
.search [role=option]:hover, .search [role=option][aria-selected=true] { background: var(--accent-soft); }
.search small { display: block; color: var(--soft); }
.search [role=option] small { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.search kbd { font: inherit; border: 1px solid var(--line); border-radius: .25rem; padding: 0 .375rem; }
.announcement { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.try { border: 1px solid var(--line); border-radius: .5rem; padding: .875rem 1rem; margin: 0 0 1rem; }
.try summary { font-size: .9375rem; font-weight: 600; width: fit-content; }
.try form { margin-top: .875rem; }
.try .warning { color: var(--warn); font-size: .875rem; margin: 0 0 .625rem; }
.try label { display: block; font-size: .8125rem; font-weight: 600; margin: 0 0 .625rem; }
.try label small { color: var(--soft); font-weight: 400; }
.try input, .try textarea { font-weight: 400; }
.try textarea { min-height: 9rem; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .8125rem; resize: vertical; }
.try button { padding: .4375rem 1rem; font-weight: 600; cursor: pointer; color: var(--page); background: var(--accent); border: 0; border-radius: .375rem; }
.try button:disabled { opacity: .6; cursor: default; }
.try output { display: block; margin-top: .75rem; font-size: .875rem; }
.try output small { display: block; color: var(--soft); overflow-wrap: anywhere; }
.try pre { background: var(--raised); border-radius: .375rem; margin-top: .5rem; }`;

const LAYOUT = `
main { padding: 3rem clamp(1.25rem, 3vw, 4rem) 3rem; max-width: 86rem; min-width: 0; }
main > section { padding-bottom: 3.5rem; }
main > section + section { border-top: 1px solid var(--line); padding-top: 3.5rem; }
main > h1 { margin-bottom: .75rem; }
.prose > *, .facts, section > p, main > p { max-width: 42rem; }
.prose > h3:not(:first-child), section > p + .prose { margin-top: 2rem; }
.prose > h2 + .fields { margin-bottom: 2rem; }
article { padding-top: 2.5rem; }
article + article { border-top: 1px solid var(--line); margin-top: 2.5rem; }
.facts, .samples { min-width: 0; }
article > header { margin-bottom: 1rem; }
.samples { margin-top: 1.5rem; }
.guide { padding-top: 0; max-width: 52rem; }
.guide h2 { font-size: 1.5rem; margin: 2.5rem 0 .75rem; }
.guide h3 { font-size: 1.125rem; margin: 2rem 0 .5rem; }
.guide h4 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
.guide h3 a, .guide h4 a { color: inherit; text-decoration: none; }
.guide p, .guide li { max-width: 44rem; }
.guide ul, .guide ol { margin: 0 0 1rem; padding-left: 1.25rem; list-style: disc; }
.guide ol { list-style: decimal; }
.guide li { margin: .25rem 0; }
.guide td code, .guide th code { white-space: normal; }
.index h3 { font-size: 1.0625rem; margin: 1.75rem 0 .375rem; }
.index li { padding: .25rem 0; }
.index li a { text-decoration: none; }
.index li a:hover span { text-decoration: underline; }
.index .method { display: inline-block; min-width: 3.5rem; }
.index li code { color: var(--soft); font-size: .75rem; }
.pages { display: flex; flex-wrap: wrap; gap: 1rem; justify-content: space-between; margin: 3.5rem 0 2rem; max-width: none; }
main > .pages { max-width: none; }
.pages a { text-decoration: none; border: 1px solid var(--line); border-radius: .5rem; padding: .625rem 1rem; }
.pages a:hover { border-color: var(--accent); }
.side details { display: none; }
.to-contents { display: none; }
.brand { font-weight: 700; font-size: 1.0625rem; letter-spacing: -.01em; margin: 0; }
.brand span { color: var(--soft); font-weight: 400; }
.side ul a { display: flex; gap: .5rem; align-items: baseline; color: var(--soft); padding: .25rem .5rem; border-radius: .375rem; }
.side a { text-decoration: none; }
.side nav { font-size: .875rem; line-height: 1.4; scroll-target-group: auto; }
.side nav p { margin: 1.25rem 0 .25rem; padding: 0 .5rem; font-weight: 600; }
.side nav a:hover { color: var(--text); }
.side ul a:hover { background: color-mix(in srgb, var(--soft) 12%, transparent); }
.side ul a[aria-current=page] { color: var(--text); font-weight: 600; }
.side ul ul { margin: 0 0 .5rem .5rem; border-left: 1px solid var(--line); padding-left: .25rem; }
.side .method { flex: 0 0 3rem; font-size: .625rem; }
@media (scripting: none) { .side ul a:target-current { background: var(--accent-soft); color: var(--text); } }
.side ul ul a[aria-current] { background: var(--accent-soft); color: var(--text); }
footer { border-top: 1px solid var(--line); padding-top: 1.5rem; color: var(--soft); font-size: .875rem; }
@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
  .side { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.75rem 1rem 2rem; background: var(--raised); border-right: 1px solid var(--line); overscroll-behavior: contain; }
  .brand { padding: 0 .5rem .75rem; }
  .search { position: sticky; z-index: 1; top: -1.75rem; background: var(--raised); padding: 0 .5rem .25rem; }
  /* No block overflows. A line that is wrapped is still one line when it is copied. */
  pre code { white-space: pre-wrap; overflow-wrap: anywhere; }
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
  .search { margin: .75rem 0 0; }
  .to-contents { display: block; position: fixed; right: 1rem; bottom: 1rem; background: var(--page); border: 1px solid var(--line); border-radius: 2rem; padding: .5rem 1rem; font-size: .875rem; text-decoration: none; box-shadow: 0 2px 8px rgb(0 0 0 / .15); }
}
@media (min-width: 80rem) {
  article:not(.prose, .guide), #errors, #introduction { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 30rem); column-gap: 3rem; }
  article > header { grid-column: 1 / -1; }
  .samples { margin-top: 0; }
  /* With all three languages, the samples are higher than the window. */
  .samples:has(.tablist) { position: sticky; top: 1.5rem; align-self: start; max-height: calc(100vh - 3rem); overflow-y: auto; }
  .samples:has(.tablist) pre { max-height: calc(50vh - 5rem); }
}`;

/** The content security policy allows this exact text, by its hash. */
export const STYLE = PAGE_STYLE + REFERENCE_COLORS + REFERENCE_TEXT + PARTS + SCRIPTED + LAYOUT;

export const HOME_STYLE = `${PAGE_STYLE}${NARROW_LAYOUT}
dl { margin: 0 0 1.5rem; border-top: 1px solid var(--line); }
dt { font-weight: 600; padding-top: .75rem; }
dd { color: var(--soft); border-bottom: 1px solid var(--line); padding-bottom: .75rem; }`;
