import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { QueryWindow, SearchLimits, SearchResult, TimeBounds } from '../../siem/connector.ts';
import { checkDatasetName, type CatalogField, type FieldsByDataset } from '../../log-store/catalog/catalog.ts';
import { createFieldObserver, type ObservedField } from '../../log-store/catalog/field-observer.ts';
import { mergeCatalog } from '../../log-store/catalog/merge-catalog.ts';
import type { LogEngine } from '../../log-engine/process/engine.ts';
import { findEventId, parseEvent } from '../../log-ingest/events/parse-event.ts';
import { createSegmentWriter, segmentPath } from '../../log-store/files/segment-file.ts';
import type { SegmentStore } from '../../log-store/files/segment-store.ts';
import type { SegmentRow } from '../../log-store/segments.store.ts';
import { hideData } from './search-logs.ts';
import { inspectQuery, type InspectedQuery } from './inspect-query.ts';
import { createSearchPlan, runSearchPlan, type DatasetContents } from './search-plan.ts';
import { historyFilter, planScans, toSegmentFile, windowFilter } from './window-scans.ts';

export type FixtureEvent = Record<string, unknown>;

/** An event from elsewhere, with its ID and its time if they are known without reading it. */
export type ForeignEvent = { event: FixtureEvent; id?: string; timeMicros?: number };

/** Fixture events by dataset, which queries see as if the organization had sent nothing else. */
export type FixtureStore = {
  search: (query: string, window: QueryWindow, limits: SearchLimits, signal: AbortSignal) => Promise<SearchResult>;
  /** Runs a query over all events, whenever they happened. `bounds` are those that the query can read. */
  searchAll: (query: string, bounds: TimeBounds, limits: SearchLimits, signal: AbortSignal) => Promise<SearchResult>;
  /** Removes the store's files. */
  close: () => Promise<void>;
};

/** A fixture store needs no database. `organization` selects the engine and its folder, in which the files stay local. */
export type FixtureDeps = { engine: LogEngine; segmentStore: Pick<SegmentStore, 'folderOf'>; organization: string };

/**
 * `fields` are the fields of each dataset besides those of its events. `undatedMicros` is the time of events without one. `earlier` are the events
 * before the window, if all events are searched.
 */
type FixtureInput<Event = FixtureEvent> = {
  events: Record<string, readonly Event[]>;
  earlier?: Record<string, readonly Event[]>;
  fields: FieldsByDataset;
  undatedMicros: number;
};

type StoredFixture = { segments: SegmentRow[]; fields: FieldsByDataset; folder: string; timesMs: number[] };

/** Stores fixture events in temporary files until `close` is called. Throws an Error that identifies an event that cannot be parsed. */
export function openFixtureStore(
  deps: FixtureDeps,
  { events, ...rest }: Omit<FixtureInput, 'earlier'>,
): Promise<FixtureStore> {
  const lists = Object.entries(events).map(([dataset, list]) => [dataset, list.map((event) => ({ event }))] as const);
  return openForeignStore(deps, { events: Object.fromEntries(lists), ...rest });
}

/** Stores events from elsewhere in temporary files until `close` is called. Throws as `openFixtureStore` does. */
export async function openForeignStore(
  deps: FixtureDeps,
  { events, earlier, fields, undatedMicros }: FixtureInput<ForeignEvent>,
): Promise<FixtureStore> {
  const { organization } = deps;
  const stored: StoredFixture = {
    segments: [],
    fields: new Map(fields),
    folder: deps.segmentStore.folderOf(organization),
    timesMs: [],
  };
  const emptyWindowResults = new Map<string, Promise<SearchResult>>();
  const close = async (): Promise<void> => {
    for (const { path } of stored.segments) await unlink(join(stored.folder, path)).catch(() => undefined);
  };
  try {
    for (const [dataset, list] of Object.entries(events))
      await addDataset(stored, { dataset, events: list, undatedMicros });
    for (const [dataset, list] of Object.entries(earlier ?? {}))
      await addDataset(stored, { dataset, events: list, undatedMicros, isEarlier: true });
  } catch (error) {
    await close();
    throw error;
  }
  const search: FixtureStore['search'] = async (query, window, limits, signal) => {
    const began = performance.now();
    const inspected = await inspectQuery(deps, organization, query, signal);
    const plan = createSearchPlan(inspected, fixtureContents(stored, inspected, window), window);
    const run = (): Promise<SearchResult> => runSearchPlan(deps, organization, plan, { limits, signal, began });
    const hasEvents = stored.timesMs.some((ms) => ms >= window.from.getTime() && ms < window.to.getTime());
    const dependsOnTime =
      inspected.inspection.parameters.length > 0 || inspected.sources.some(({ history }) => history);
    if (hasEvents || dependsOnTime) return run();
    // Tests have many windows without events, and the query returns the same for all of them.
    const result = emptyWindowResults.get(query) ?? run();
    emptyWindowResults.set(query, result);
    return result;
  };
  const searchAll: FixtureStore['searchAll'] = async (query, bounds, limits, signal) => {
    const began = performance.now();
    const inspected = await inspectQuery(deps, organization, query, signal);
    const contents = hideData(inspected, fixtureContents(stored, inspected, undefined), limits.hidden);
    const plan = createSearchPlan(inspected, contents, { ...bounds, clock: 'event' });
    return runSearchPlan(deps, organization, plan, { limits, signal, began });
  };
  return { search, searchAll, close };
}

/** Without a window, the contents are all events. Those before the window are the history, if they are known. */
function fixtureContents(
  { segments, fields, folder }: StoredFixture,
  { sources, lookbackMs }: InspectedQuery,
  window: QueryWindow | undefined,
): DatasetContents {
  const scans = sources
    .filter(({ dataset }) => fields.has(dataset))
    .map(({ name, dataset, history }) => {
      const ofDataset = segments.filter((segment) => segment.dataset === dataset);
      const hasEarlier = ofDataset.some((segment) => segment.history);
      const datasetSegments = hasEarlier ? ofDataset.filter((segment) => segment.history === history) : ofDataset;
      const everything = [{ files: datasetSegments.map((segment) => toSegmentFile(segment, folder)) }];
      if (!window) return [name, everything] as const;
      const filter = history ? historyFilter(window, lookbackMs) : windowFilter(window);
      return [name, planScans(filter, datasetSegments, folder)] as const;
    });
  return {
    fields,
    scans: new Map(scans),
    segments: [],
    drift: new Map(),
    otherDatasets: [...fields.keys()],
    early: false,
  };
}

/** Returns the fields of datasets together with those that events add. */
export function addObservedFields(
  fields: FieldsByDataset,
  events: Record<string, readonly FixtureEvent[]>,
): FieldsByDataset {
  const merged: FieldsByDataset = new Map(fields);
  for (const [dataset, list] of Object.entries(events)) {
    const observer = createFieldObserver();
    for (const event of list) observer.observe(event);
    merged.set(dataset, addFields(merged.get(dataset) ?? [], observer.observed()));
  }
  return merged;
}

const addFields = (known: CatalogField[], observed: ObservedField[]): CatalogField[] =>
  mergeCatalog({ fields: known, stats: [] }, observed, { at: new Date(0), keepTypes: true }).fields;

type DatasetEvents = {
  dataset: string;
  events: readonly ForeignEvent[];
  undatedMicros: number;
  isEarlier?: boolean;
};

async function addDataset(
  stored: StoredFixture,
  { dataset, events, undatedMicros, isEarlier = false }: DatasetEvents,
): Promise<void> {
  checkDatasetName(dataset);
  const id = uuidv7();
  const path = segmentPath('.cases', id, 'text');
  const writer = createSegmentWriter(stored.folder, path, { isDurable: false });
  const observer = createFieldObserver();
  stored.segments.push({
    id,
    dataset,
    path,
    format: 'text',
    history: isEarlier,
    columns: 0,
    drift: null,
    sha256: null,
    ingestedFrom: new Date(0),
    rows: events.length,
    bytes: 0,
  });
  for (const [index, { event, id: ownId, timeMicros }] of events.entries()) {
    const parsed = parseEvent(Buffer.from(JSON.stringify(event)), undefined);
    if (typeof parsed === 'string') throw new Error(`Event ${index + 1} of ${dataset} is invalid: ${parsed}.`);
    observer.observe(parsed.value);
    const micros = timeMicros ?? parsed.timeMicros ?? undatedMicros;
    stored.timesMs.push(Math.floor(micros / 1000));
    await writer.add(ownId ?? findEventId(event) ?? `${dataset}:${index + 1}`, micros, parsed.text);
  }
  if (events.length > 0) await writer.finish();
  else stored.segments.pop();
  stored.fields.set(dataset, addFields(stored.fields.get(dataset) ?? [], observer.observed()));
}
