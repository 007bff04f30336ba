import { countOf, formatNumber } from '../lib/text.ts';

/** Texts of the enrichers in the settings, and of what they know of a value. */
export const texts = {
  description:
    'Services that are asked about public addresses, domains and hashes of cases and indicators. Databases of addresses on this machine need no entry here.',
  none: 'No enrichers yet. Until one is added, nothing is looked up elsewhere.',
  create: 'New enricher',
  edit: 'Edit',
  editTitle: (name: string) => `Edit ${name}`,
  kind: 'Kind',
  fields: {
    name: 'Name',
    perMinute: 'Look-ups per minute',
    perDay: 'Look-ups per day',
    cacheHours: 'Hours until an answer expires',
    costUsd: 'Cost of a look-up, USD',
  },
  kept: 'Leave empty to keep the stored one.',
  numbersHint: 'Leave empty for the default.',
  enabled: 'On',
  off: 'Off',
  failing: 'No answer',
  used: (count: number, max: number) => `${formatNumber(count)} of ${formatNumber(max)} look-ups today`,
  save: 'Save',
  saved: (name: string) => `Saved ${name}.`,
  removeTitle: (name: string) => `Remove “${name}”?`,
  removeBody: 'Its answers are deleted, except in hits that cite them.',
  removed: (name: string) => `Removed ${name}.`,
  notRemoved: 'The enricher was not removed.',
  known: 'Enrichment',
  asOf: 'As of',
  lookUp: (count: number) => `Enrich ${countOf(count, 'indicator')}`,
  unknown: 'No enricher knows any of these indicators.',
};
