import { isDeepStrictEqual } from 'node:util';
import { diffArrays } from 'diff';
import { showLine } from '../../platform/lib/text/show-text.ts';
import {
  describeUnresettable,
  diffFields,
  type FieldChange,
  type FileFields,
  hashFields,
} from '../managed/file-fields.ts';
import type { Lock } from './folder.ts';

/** A detection as the service has it. */
export type ServiceDetection = { id: string; fields: FileFields };

export type PlanStep =
  | { kind: 'create'; file: string; fields: FileFields }
  | { kind: 'update'; file: string; id: string; fields: FileFields; known: FileFields; changes: FieldChange[] }
  | { kind: 'same'; file: string; id: string; fields: FileFields; known: FileFields }
  | { kind: 'delete'; file: string; id: string; known: FileFields }
  | { kind: 'forget' | 'orphan'; file: string }
  | { kind: 'conflict'; file: string; reason: string; changes: FieldChange[] };

type PlanOptions = { prune: boolean; force: boolean };

/** Returns the lock with the current file names. A renamed file is recognized by its content or by the name of its detection. */
export function applyFileRenames(
  files: ReadonlyMap<string, FileFields>,
  detections: readonly ServiceDetection[],
  lock: Lock,
): Lock {
  const nameById = new Map(detections.map(({ id, fields }) => [id, fields['name']]));
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
 * Returns the steps that bring the service to the state of the folder. A detection that changed in the service since the last
 * pull or apply is a conflict unless `force` is set. A detection whose file was removed is deleted only with `prune`.
 * Detections that never had a file are left alone.
 */
export function createFolderPlan(
  files: ReadonlyMap<string, FileFields>,
  detections: readonly ServiceDetection[],
  lock: Lock,
  options: PlanOptions,
): PlanStep[] {
  const byId = new Map(detections.map((detection) => [detection.id, detection]));
  const locked = new Set(Object.values(lock).map(({ id }) => id));
  const twins = pairUnlockedFiles(files, detections, lock);
  const paired = new Set([...locked, ...[...twins.values()].map(({ id }) => id)]);
  const hasUnpairedName = (name: unknown): boolean =>
    detections.some(({ id, fields }) => !paired.has(id) && fields['name'] === name);
  const steps = [...files].map(([file, fields]): PlanStep => {
    const entry = lock[file];
    const detection = entry ? byId.get(entry.id) : undefined;
    if (entry && !detection) return options.force ? { kind: 'create', file, fields } : toConflict(file, deletedReason);
    if (entry && detection) {
      const isServiceChanged = hashFields(detection.fields) !== entry.service;
      const isFileChanged = hashFields(fields) !== entry.file;
      return planFile(file, fields, detection, { isServiceChanged, isFileChanged, force: options.force });
    }
    const twin = twins.get(file);
    if (!twin)
      return !options.force && hasUnpairedName(fields['name'])
        ? toConflict(file, ambiguousReason)
        : { kind: 'create', file, fields };
    return planFile(file, fields, twin, { isServiceChanged: true, isFileChanged: true, force: options.force });
  });
  const removed = Object.entries(lock).filter(([file]) => !files.has(file));
  return [...steps, ...removed.map(([file, entry]) => planRemovedFile(file, entry, byId.get(entry.id), options))];
}

function planFile(
  file: string,
  fields: FileFields,
  { id, fields: known }: ServiceDetection,
  { isServiceChanged, isFileChanged, force }: { isServiceChanged: boolean; isFileChanged: boolean; force: boolean },
): PlanStep {
  const changes = diffFields(known, fields);
  if (changes.length === 0 || (!isServiceChanged && !isFileChanged)) return { kind: 'same', file, id, fields, known };
  if (isServiceChanged && !force)
    return toConflict(file, 'changed in the service since the last pull or apply', changes);
  const problem = describeUnresettable(changes);
  if (problem !== undefined) return toConflict(file, problem, changes);
  return { kind: 'update', file, id, fields, known, changes };
}

const toConflict = (file: string, reason: string, changes: FieldChange[] = []): PlanStep => ({
  kind: 'conflict',
  file,
  reason,
  changes,
});

const deletedReason = 'deleted in the service. Remove the file, or use --force to create the detection again.';
const ambiguousReason =
  'several files or several detections in the service have this name. Pull first, or use --force to create the detection.';

function planRemovedFile(
  file: string,
  entry: { id: string; service: string },
  detection: ServiceDetection | undefined,
  { prune, force }: PlanOptions,
): PlanStep {
  if (!detection) return { kind: 'forget', file };
  if (!prune) return { kind: 'orphan', file };
  if (hashFields(detection.fields) !== entry.service && !force)
    return toConflict(file, 'its file was removed, but the detection changed in the service');
  return { kind: 'delete', file, id: entry.id, known: detection.fields };
}

/**
 * Pairs files with candidates one to one. A file is paired with the candidate of equal content. Otherwise it is paired by the
 * name of its detection, if exactly one unpaired file and one unpaired candidate have that name.
 */
function pairFiles<T>(
  files: readonly (readonly [string, FileFields])[],
  candidates: readonly T[],
  toKeys: (candidate: T) => { hash: string; name: unknown },
): Map<string, T> {
  const pairs = new Map<string, T>();
  const unpaired = new Map(candidates.map((candidate) => [candidate, toKeys(candidate)]));
  for (const [file, fields] of files) {
    const hash = hashFields(fields);
    const sameContent = [...unpaired].find(([, keys]) => keys.hash === hash);
    if (sameContent) pair(file, sameContent[0]);
  }
  const unpairedFiles = files.filter(([file]) => !pairs.has(file));
  for (const [file, { name }] of unpairedFiles) {
    const sameName = [...unpaired].filter(([, keys]) => keys.name === name);
    const isOnlyFile = unpairedFiles.filter(([, fields]) => fields['name'] === name).length === 1;
    if (isOnlyFile && sameName.length === 1) pair(file, sameName[0]![0]);
  }
  return pairs;

  function pair(file: string, candidate: T): void {
    pairs.set(file, candidate);
    unpaired.delete(candidate);
  }
}

/** Pairs files that the lock does not contain with detections. Such files were written by hand, or their lock was lost. */
export function pairUnlockedFiles<T extends { id: string; fields: FileFields }>(
  files: ReadonlyMap<string, FileFields>,
  detections: readonly T[],
  lock: Lock,
): Map<string, T> {
  const locked = new Set(Object.values(lock).map(({ id }) => id));
  return pairFiles(
    [...files].filter(([file]) => lock[file] === undefined),
    detections.filter(({ id }) => !locked.has(id)),
    ({ fields }) => ({ hash: hashFields(fields), name: fields['name'] }),
  );
}

const signs = { create: '+', update: '~', delete: '-', orphan: '?', forget: ' ', same: ' ', conflict: '!' } as const;
const linesMax = 2000;

/** Renders a plan as text: a line for each detection that differs, followed by its changed fields. */
export function renderPlan(steps: readonly PlanStep[]): string {
  const shown = steps.filter(({ kind }) => kind !== 'same' && kind !== 'forget');
  const count = (kind: PlanStep['kind']): number => steps.filter((step) => step.kind === kind).length;
  const conflicts = count('conflict') > 0 ? `, ${count('conflict')} in conflict` : '';
  const summary = `${count('create')} to create, ${count('update')} to change, ${count('delete')} to delete, ${count('same')} unchanged${conflicts}`;
  return [...shown.flatMap(renderStep), summary].map(showLine).join('\n');
}

function renderStep(step: PlanStep): string[] {
  const head = `${signs[step.kind]} ${step.file}`;
  if (step.kind === 'conflict') return [`${head}: ${step.reason}`, ...step.changes.flatMap(renderChange)];
  if (step.kind === 'orphan')
    return [`${head}: its file was removed; use --prune to delete the detection, or pull to restore the file`];
  if (step.kind === 'update') return [head, ...step.changes.flatMap(renderChange)];
  return [`${head}${step.kind === 'create' ? `: ${JSON.stringify(step.fields['name'])}` : ''}`];
}

/** Renders a changed field: on one line, or as a line diff. */
export function renderChange({ field, before, after }: FieldChange): string[] {
  if (field === 'tests') return [`    ${field}:`, ...renderTests(before as NamedTests, after as NamedTests)];
  const isText = [before, after].some((value) => typeof value === 'string' && value.includes('\n'));
  if (!isText) return [`    ${field}: ${renderValue(before)} → ${renderValue(after)}`];
  const lines = diffLines(splitLines(before), splitLines(after));
  return [`    ${field}:`, ...lines.map((line) => `      ${line}`)];
}

type NamedTests = readonly { name: string }[] | undefined;

/** Renders test cases that were added, removed or changed, by name. */
function renderTests(before: NamedTests = [], after: NamedTests = []): string[] {
  const line = (sign: string, name: string): string => `      ${sign} ${JSON.stringify(name)}`;
  const byName = (list: NamedTests = []) => new Map(list.map((test) => [test.name, test]));
  const [oldTests, newTests] = [byName(before), byName(after)];
  const addedOrChanged = after.flatMap((test) => {
    const oldTest = oldTests.get(test.name);
    if (!oldTest) return [line('+', test.name)];
    return isDeepStrictEqual(oldTest, test) ? [] : [line('~', test.name)];
  });
  const removed = before.filter(({ name }) => !newTests.has(name)).map(({ name }) => line('-', name));
  const lines = [...removed, ...addedOrChanged];
  return lines.length > 0 ? lines : ['      in a different order'];
}

const renderValue = (value: unknown): string => (value === undefined ? '(default)' : JSON.stringify(value));
const splitLines = (value: unknown): string[] => (typeof value === 'string' ? value.split('\n') : []);

/** Returns removed (`- `) and added (`+ `) lines. Texts of more than 2000 lines are shown as replaced. */
export function diffLines(before: string[], after: string[]): string[] {
  if (before.length > linesMax || after.length > linesMax)
    return [`- ${before.length} lines`, `+ ${after.length} lines`];
  return diffArrays(before, after).flatMap(({ value, added, removed }) =>
    added || removed ? value.map((line) => `${removed ? '-' : '+'} ${line}`) : [],
  );
}
