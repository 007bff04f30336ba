import { workerData } from 'node:worker_threads';
import { lowerThreadPriority, serveTasks } from '../../platform/lib/threads/thread-worker.ts';
import { readEntryText } from '../formats/rss/read-entry-text.ts';
import { useInstalledAttack } from '../reference-data/attack.ts';
import {
  readInstalledAttack,
  readInstalledWarningLists,
  readInstalledNames,
} from '../reference-data/read-installed.ts';
import { buildNameTable } from '../reference-data/name-table.ts';
import { extractItem, type ReferenceLists } from '../extraction/extract-item.ts';
import type { ExtractTask } from './extractor.ts';
import { parseNameTable } from '../extraction/names/name-dictionary.ts';

// The main process reports unreadable reference data once, when it starts (build-deps.ts).
const dataDir = String(workerData);
const attack = readInstalledAttack(dataDir);
const names = readInstalledNames(dataDir);
if (attack) useInstalledAttack(attack);
const knowledge: ReferenceLists = {
  benign: readInstalledWarningLists(dataDir),
  names: attack || names ? parseNameTable(buildNameTable(attack, names)) : undefined,
};

lowerThreadPriority();
serveTasks((task: ExtractTask) =>
  task.kind === 'report' ? extractItem(task.report, knowledge) : readEntryText(task.entry, knowledge),
);
