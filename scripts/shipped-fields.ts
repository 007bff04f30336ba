import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { loadLibrary } from '../src/detection/library/load-library.ts';
import { listWindowsPaths } from '../src/detection/log-engine/sql/windows-fields.ts';
import { loadMappings, type FieldNames } from '../src/detection/sigma/mappings/load-mappings.ts';
import { toNames } from '../src/detection/sigma/mappings/map-rule.ts';

export const shippedFieldsFile = resolve(import.meta.dirname, '../src/detection/log-ingest/events/shipped-fields.ts');

const namesPerLine = 10;

/** Returns the module that lists the fields that shipped content reads, generated from `library/` and `sigma/mappings/`. */
export function renderShippedFields(): string {
  const paths = [...listLibraryFields(), ...listMappedFields()];
  const names = [...new Set(paths.map((path) => path.split('.')[0]!.toLowerCase()))].filter((name) => name !== '*');
  const sorted = names.toSorted();
  const lines = Array.from({ length: Math.ceil(sorted.length / namesPerLine) }, (_, index) =>
    sorted.slice(index * namesPerLine, (index + 1) * namesPerLine).join(' '),
  );
  return `const names = \`
${lines.join('\n')}
\`;

/**
 * The fields that shipped detections need or that Sigma rules read in some form of logs: the first key of each path, in lower case. Generated
 * from \`library/\` and \`sigma/mappings/\` by \`npm run generate\`.
 */
export const shippedFields: ReadonlySet<string> = new Set(names.trim().split(/\\s/));
`;
}

const listLibraryFields = (): string[] =>
  [...loadLibrary().values()].flatMap(({ datasets }) =>
    Object.entries(datasets).flatMap(([name, fields]) =>
      name === 'windows' ? fields.flatMap((field) => listWindowsPaths(field)) : fields,
    ),
  );

const listMappedFields = (): string[] =>
  loadMappings().list.flatMap(({ sources, shapes }) => [
    ...listNames(sources),
    ...shapes.flatMap(({ sources: own, fields = {}, recognizedBy = [] }) => [
      ...recognizedBy,
      ...listNames([...own, { fields }]),
    ]),
  ]);

const listNames = (sources: readonly { fields: FieldNames }[]): string[] =>
  sources.flatMap(({ fields }) => Object.entries(fields).flatMap(([name, entry]) => [name, ...toNames(entry)]));

if (import.meta.main) {
  await writeFile(shippedFieldsFile, renderShippedFields());
  console.log('Wrote src/detection/log-ingest/events/shipped-fields.ts.');
}
