import { changesOf, hashOfFields, type FieldChange } from './detection-fields-file.ts';
import { writeDetectionFile, type DetectionFile } from './detection-file.ts';
import { fileNameFor, removeFile, writeLock, writeWhole, type Lock } from './folder.ts';
import { pairFiles } from './pair-files.ts';
import type { Known } from './plan.ts';

export type Pulled = {
  written: string[];
  removed: string[];
  /** Changed on both sides: the file stays as it is. */
  kept: { file: string; changes: FieldChange[] }[];
};

type Files = ReadonlyMap<string, DetectionFile>;

/**
 * Brings a folder to what the service holds. A file keeps its name, its comments and, where it has one, its `.md`. What changed here alone
 * stays, what changed on both sides too, unless `force`. A file whose detection is gone goes if nobody changed it.
 */
export function pullInto(
  folder: string,
  given: { files: Files; lock: Lock; known: readonly Known[]; force: boolean },
): Pulled {
  const { files, known, force } = given;
  const lock: Lock = { ...given.lock };
  const pulled: Pulled = { written: [], removed: [], kept: [] };
  const taken = new Set([...files.keys(), ...Object.keys(lock)]);
  const fileById = new Map(Object.entries(lock).map(([file, { id }]) => [id, file]));
  for (const [name, { id }] of twinsOf(files, lock, known)) fileById.set(id, name);
  for (const one of known.toReversed()) {
    const name = fileById.get(one.id) ?? fileNameFor(String(one.fields['name']), taken);
    taken.add(name);
    pullOne(folder, { name, one, files, lock, force }, pulled);
  }
  dropGone(folder, { files, lock, known, force }, pulled);
  writeLock(folder, lock);
  return pulled;
}

/** The detections of files that are in no lock: they were made by hand, or their lock was lost. */
function twinsOf(files: Files, lock: Lock, known: readonly Known[]): Map<string, Known> {
  const locked = new Set(Object.values(lock).map(({ id }) => id));
  return pairFiles(
    [...files].flatMap(([name, { fields }]) => (lock[name] === undefined ? [[name, fields] as const] : [])),
    known.filter(({ id }) => !locked.has(id)),
    ({ fields }) => ({ hash: hashOfFields(fields), name: fields['name'] }),
  );
}

type One = { name: string; one: Known; files: Files; lock: Lock; force: boolean };

function pullOne(folder: string, { name, one, files, lock, force }: One, pulled: Pulled): void {
  const file = files.get(name);
  const entry = lock[name];
  const changes = file ? changesOf(file.fields, one.fields) : [];
  const service = hashOfFields(one.fields);
  if (file && changes.length > 0 && !force) {
    if (entry && service === entry.service) return;
    if (!entry || hashOfFields(file.fields) !== entry.file) {
      pulled.kept.push({ file: name, changes });
      return;
    }
  }
  if (!file || changes.length > 0) {
    // A prompt that other detections have too stays theirs.
    const leavesPrompt = file && isShared(files, file) && changes.some(({ field }) => field === 'systemPrompt');
    const { text, prompt } = writeDetectionFile(
      one.fields,
      leavesPrompt ? { text: file.text, promptFile: undefined } : file,
    );
    writeWhole(folder, name, text);
    if (prompt !== undefined && file?.promptFile !== undefined) writeWhole(folder, file.promptFile, prompt);
    pulled.written.push(name);
  }
  lock[name] = { id: one.id, file: service, service };
}

const isShared = (files: Files, { promptFile }: DetectionFile): boolean =>
  [...files.values()].filter((file) => file.promptFile === promptFile).length > 1;

function dropGone(
  folder: string,
  { files, lock, known, force }: { files: Files; lock: Lock; known: readonly Known[]; force: boolean },
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
      removeFile(folder, isShared(files, file) ? { ...file, promptFile: undefined } : file);
      pulled.removed.push(name);
    }
    delete lock[name];
  }
}
