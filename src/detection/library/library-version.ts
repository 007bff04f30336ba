import { hashFields, parseFields, type FileFields } from '../as-code/file-fields.ts';
import { toPortableQuery } from '../siem/query-text.ts';
import type { LibraryEntry } from './load-library.ts';

/** An organization's names of the library's datasets. */
export type DatasetNames = Record<string, string>;

/** Returns the version of a shipped detection: a hash of its fields and tests, so that every change has a new version. */
export const versionOf = (entry: LibraryEntry): string =>
  hashFields(toShippedFields(entry, { datasets: {} })).slice(0, 12);

/** The choices of an organization for a shipped detection. With a connection, its query is portable and runs in that SIEM. */
export type InstallChoice = { datasets: DatasetNames; connectionId?: string | undefined };

/** Returns the fields of a detection as installed. */
export function toShippedFields(entry: LibraryEntry, { datasets, connectionId }: InstallChoice): FileFields {
  const fields = renameFields(entry, datasets);
  if (connectionId === undefined) return fields;
  return { ...fields, connectionId, detectionQuery: toPortableQuery(fields['detectionQuery'] as string) };
}

function renameFields({ body, tests, datasets }: LibraryEntry, names: DatasetNames): FileFields {
  const renamed = Object.keys(datasets).filter((name) => Object.hasOwn(names, name) && names[name] !== name);
  const fields = parseFields({ ...body, ...tests });
  if (renamed.length === 0) return fields;
  const query = renameDatasets(body.detectionQuery, renamed, names);
  return { ...fields, detectionQuery: query, tests: renameInTests(tests.tests, renamed, names) };
}

/** Replaces datasets in a query. The names of a library's query stand after FROM and JOIN only, which a test of the library checks. */
function renameDatasets(query: string, renamed: readonly string[], names: DatasetNames): string {
  const sources = new RegExp(String.raw`\b((?:from|join)\s+)(${renamed.join('|')})(?=(?:_history)?\b)`, 'gi');
  return query.replaceAll(sources, (_all, before: string, name: string) => `${before}${names[name.toLowerCase()]}`);
}

type TestCases = LibraryEntry['tests']['tests'];

function renameInTests(tests: TestCases, renamed: readonly string[], names: DatasetNames): TestCases {
  const rename = (events: TestCases[number]['events']): TestCases[number]['events'] =>
    Array.isArray(events)
      ? events
      : Object.fromEntries(
          Object.entries(events).map(([name, list]) => [renamed.includes(name) ? names[name]! : name, list]),
        );
  return tests.map(({ events, history, ...test }) => ({
    ...test,
    events: rename(events),
    ...(history === undefined ? {} : { history: rename(history) }),
  }));
}
