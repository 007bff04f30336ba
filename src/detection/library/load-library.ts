import { readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { CreateDetection } from '../detections/record/detection-input.schema.ts';
import { readDetectionFile, type DetectionFile } from '../as-code/detection-file.ts';
import { toTestSet, withoutTests } from '../as-code/file-fields.ts';
import { LibraryBlock } from './library.schema.ts';
import type { TestSet } from '../detections/test-cases.schema.ts';

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
