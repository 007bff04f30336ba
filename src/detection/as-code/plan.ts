import { changesOf, hashOfFields, stuckFields, type FieldChange, type Fields } from './detection-fields-file.ts';
import type { Lock } from './folder.ts';
import { pairFiles } from './pair-files.ts';

/** A detection of the service: its id and its fields. */
export type Known = { id: string; fields: Fields };

export type Step =
  | { kind: 'create'; file: string; fields: Fields }
  | { kind: 'update'; file: string; id: string; fields: Fields; known: Fields; changes: FieldChange[] }
  | { kind: 'same'; file: string; id: string; fields: Fields; known: Fields }
  | { kind: 'delete'; file: string; id: string; known: Fields }
  | { kind: 'forget' | 'orphan'; file: string }
  | { kind: 'conflict'; file: string; reason: string; changes: FieldChange[] };

export type Options = { prune: boolean; force: boolean };

/** The lock under the names that files have now: one that got another name is known by what it says, or by the detection's name. */
export function followRenames(files: ReadonlyMap<string, Fields>, known: readonly Known[], lock: Lock): Lock {
  const nameById = new Map(known.map(({ id, fields }) => [id, fields['name']]));
  const renamed = pairFiles(
    [...files].filter(([file]) => lock[file] === undefined),
    Object.entries(lock).filter(([file]) => !files.has(file)),
    ([, entry]) => ({ hash: entry.file, name: nameById.get(entry.id) }),
  );
  const next = { ...lock };
  for (const [file, [old, entry]] of renamed) {
    delete next[old];
    next[file] = entry;
  }
  return next;
}

/**
 * What would bring the service to what the folder says. Without `force` nothing is overwritten that changed there since the last pull or
 * apply: that is a conflict. What the folder lost is deleted only with `prune`; what it never had is left alone.
 */
export function planOf(
  files: ReadonlyMap<string, Fields>,
  known: readonly Known[],
  lock: Lock,
  options: Options,
): Step[] {
  const byId = new Map(known.map((one) => [one.id, one]));
  const locked = new Set(Object.values(lock).map(({ id }) => id));
  const twins = pairFiles(
    [...files].filter(([file]) => lock[file] === undefined),
    known.filter(({ id }) => !locked.has(id)),
    ({ fields }) => ({ hash: hashOfFields(fields), name: fields['name'] }),
  );
  const paired = new Set([...locked, ...[...twins.values()].map(({ id }) => id)]);
  const isNamed = (name: unknown): boolean =>
    known.some(({ id, fields }) => !paired.has(id) && fields['name'] === name);
  const steps = [...files].map(([file, fields]): Step => {
    const entry = lock[file];
    const there = entry ? byId.get(entry.id) : undefined;
    if (entry && !there) return options.force ? { kind: 'create', file, fields } : gone(file);
    if (entry && there) {
      const isTouched = hashOfFields(there.fields) !== entry.service;
      const isChanged = hashOfFields(fields) !== entry.file;
      return stepFor(file, fields, there, { isTouched, isChanged, force: options.force });
    }
    const twin = twins.get(file);
    if (!twin) return !options.force && isNamed(fields['name']) ? unclear(file) : { kind: 'create', file, fields };
    return stepFor(file, fields, twin, { isTouched: true, isChanged: true, force: options.force });
  });
  const lost = Object.entries(lock).filter(([file]) => !files.has(file));
  return [...steps, ...lost.map(([file, entry]) => lostStep(file, entry, byId.get(entry.id), options))];
}

function stepFor(
  file: string,
  fields: Fields,
  { id, fields: known }: Known,
  { isTouched, isChanged, force }: { isTouched: boolean; isChanged: boolean; force: boolean },
): Step {
  const changes = changesOf(known, fields);
  if (changes.length === 0 || (!isTouched && !isChanged)) return { kind: 'same', file, id, fields, known };
  if (isTouched && !force)
    return { kind: 'conflict', file, changes, reason: 'changed in the service since the last pull or apply' };
  const stuck = stuckFields(changes);
  if (stuck.length > 0)
    return {
      kind: 'conflict',
      file,
      changes,
      reason: `${stuck.join(', ')} cannot be taken away once set; give a value`,
    };
  return { kind: 'update', file, id, fields, known, changes };
}

const gone = (file: string): Step => ({
  kind: 'conflict',
  file,
  changes: [],
  reason: 'deleted in the service; remove the file, or create it anew with --force',
});

const unclear = (file: string): Step => ({
  kind: 'conflict',
  file,
  changes: [],
  reason: 'several files or several detections of the service have its name; pull first, or create it with --force',
});

function lostStep(
  file: string,
  entry: { id: string; service: string },
  there: Known | undefined,
  { prune, force }: Options,
): Step {
  if (!there) return { kind: 'forget', file };
  if (!prune) return { kind: 'orphan', file };
  if (hashOfFields(there.fields) !== entry.service && !force)
    return { kind: 'conflict', file, changes: [], reason: 'its file is gone, but it changed in the service meanwhile' };
  return { kind: 'delete', file, id: entry.id, known: there.fields };
}
