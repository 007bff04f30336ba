import { searchLogs, loadFields, type SearchLogsDeps } from '../../detection/log-query/search/search-logs.ts';
import type { ForeignEvent } from '../../detection/log-query/search/fixture-store.ts';
import { findEventTime } from '../../detection/log-ingest/events/event-time.ts';
import { listDatasets } from '../../detection/log-query/datasets/list-datasets.ts';
import { sightingsDataset, type FieldsByDataset } from '../../detection/log-store/catalog/catalog.ts';
import { quoteLiteral } from '../../detection/log-engine/sql/sql-text.ts';
import { inOrg } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { ItemTargets } from '../sightings/sweep-targets.ts';
import { makeSightingEvents } from './indicator-events.ts';
import { isObject, type Attack, type AttackEvent, type Json } from './attack-events.ts';

/** Synthetic events of a technique, or of a kind of indicators, by dataset. Without any, `sources` says which logs would show the technique. */
export type RehearsedTechnique = {
  technique: string;
  events: Record<string, ForeignEvent[]>;
  eventCount: number;
  sources: string[];
};

/** The attacks on an organization's logs. `background` are some of its own events, which are the past that queries compare with. */
export type PreparedAttacks = {
  techniques: RehearsedTechnique[];
  background: Record<string, ForeignEvent[]>;
  fields: FieldsByDataset;
};

const dayMs = 86_400_000;
/** A dataset without events for longer than this counts as having no data. */
const silentDaysMax = 30;
const sampleMax = 10;
const sampleTimeoutMs = 60_000;
/** How long before now an attack begins, and the background before it. */
export const attackAgeMs = 30 * 60_000;
const backgroundAgeMs = 90 * 60_000;

type AttackOnDataset = { technique: string; dataset: string; events: AttackEvent[] };

/** Attacks by technique, and those of the indicators of an item by their kind. */
export type AttackChoice = { attacks: ReadonlyMap<string, readonly Attack[]>; item?: ItemTargets };

/**
 * Makes the events of attacks from the organization's own newest events: each is one of them in which the fields that the attack sets are
 * changed. Leaves out events unlike any that the dataset had on its last day, because these logs would not show them. Reads logs and stores nothing.
 */
export async function prepareAttacks(
  deps: SearchLogsDeps,
  orgId: OrgId,
  { attacks: chosen, item, now }: AttackChoice & { now: Date },
  signal: AbortSignal,
): Promise<PreparedAttacks> {
  const { datasets } = await listDatasets(deps, orgId);
  const recent = datasets.filter(
    ({ lastEventAt }) => lastEventAt !== null && Date.parse(lastEventAt) >= now.getTime() - silentDaysMax * dayMs,
  );
  const attacks = [...chosen.values()].flat();
  const samples = new Map<string, ReadonlyMap<string, Json[]>>();
  const found: AttackOnDataset[] = [];
  for (const dataset of recent) {
    const own = attacks
      .map((attack) => ({ technique: attack.technique, dataset: dataset.name, events: attack.eventsFor(dataset) }))
      .filter(({ events }) => events.length > 0);
    const kinds = new Set(own.flatMap(({ events }) => events.map(({ like }) => like)));
    if (kinds.size === 0) continue;
    const last = new Date(dataset.lastEventAt!);
    samples.set(
      dataset.name,
      await sampleEvents(deps, orgId, { dataset: dataset.name, kinds: [...kinds], last }, signal),
    );
    found.push(...own);
  }
  const byTechnique = Map.groupBy(found, ({ technique }) => technique);
  const prepared: RehearsedTechnique[] = [];
  for (const [technique, own] of chosen) {
    const events: RehearsedTechnique['events'] = {};
    for (const { dataset, events: ofAttack } of byTechnique.get(technique) ?? []) {
      const known = events[dataset] ?? [];
      const mark = `rehearsal:${technique}:${dataset}:${known.length}`;
      const made = makeEvents(ofAttack, samples.get(dataset)!, { mark, now });
      if (made.length > 0) events[dataset] = [...known, ...made];
    }
    const eventCount = Object.values(events).reduce((sum, list) => sum + list.length, 0);
    if (item && eventCount > 0 && own.every(({ source }) => source === technique)) {
      const made = { kind: technique, events, datasets: recent, now: new Date(now.getTime() - attackAgeMs) };
      const sightings = await makeSightingEvents(deps.db, orgId, item, made);
      if (sightings.length > 0) events[sightingsDataset] = sightings;
    }
    prepared.push({ technique, events, eventCount, sources: listSources(own) });
  }
  return {
    techniques: prepared,
    background: Object.fromEntries(
      [...samples].map(([dataset, kinds]) => [dataset, toBackground(dataset, kinds, now)]),
    ),
    fields: await inOrg(deps.db, orgId, (tx) =>
      loadFields(
        tx,
        deps.logCatalogs,
        orgId,
        datasets.map(({ name }) => name),
      ),
    ),
  };
}

const listSources = (attacks: readonly Attack[]): string[] =>
  [...new Set(attacks.map(({ source }) => source))].toSorted();

/** Returns the newest events of each kind on the last day of a dataset, newest first. The events are read once for all kinds. */
async function sampleEvents(
  deps: SearchLogsDeps,
  orgId: OrgId,
  { dataset, kinds, last }: { dataset: string; kinds: readonly string[]; last: Date },
  signal: AbortSignal,
): Promise<Map<string, Json[]>> {
  // One call reads all fields of an event. Reading each with a call of its own parses the event as often, and needs as much more memory.
  const paths = new Map<string, number>();
  const readField = (_text: string, path: string): string => {
    if (!paths.has(path)) paths.set(path, paths.size + 1);
    return `fields[${paths.get(path)}]`;
  };
  const columns = kinds.map((like, n) => {
    const condition = like.replaceAll(/\(_event->>'(\$\.[^']*)'\)/g, readField);
    return `max_by(event, _time, ${sampleMax}) FILTER (WHERE ${condition}) AS k${n}`;
  });
  const fields = `json_extract_string(_event, [${[...paths.keys()].map(quoteLiteral).join(', ')}]) AS fields`;
  const query = `SELECT ${columns.join(', ')} FROM (SELECT CAST(_event AS VARCHAR) AS event, _time, ${fields} FROM "${dataset}")`;
  const window = { from: new Date(last.getTime() - dayMs), to: new Date(last.getTime() + 1), clock: 'event' as const };
  const limits = { rowsMax: 1, groupsMax: 1, timeoutMs: sampleTimeoutMs };
  const { rows } = await searchLogs(deps, orgId, { query, window, limits }, signal);
  return new Map(
    kinds.map((like, n) => [like, ((rows[0]?.[`k${n}`] ?? []) as string[]).map((text) => JSON.parse(text) as Json)]),
  );
}

function makeEvents(
  attack: readonly AttackEvent[],
  samples: ReadonlyMap<string, Json[]>,
  { mark, now }: { mark: string; now: Date },
): ForeignEvent[] {
  return attack.flatMap(({ set, offsetMs, like }, n) => {
    const alike = samples.get(like) ?? [];
    if (alike.length === 0) return [];
    const at = new Date(now.getTime() - attackAgeMs + Math.min(offsetMs, attackAgeMs - 1000));
    const event = moveTimes(keepCommonFields(alike), at);
    const own = moveTimes(Object.fromEntries(set.map(([path, value]) => [path.join('.'), value])), at);
    for (const [path] of set) setValue(event, path, own[path.join('.')]);
    return [{ event, id: `${mark}:${n}`, timeMicros: at.getTime() * 1000 }];
  });
}

/** Returns the technique of a synthetic event, or the kind of its indicator, from its ID. */
export const readTechnique = (id: string): string | undefined => /^rehearsal:(?!past:)([\w.]+):/.exec(id)?.[1];

/** Returns the newest event with only the fields that all of the events have, so that it carries nothing of a rare case such as an error. */
const keepCommonFields = (alike: readonly Json[]): Json =>
  Object.fromEntries(
    Object.entries(structuredClone(alike[0]!)).filter(([key]) => alike.every((event) => Object.hasOwn(event, key))),
  );

function setValue(event: Json, path: readonly string[], value: unknown): void {
  let parent = event;
  for (const key of path.slice(0, -1)) {
    if (!isObject(parent[key])) parent[key] = {};
    parent = parent[key] as Json;
  }
  parent[path.at(-1)!] = value;
}

/** Returns an event moved to another time: replaces every text that states its time. */
function moveTimes(event: Json, at: Date): Json {
  const micros = findEventTime(event);
  if (micros === undefined) return event;
  const ms = Math.floor(micros / 1000);
  return JSON.parse(JSON.stringify(event), (_key, value: unknown) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\d[T ]/.test(value) && Math.abs(toMs(value) - ms) < 1000
      ? at.toISOString()
      : value,
  ) as Json;
}

const toMs = (text: string): number => Date.parse(/[Zz]|[+-]\d\d:?\d\d$/.test(text) ? text : `${text}Z`);

const toBackground = (dataset: string, kinds: ReadonlyMap<string, Json[]>, now: Date): ForeignEvent[] => {
  const at = new Date(now.getTime() - backgroundAgeMs);
  const texts = new Set([...kinds.values()].flat().map((event) => JSON.stringify(moveTimes(event, at))));
  return [...texts].map((text, n) => ({
    event: JSON.parse(text) as Json,
    id: `rehearsal:past:${dataset}:${n}`,
    timeMicros: at.getTime() * 1000,
  }));
};
