import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { uuidv7 } from '../lib/ids.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { QueryWindow, SearchLimits, SearchResult } from '../siem/connector.ts';
import { newObserver } from './catalogue.ts';
import { checkDatasetName } from './dataset-name.ts';
import { eventId } from './event-id.ts';
import { eventTime } from './event-time.ts';
import { parseEvent } from './event.ts';
import { folderOf, type SearchDeps } from './log-deps.ts';
import { searchLogs, type GivenEvents } from './search.ts';
import { newSegment } from './segment-file.ts';

export type Given = Record<string, unknown>;

/** Events by dataset that a query can be asked of, as if the organization had sent nothing else. */
export type GivenStore = {
  search: (query: string, window: QueryWindow, limits: SearchLimits, signal: AbortSignal) => Promise<SearchResult>;
  /** Removes what was kept of them. */
  close: () => Promise<void>;
};

/** Keeps events in files of their own for as long as the answer is open. `undated` in microseconds: the time of an event that has none. Throws an Error that names one that cannot be read. */
export async function openGiven(
  deps: SearchDeps,
  orgId: OrgId,
  events: Record<string, readonly Given[]>,
  undated: number,
): Promise<GivenStore> {
  const folder = folderOf(deps.config.dataDir, orgId);
  const given: GivenEvents = { segments: [], fields: new Map() };
  const close = async (): Promise<void> => {
    for (const { path } of given.segments) await unlink(join(folder, path)).catch(() => undefined);
  };
  try {
    for (const [dataset, list] of Object.entries(events)) await addDataset(given, { dataset, list, folder, undated });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    search: (query, window, limits, signal) => searchLogs(deps, orgId, { query, window, limits, given }, signal),
    close,
  };
}

/** The time of an event in microseconds, as it would be read on arrival. */
export function givenTime(event: Given): number | undefined {
  return eventTime(event);
}

async function addDataset(
  given: GivenEvents,
  { dataset, list, folder, undated }: { dataset: string; list: readonly Given[]; folder: string; undated: number },
): Promise<void> {
  checkDatasetName(dataset);
  const id = uuidv7();
  const path = join('.cases', `${id}.tsv`);
  const writer = newSegment(folder, path);
  const observer = newObserver();
  given.segments.push({
    id,
    dataset,
    path,
    format: 'text',
    history: false,
    columns: 0,
    ingestedFrom: new Date(0),
    rows: list.length,
    bytes: 0,
  });
  for (const [n, event] of list.entries()) {
    const parsed = parseEvent(Buffer.from(JSON.stringify(event)), undefined);
    if (typeof parsed === 'string') throw new Error(`Event ${n + 1} of ${dataset}: ${parsed}.`);
    observer.observe(parsed.value);
    await writer.add(eventId(event) ?? `${dataset}:${n + 1}`, parsed.timeMicros ?? undated, parsed.text);
  }
  if (list.length > 0) await writer.finish();
  else given.segments.pop();
  given.fields.set(dataset, observer.seen());
}
