import type { AnalysisDefinition } from './analysis-definition.ts';
import type { Sensitivity } from './tuning.schema.ts';

type Description = { label: string; hint: string; options?: Record<string, string> };

/**
 * The fields of the tuning that a category can use, as the console shows them. `Tuning` has their limits. Every category has the value lists and
 * the working hours besides.
 */
export const tuningFields = {
  sensitivity: {
    label: 'Sensitivity',
    hint: 'How unusual a candidate must be.',
    options: { low: 'Low: fewer candidates', medium: 'Medium', high: 'High: more candidates' } satisfies Record<
      Sensitivity,
      string
    >,
  },
  minimumCount: { label: 'Minimum count', hint: 'The smallest number that is a candidate.' },
  minimumIncrease: { label: 'Minimum increase', hint: 'Smallest difference from the median.' },
  historyDays: { label: 'Days of history', hint: 'How far back to compare.' },
  sequenceHours: { label: 'Longest sequence, hours', hint: 'From the first step to the last.' },
  minimumSpeedKmh: { label: 'Minimum speed, km/h', hint: 'Only moves between places that are at least as fast.' },
  'peers.minimum': { label: 'Peers that excuse it', hint: 'So many others with the same make it low.' },
  'peers.by': { label: 'Column of the peer group', hint: 'Such as department. Empty: all entities.' },
} as const satisfies Record<string, Description>;
export type TuningField = keyof typeof tuningFields;

/** The fields that a category uses, with the value that applies while a field is not set. Null: none does. */
export type TuningDefaults = Partial<Record<TuningField, number | string | null>>;

type Tuned = Pick<AnalysisDefinition, 'tuning'>;
export const sensitivityOf = ({ tuning }: Tuned): Sensitivity => tuning?.sensitivity ?? 'medium';

const defaultPeersMin = 3;
/** The defaults of categories that compare entities with others. */
export const peerDefaults = { sensitivity: 'medium', 'peers.minimum': defaultPeersMin } satisfies TuningDefaults;

/** Returns the number of other entities that must have shown a value before it counts as known. 0: other entities are ignored. */
export const peersMin = ({ tuning }: Tuned): number => tuning?.peers?.minimum ?? defaultPeersMin;

/** Returns the smallest number of rows that is a candidate. */
export const rowsMin = ({ tuning }: Tuned): number => tuning?.minimumCount ?? 1;
