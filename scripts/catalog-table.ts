import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { sourceFormats } from '../src/feed/formats/registry.ts';
import { loadCatalog, type CatalogEntry } from '../src/feed/sources/catalog.ts';

export const catalogPage = resolve(import.meta.dirname, '../docs/reference/feed-catalog.md');

const cadences: Record<string, string> = {
  '5 * * * *': 'hourly',
  '20 */2 * * *': 'every 2 hours',
  '35 */6 * * *': 'every 6 hours',
  '50 5 * * *': 'daily',
};

/** Returns the page that lists the catalog of feed sources by kind. */
export function renderCatalogPage(): string {
  const entries = Object.entries(loadCatalog());
  const byKind = Map.groupBy(entries, ([, { kind }]) => kind);
  const sections = [...byKind].map(([kind, list]) => renderSection(`${sourceFormats[kind].label} (\`${kind}\`)`, list));
  return `# The catalog of feed sources

Generated from the ${entries.length} entries in [catalog.yaml](../../src/feed/sources/catalog.yaml) by \`npm run generate\`. [feed-sources.md](../guide/feed-sources.md) explains how to add one: \`{"catalogue": "cisa-kev"}\`, \`tocsin source add --catalogue cisa-kev\`, or **Add source** in the console.

Each entry has facts about a public source and none of its content. Check the terms of a source before you use it, above all commercially. Reliability is the confidence of what a source states without a confidence of its own, and can be changed. The last column says what the tests of this project parse: a public copy of the source (recorded), a document written in its structure (written), or nothing of this source (none), because no public copy shows its structure. These are RSS and Atom feeds, which the tests of the format cover.

${sections.join('\n')}`;
}

function renderSection(title: string, entries: [string, CatalogEntry][]): string {
  const rows = entries.map(
    ([name, { publisher, title: source, url, brings, schedule, reliability, license, sample }]) =>
      `| \`${name}\` | ${publisher}: [${source}](${url}) | ${brings} | ${cadences[schedule]} | ${reliability} | ${license} | ${sample} |`,
  );
  return `## ${title}

| name | source | what it brings | pulled | reliability | terms | sample |
|---|---|---|---|---|---|---|
${rows.join('\n')}
`;
}

if (import.meta.main) {
  await writeFile(catalogPage, renderCatalogPage());
  console.log('Wrote docs/reference/feed-catalog.md.');
}
