import { diffFields, hashFields, type FieldChange } from '../managed/file-fields.ts';
import { writeDetectionFile, type DetectionFile } from './detection-file.ts';
import { chooseFileName, removeFile, writeLock, writeFileAtomically, type Lock } from './folder.ts';
import { pairUnlockedFiles, type ServiceDetection } from './plan.ts';

export type FolderPullResult = {
  written: string[];
  removed: string[];
  /** Files that changed on both sides and were left as they are. */
  kept: { file: string; changes: FieldChange[] }[];
};

type FilesByName = ReadonlyMap<string, DetectionFile>;

export type PullInput = {
  files: FilesByName;
  lock: Lock;
  detections: readonly ServiceDetection[];
  force: boolean;
};

/**
 * Updates a folder to the detections of the service. A file keeps its name, its comments and its `.md` file, if it has one.
 * Without `force`, files that changed are left alone, whether or not the service changed too. The file of a deleted detection
 * is removed if it has not changed.
 */
export function pullDetections(
  folder: string,
  { files, lock: oldLock, detections, force }: PullInput,
): FolderPullResult {
  const lock: Lock = { ...oldLock };
  const result: FolderPullResult = { written: [], removed: [], kept: [] };
  const usedNames = new Set([...files.keys(), ...Object.keys(lock)]);
  const fileById = new Map(Object.entries(lock).map(([file, { id }]) => [id, file]));
  const fields = new Map([...files].map(([name, file]) => [name, file.fields]));
  for (const [name, { id }] of pairUnlockedFiles(fields, detections, lock)) fileById.set(id, name);
  for (const detection of detections.toReversed()) {
    const name = fileById.get(detection.id) ?? chooseFileName(String(detection.fields['name']), usedNames);
    usedNames.add(name);
    pullDetection(folder, { name, detection, files, lock, force }, result);
  }
  removeDeleted(folder, { files, lock, detections, force }, result);
  writeLock(folder, lock);
  return result;
}

type DetectionPull = { name: string; detection: ServiceDetection; files: FilesByName; lock: Lock; force: boolean };

function pullDetection(
  folder: string,
  { name, detection, files, lock, force }: DetectionPull,
  result: FolderPullResult,
): void {
  const file = files.get(name);
  const entry = lock[name];
  const changes = file ? diffFields(file.fields, detection.fields) : [];
  const serviceHash = hashFields(detection.fields);
  if (file && changes.length > 0 && !force) {
    if (entry && serviceHash === entry.service) return;
    if (!entry || hashFields(file.fields) !== entry.file) {
      result.kept.push({ file: name, changes });
      return;
    }
  }
  if (!file || changes.length > 0) {
    // A prompt file that several detections share must not change for all of them.
    const isDetached = file && isShared(files, file) && changes.some(({ field }) => field === 'systemPrompt');
    const { text, prompt } = writeDetectionFile(
      detection.fields,
      isDetached ? { text: file.text, promptFile: undefined } : file,
    );
    writeFileAtomically(folder, name, text);
    if (prompt !== undefined && file?.promptFile !== undefined) writeFileAtomically(folder, file.promptFile, prompt);
    result.written.push(name);
  }
  lock[name] = { id: detection.id, file: serviceHash, service: serviceHash };
}

const isShared = (files: FilesByName, { promptFile }: DetectionFile): boolean =>
  [...files.values()].filter((file) => file.promptFile === promptFile).length > 1;

/** Removes the files and lock entries of detections that no longer exist in the service. */
function removeDeleted(folder: string, { files, lock, detections, force }: PullInput, result: FolderPullResult): void {
  const ids = new Set(detections.map(({ id }) => id));
  for (const [name, entry] of Object.entries(lock)) {
    if (ids.has(entry.id)) continue;
    const file = files.get(name);
    if (file && hashFields(file.fields) !== entry.file && !force) {
      result.kept.push({ file: name, changes: [] });
      continue;
    }
    if (file) {
      removeFile(folder, isShared(files, file) ? { ...file, promptFile: undefined } : file);
      result.removed.push(name);
    }
    delete lock[name];
  }
}
