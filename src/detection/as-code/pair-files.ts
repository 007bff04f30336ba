import { hashFields, type FileFields } from './file-fields.ts';
import type { Lock } from './folder.ts';

/**
 * Pairs files with candidates one to one. A file is paired with the candidate of equal content. Otherwise it is paired by the
 * name of its detection, if exactly one unpaired file and one unpaired candidate have that name.
 */
export function pairFiles<T>(
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
