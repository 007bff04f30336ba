import { readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { CreateDetection } from '../detections/record/detection-input.schema.ts';
import { readDetectionFile, type DetectionFile } from '../as-code/detection-file.ts';
import { toTestSet, withoutTests, hashFields, parseFields, type FileFields } from '../managed/file-fields.ts';
import { LibraryBlock } from './library.schema.ts';
import type { TestSet } from '../detections/test-cases.schema.ts';
import { toPortableQuery } from '../siem/query-text.ts';

/** A detection that ships with the project. `id` is the name of its file, `folder` the folder of the file in `library/`. */
export type LibraryEntry = LibraryBlock & { id: string; folder: string; body: CreateDetection; tests: TestSet };

/** The folder of the shipped detections. Each is one detection file in a sub-folder. */
export const libraryDir = resolve(import.meta.dirname, '../../../library');

let library: ReadonlyMap<string, LibraryEntry> | undefined;

/** Returns every shipped detection by id, ordered by folder and id. The files are read once. */
export function loadLibrary(): ReadonlyMap<string, LibraryEntry> {
  library ??= new Map(
    listLibraryFiles()
      .map((file) => toEntry(file))
      .map((entry) => [entry.id, entry]),
  );
  return library;
}

/** Returns a shipped detection. Throws an Error for an unknown id. */
export function getLibraryEntry(id: string): LibraryEntry {
  const entry = loadLibrary().get(id);
  if (!entry) throw new Error(`The library has no detection ${id}.`);
  return entry;
}

/** A file of the library with its folder's name. */
type LibraryFile = { folder: string; file: DetectionFile };

/** Reads the files of the library, ordered by folder and name. */
export function listLibraryFiles(): LibraryFile[] {
  return readdirSync(libraryDir)
    .toSorted()
    .flatMap((folder) =>
      readdirSync(join(libraryDir, folder))
        .filter((name) => name.endsWith('.yaml'))
        .toSorted()
        .map((name) => ({ folder, file: readDetectionFile(join(libraryDir, folder), name) })),
    );
}

function toEntry({ folder, file }: LibraryFile): LibraryEntry {
  const block = LibraryBlock.safeParse(file.library);
  if (!block.success)
    throw file.toError(block.error.issues.map(({ path, message }) => ({ path: ['library', ...path], message })));
  return {
    id: basename(file.name, '.yaml'),
    folder,
    ...block.data,
    body: withoutTests(file.fields) as CreateDetection,
    tests: toTestSet(file.fields),
  };
}

/** Returns the ATT&CK techniques in a detection's tags. */
export const listTechniqueIds = ({ body }: Pick<LibraryEntry, 'body'>): string[] =>
  (body.tags ?? []).filter((tag) => /^attack\.t\d/.test(tag)).map((tag) => tag.slice('attack.'.length).toUpperCase());

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
