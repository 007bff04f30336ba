import { countOf, formatNumber } from '../lib/text.ts';
import { texts as common } from './common.ts';

export const texts = {
  title: common.pages.indicators,
  paste: 'Paste addresses, networks, domains, URLs or hashes. Defanged ones are fine.',
  lookUp: 'Look up',
  limited: (max: number, all: number) => `The first ${max} of ${all} values are looked up.`,
  empty: 'Look up indicators',
  emptyBody:
    'Paste one value or many, for example from a ticket or a log, to see what the feed, your logs and your hits know of them.',
  value: 'Value',
  type: 'Type',
  status: 'Status',
  items: 'Items',
  confidence: 'Confidence',
  passage: 'Passage',
  filter: 'Filter indicators',
  noneFound: 'No indicator matches these filters.',
  copy: 'Copy',
  copyAll: (count: number) => `Copy ${countOf(count, 'value')}`,
  copied: (count: number) => `Copied ${countOf(count, 'value')}.`,
  notCopied: 'The browser does not permit copying here. Download the values instead.',
  download: 'Download CSV',
  downloadAll: (count: number) => `Download CSV of ${countOf(count, 'indicator')}`,
  more: (count: number, all: number) => `Show ${formatNumber(count)} more of ${formatNumber(all)}`,
  statuses: {
    active: 'Active',
    expired: 'Expired',
    revoked: 'Revoked',
    false_positive: 'False positive',
    unknown: 'Unknown',
  },
  notAnIndicator: 'Not an indicator',
  noItems: 'No item of the feed contains this value.',
  allItems: (count: number) => `All ${count.toLocaleString('en')} items`,
  covering: 'Indicators that cover it',
  matches: {
    exact: 'the value itself',
    network: 'network of the address',
    parent_domain: 'domain above the host',
    url_host: 'host of the URL',
    mail_host: 'host of the mail address',
  },
  parts: 'Parts of this value',
  inside: 'Inside this network',
  insideNote: ({ total, hasMore }: { total: number; hasMore: boolean }) =>
    hasMore
      ? `There are more than ${total.toLocaleString('en')}.`
      : total === 0
        ? 'No feed item contains an address or network inside it.'
        : undefined,
  corrected: (correction: string) => `Read with ${correction}.`,
  urls: 'URLs of this host',
  sightings: 'Sightings in your logs',
  allSightings: (count: number) => `Show all ${count} rows`,
  noSightings: 'No row of your logs had this value when an item with it was added or changed.',
  sightingsNote:
    'Searched in the 30 days before an item with the value was added or changed. Later events are not compared with it.',
  hits: 'Hits',
  noHits: 'No hit has this value as its entity or in its rows.',
};
