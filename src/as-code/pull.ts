import { changesOf, hashOfFields, type FieldChange } from './fields.ts';
import { writeDetectionFile, type DetectionFile } from './file.ts';
import { fileNameFor, removeFile, writeLock, writeWhole, type Lock } from './folder.ts';
import type { Known } from './plan.ts';

export type Pulled = {
  written: string[];
  removed: string[];
  /** Changed on both sides: the file stays as it is. */
  kept: { file: string; changes: FieldChange[] }[];
};

/**
 * Brings a folder to what the service holds. A file keeps its name, its comments and, where it has one, its `.md`. What changed here alone
 * stays, what changed on both sides too, unless `force`. A file whose detection is gone goes if nobody changed it.
 */
export function pullInto(
  folder: string,
  given: { files: ReadonlyMap<string, DetectionFile>; lock: Lock; known: readonly Known[]; force: boolean },
): Pulled {
  const { files, known, force } = given;
  const lock: Lock = { ...given.lock };
  const pulled: Pulled = { written: [], removed: [], kept: [] };
  const taken = new Set([...files.keys(), ...Object.keys(lock)]);
  const fileById = new Map(Object.entries(lock).map(([file, { id }]) => [id, file]));
  for (const one of known.toReversed()) {
    const name = fileById.get(one.id) ?? twinOf(files, lock, one) ?? fileNameFor(String(one.fields['name']), taken);
    taken.add(name);
    pullOne(folder, { name, one, file: files.get(name), lock, force }, pulled);
  }
  dropGone(folder, { files, lock, known, force }, pulled);
  writeLock(folder, lock);
  return pulled;
}

/** A file that nothing belongs to yet and that says the same: it was made by hand, or its lock was lost. */
function twinOf(files: ReadonlyMap<string, DetectionFile>, lock: Lock, { fields }: Known): string | undefined {
  return [...files].find(
    ([name, file]) => lock[name] === undefined && hashOfFields(file.fields) === hashOfFields(fields),
  )?.[0];
}

type One = { name: string; one: Known; file: DetectionFile | undefined; lock: Lock; force: boolean };

function pullOne(folder: string, { name, one, file, lock, force }: One, pulled: Pulled): void {
  const entry = lock[name];
  const changes = file ? changesOf(file.fields, one.fields) : [];
  const service = hashOfFields(one.fields);
  if (file && changes.length > 0 && !force) {
    const isOurs = entry !== undefined && hashOfFields(file.fields) !== entry.file;
    const isTheirs = entry === undefined || service !== entry.service;
    if (!isTheirs) return;
    if (isOurs) {
      pulled.kept.push({ file: name, changes });
      return;
    }
  }
  if (!file || changes.length > 0) {
    const { text, prompt } = writeDetectionFile(one.fields, file);
    writeWhole(folder, name, text);
    if (prompt !== undefined && file?.promptFile !== undefined) writeWhole(folder, file.promptFile, prompt);
    pulled.written.push(name);
  }
  lock[name] = { id: one.id, file: service, service };
}

function dropGone(
  folder: string,
  {
    files,
    lock,
    known,
    force,
  }: { files: ReadonlyMap<string, DetectionFile>; lock: Lock; known: readonly Known[]; force: boolean },
  pulled: Pulled,
): void {
  const ids = new Set(known.map(({ id }) => id));
  for (const [name, entry] of Object.entries(lock)) {
    if (ids.has(entry.id)) continue;
    const file = files.get(name);
    if (file && hashOfFields(file.fields) !== entry.file && !force) {
      pulled.kept.push({ file: name, changes: [] });
      continue;
    }
    if (file) {
      removeFile(folder, file);
      pulled.removed.push(name);
    }
    delete lock[name];
  }
}
