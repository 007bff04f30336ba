import { inOrg, type Db } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { ForeignEvent } from '../../detection/log-query/search/fixture-store.ts';
import { sightingsDataset } from '../../detection/log-store/catalog/catalog.ts';
import { quoteLiteral } from '../../detection/log-engine/sql/sql-text.ts';
import { findSightings } from '../sightings/find-sightings.ts';
import { leaveOutHarmless } from '../sightings/save-sightings.ts';
import { createSightingComposer } from '../sightings/sighting-events.ts';
import { fieldsToSweep, type ItemTargets, type SweepTarget } from '../sightings/sweep-targets.ts';
import { columnSql, type LogDataset } from '../suggestions/log-kinds.ts';
import type { Attack } from './attack-events.ts';

/** The kinds of fields whose indicators are rehearsed. The name of a file says too little. */
export const indicatorKinds = ['address', 'domain', 'url', 'hash'] as const;
export type IndicatorKind = (typeof indicatorKinds)[number];

/** The most values of a kind that are rehearsed, those with the highest confidence. */
const valuesMax = 10;

const listTargets = ({ targets }: ItemTargets, kind: IndicatorKind): SweepTarget[] =>
  targets.filter((target) => target.kind === kind).slice(0, valuesMax);

/** Returns what the indicators of an item look like in logs, by their kind: each value in each field in which the sweep would find it. */
export function listIndicatorAttacks(item: ItemTargets): Map<string, Attack[]> {
  const toAttack = (kind: IndicatorKind, targets: SweepTarget[]): Attack => ({
    technique: kind,
    source: kind,
    eventsFor: (dataset) =>
      targets.flatMap(({ type, value: stated }) => {
        const value = type === 'cidr' ? stated.split('/')[0]! : stated;
        return listFields(dataset, kind).map((field) => {
          const column = columnSql(field);
          const like = kind === 'hash' ? `length(${column}) = ${value.length}` : `${column} <> ${quoteLiteral('')}`;
          return { set: [[field.split('.'), value]], offsetMs: 0, like };
        });
      }),
  });
  return new Map(
    indicatorKinds.flatMap((kind) => {
      const targets = listTargets(item, kind);
      return targets.length === 0 ? [] : [[kind, [toAttack(kind, targets)]]];
    }),
  );
}

const listFields = ({ name, columns }: LogDataset, kind: IndicatorKind): string[] =>
  (fieldsToSweep({ dataset: name, fields: columns })?.fields ?? []).flatMap((field) =>
    field.kind === kind ? field.name : [],
  );

/** Returns the events that the sightings in events with an item's indicators of a kind would be in the dataset of sightings. Stores nothing. */
export async function makeSightingEvents(
  db: Db,
  orgId: OrgId,
  item: ItemTargets,
  {
    kind,
    events,
    datasets,
    now,
  }: { kind: string; events: Record<string, ForeignEvent[]>; datasets: LogDataset[]; now: Date },
): Promise<ForeignEvent[]> {
  const sightings = datasets.flatMap((dataset) => {
    const swept = fieldsToSweep({ dataset: dataset.name, fields: dataset.columns });
    const rows = (events[dataset.name] ?? []).map(({ event, id }) => ({ _id: id, _event: event }));
    return swept && rows.length > 0 ? findSightings(rows, swept, item.targets) : [];
  });
  const standing = await inOrg(db, orgId, (tx) => leaveOutHarmless(tx, [{ ...item, sightings, now }]));
  const compose = createSightingComposer({ connectionId: orgId }, { ...item, now });
  return standing.flatMap((found) =>
    found.sightings.flatMap((sighting, n) => {
      const event = compose(sighting);
      const id = `rehearsal:${kind}:${sightingsDataset}:${n}`;
      return event ? [{ event, id, timeMicros: now.getTime() * 1000 }] : [];
    }),
  );
}
