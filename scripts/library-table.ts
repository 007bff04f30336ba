import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { listTechniqueIds, type LibraryEntry, loadLibrary } from '../src/detection/library/load-library.ts';

export const libraryPage = resolve(import.meta.dirname, '../docs/reference/library.md');

/** Returns the page that lists the shipped detections by log source, generated from `library/`. */
export function renderLibraryPage(): string {
  const entries = [...loadLibrary().values()];
  const bySource = Map.groupBy(entries, ({ logSource }) => `${logSource.product}: ${logSource.service}`);
  const sections = [...bySource]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([source, list]) => renderSection(source, list));
  return `# The detection library

Generated from the ${entries.length} files in [library](../../library) by \`npm run generate\`. [shipped-detections.md](../guide/shipped-detections.md) explains how to install, read and write them.

${sections.join('\n')}`;
}

function renderSection(source: string, entries: readonly LibraryEntry[]): string {
  const setups = [...new Set(entries.flatMap(({ logSource }) => logSource.setup ?? []))];
  const rows = entries.map((entry) => {
    const { id, folder, body, severity, datasets } = entry;
    const names = Object.keys(datasets).map((name) => `\`${name}\``);
    return `| [\`${id}\`](../../library/${folder}/${id}.yaml) | ${body.description ?? ''} | ${names.join(', ')} | ${body.detectionCategory} | ${severity} | ${listTechniqueIds(entry).join(', ')} |`;
  });
  return `## ${source}

${setups.map((text) => `${text}\n\n`).join('')}| detection | what it finds | datasets | category | severity | techniques |
|---|---|---|---|---|---|
${rows.join('\n')}
`;
}

if (import.meta.main) {
  await writeFile(libraryPage, renderLibraryPage());
  console.log('Wrote docs/reference/library.md.');
}
