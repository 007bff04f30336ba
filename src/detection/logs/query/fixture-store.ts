import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { QueryWindow, SearchLimits, SearchResult } from '../../siem/connector.ts';
import { mergeFields, createFieldObserver, type CatalogField } from '../catalog/catalog.ts';
import { checkDatasetName } from '../catalog/dataset-name.ts';
import { findEventId } from '../ingestion/event-id.ts';
import { findEventTime } from '../ingestion/event-time.ts';
import { parseEvent } from '../ingestion/parse-event.ts';
import { logFolderPath, type SearchDeps } from '../log-folder.ts';
import {
  inspectQuery,
  createSearchPlan,
  runSearchPlan,
  type DatasetContents,
  type QuerySource,
} from './inspect-query.ts';
import { createSegmentWriter } from '../ingestion/segment-file.ts';
import type { SegmentRow } from '../storage/segments.store.ts';
import { historyFilter, planScans, windowFilter } from './window-scans.ts';

export type FixtureEvent = Record<string, unknown>;

/** Events by dataset that a query can be asked of, as if the organization had sent nothing else. */
export type FixtureStore = {
  search: (query: string, window: QueryWindow, limits: SearchLimits, signal: AbortSignal) => Promise<SearchResult>;
  /** Removes what was kept of them. */
  close: () => Promise<void>;
};

/** What a query over given events needs: no database. `organization` names the engine and its folder. */
export type FixtureDeps = Pick<SearchDeps, 'engine' | 'config'> & { organization: string };

/** `columns` that a dataset has beside those of its events. `undated` in microseconds: the time of an event that has none. */
type GivenInput = {
  events: Record<string, readonly FixtureEvent[]>;
  columns: ReadonlyMap<string, CatalogField[]>;
  undated: number;
};

/** The columns of events, by dataset. */
export type FieldsByDataset = Map<string, CatalogField[]>;

type Kept = { segments: SegmentRow[]; fields: FieldsByDataset; folder: string; timesMs: number[] };

/** Keeps events in files of their own for as long as the answer is open. Throws an Error that names one that cannot be read. */
export async function openFixtureStore(
  deps: FixtureDeps,
  { events, columns, undated }: GivenInput,
): Promise<FixtureStore> {
  const { organization } = deps;
  const kept: Kept = {
    segments: [],
    fields: new Map(columns),
    folder: logFolderPath(deps.config.dataDir, organization),
    timesMs: [],
  };
  const ofNothing = new Map<string, Promise<SearchResult>>();
  const close = async (): Promise<void> => {
    for (const { path } of kept.segments) await unlink(join(kept.folder, path)).catch(() => undefined);
  };
  try {
    for (const [dataset, list] of Object.entries(events)) await addDataset(kept, { dataset, list, undated });
  } catch (error) {
    await close();
    throw error;
  }
  const search: FixtureStore['search'] = async (query, window, limits, signal) => {
    const began = performance.now();
    const inspected = await inspectQuery(deps, organization, query, signal);
    const plan = createSearchPlan(inspected, holdGiven(kept, inspected.sources, window), window);
    const run = (): Promise<SearchResult> => runSearchPlan(deps, organization, plan, { limits, signal, began });
    const isQuiet = !kept.timesMs.some((at) => at >= window.from.getTime() && at < window.to.getTime());
    const seesTime = inspected.inspection.parameters.length > 0 || inspected.sources.some(({ history }) => history);
    if (!isQuiet || seesTime) return run();
    // Windows without events answer alike, and tests have many of them.
    const answer = ofNothing.get(query) ?? run();
    ofNothing.set(query, answer);
    return answer;
  };
  return { search, close };
}

function holdGiven({ segments, fields, folder }: Kept, sources: QuerySource[], window: QueryWindow): DatasetContents {
  const parts = sources
    .filter(({ dataset }) => fields.has(dataset))
    .map(({ name, dataset, history }) => {
      const own = segments.filter((segment) => segment.dataset === dataset);
      return [name, planScans(history ? historyFilter(window) : windowFilter(window), own, folder)] as const;
    });
  return { fields, parts: new Map(parts), others: [...fields.keys()], early: false };
}

/** The columns that events would give their datasets, beside those there are. */
export function addObservedFields(
  columns: ReadonlyMap<string, CatalogField[]>,
  events: Record<string, readonly FixtureEvent[]>,
): FieldsByDataset {
  const seen: FieldsByDataset = new Map(columns);
  for (const [dataset, list] of Object.entries(events)) {
    const observer = createFieldObserver();
    for (const event of list) observer.observe(event);
    seen.set(dataset, mergeFields(seen.get(dataset) ?? [], observer.seen()).fields);
  }
  return seen;
}

/** The time of an event in microseconds, as it would be read on arrival. */
export function givenTime(event: FixtureEvent): number | undefined {
  return findEventTime(event);
}

async function addDataset(
  kept: Kept,
  { dataset, list, undated }: { dataset: string; list: readonly FixtureEvent[]; undated: number },
): Promise<void> {
  checkDatasetName(dataset);
  const id = uuidv7();
  const path = join('.cases', `${id}.tsv`);
  const writer = createSegmentWriter(kept.folder, path, { fleeting: true });
  const observer = createFieldObserver();
  kept.segments.push({
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
    const at = parsed.timeMicros ?? undated;
    kept.timesMs.push(Math.floor(at / 1000));
    await writer.add(findEventId(event) ?? `${dataset}:${n + 1}`, at, parsed.text);
  }
  if (list.length > 0) await writer.finish();
  else kept.segments.pop();
  kept.fields.set(dataset, mergeFields(kept.fields.get(dataset) ?? [], observer.seen()).fields);
}
