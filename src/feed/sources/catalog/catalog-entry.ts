import type { SourceKind } from '../../formats/registry.ts';
import type { Tlp } from '../../model/vocabulary.ts';

/** A test parses a public copy of the source, a document written in its structure, or none. */
export const sampleKinds = ['recorded', 'written', 'none'] as const;

export type CatalogEntry = {
  kind: SourceKind;
  title: string;
  publisher: string;
  url: string;
  /** The content that users get from the source. */
  brings: string;
  reliability: number;
  /** Cron expression in UTC, as often as the source changes. */
  schedule: string;
  /** The license or a note about the terms. */
  license: string;
  tlp: Tlp;
  sample: (typeof sampleKinds)[number];
};

type EntryDefaults = Pick<CatalogEntry, 'kind' | 'reliability' | 'schedule'> & Partial<Pick<CatalogEntry, 'sample'>>;
type EntryFields = Pick<CatalogEntry, 'title' | 'publisher' | 'url' | 'brings'> & Partial<CatalogEntry>;

/** Schedules of sources. The minutes differ, so that an installation does not pull everything at the full hour. */
export const schedules = {
  hourly: '5 * * * *',
  twoHourly: '20 */2 * * *',
  sixHourly: '35 */6 * * *',
  daily: '50 5 * * *',
} as const;

/** The terms of a source whose publisher states none in one place. */
const unstatedTerms = 'None stated: copyright of the publisher';

/** Completes the entries of a group with what they have in common. */
export const defineGroup = (
  defaults: EntryDefaults,
  entries: Record<string, EntryFields>,
): Record<string, CatalogEntry> =>
  Object.fromEntries(
    Object.entries(entries).map(([name, fields]) => [
      name,
      { tlp: 'CLEAR' as const, sample: 'none' as const, license: unstatedTerms, ...defaults, ...fields },
    ]),
  );
