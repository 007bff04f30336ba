import type { QuotaName } from '../api/usage.ts';
import { countOf, formatNumber } from '../lib/text.ts';
import { formatQuota, quotaLabels } from './usage.ts';

const hours = (count: number): string =>
  count < 48 ? countOf(Math.ceil(count), 'hour') : countOf(Math.round(count / 24), 'day');

/** Texts of the overview. */
export const texts = {
  title: 'Overview',
  attention: {
    title: 'Needs attention',
    none: 'Nothing else needs attention.',
    more: (count: number) => `${formatNumber(count)} more`,
    stopped: 'Stopped by the service',
    failing: 'Its latest run failed',
    paused: 'Its connection or model is paused',
    gap: 'Time was not examined',
    undecided: (count: number) => `${countOf(count, 'open hit')} that the data did not decide`,
    gaps: (count: number, detections: number) => `${countOf(count, 'gap')} in ${countOf(detections, 'detection')}`,
    gapHours: (count: number) => `${hours(count)} not examined`,
    lateMatching: 'Matching lags behind the events that arrive',
    lateMatchingDetail: 'Their slots examine the events anyway. Start more workers with the role match.',
    connection: (name: string) => `Connection ${name} is paused`,
    model: (alias: string) => `Model ${alias} is paused`,
    destinations: (count: number) => `${countOf(count, 'destination')} not receiving events`,
    budget: (alias: string, share: number) => `Model ${alias} has used ${Math.floor(share * 100)} % of its budget`,
    budgetDetail: (tokens: number, costUsd: number | null) =>
      `${formatNumber(tokens)} tokens${costUsd === null ? '' : `, $${costUsd.toFixed(2)}`} this month`,
    quota: (name: QuotaName, share: number) =>
      share >= 1
        ? `Limit reached: ${quotaLabels[name]}`
        : `${Math.floor(share * 100)} % of a limit used: ${quotaLabels[name]}`,
    quotaDetail: ({
      quota,
      used,
      limit,
      resetsAt,
    }: {
      quota: QuotaName;
      used: number;
      limit: number;
      resetsAt: string | null;
    }) =>
      `${formatQuota(quota, used)} of ${formatQuota(quota, limit)}${resetsAt === null ? '' : ', free again at 00:00 UTC'}. The operator of the service sets it`,
    failingSource: (name: string) => `Source ${name} fails`,
    failures: (count: number) => countOf(count, 'failed pull'),
    silentSource: (name: string) => `Source ${name} is silent`,
    silentDetail: 'Its pulls work, but nothing new has come for unusually long',
    silentDataset: (name: string) => `Dataset ${name} is silent`,
    reducedDataset: (name: string) => `Dataset ${name} receives less than usual`,
    shortfall: ({ hours, events, expected }: { hours: number; events: number; expected: number }) =>
      `${countOf(events, 'event')} in ${countOf(hours, 'hour')}; on earlier days at least ${formatNumber(expected)}`,
    endingException: (detection: string) => `An exception of ${detection} ends`,
    endsAt: ({ owner, at, matches }: { owner: string | null; at: string; matches: number }) =>
      `${at}, ${owner === null ? 'no owner' : `owner ${owner}`}, hid ${countOf(matches, 'finding')}`,
    suggestions: (count: number) => `${countOf(count, 'suggested detection')} to decide`,
  },
  hits: {
    title: 'Open hits',
    columns: {
      severity: 'Severity',
      open: 'Open',
      today: 'Last 24 h',
      week: '1 to 7 days',
      older: 'Older',
      oldest: 'Oldest',
    },
    none: 'No open hits.',
    all: 'All open',
  },
  detections: { title: 'Detections', none: 'No detections yet.', queued: 'Runs waiting', running: 'Runs in progress' },
  month: {
    title: 'Last 30 days',
    runs: 'Runs',
    hits: 'Hits',
    precision: 'Precision',
    noPrecision: 'No hit is judged yet. Mark hits as true or false positive to see which share is real.',
    percent: (share: number) => `${Math.round(share * 100)} %`,
    reviewed: (share: number, count: number) => `${Math.round(share * 100)} % of ${formatNumber(count)} judged`,
  },
  feed: {
    title: 'Feed',
    newToday: 'New in 24 hours',
    exposed: 'Seen in your logs, 7 days',
    sources: 'Own sources',
  },
  activity: {
    title: 'Live activity',
    none: 'Nothing yet. Runs, hits and feed items appear here as they happen.',
    runs: (count: number) => (count === 1 ? 'Run completed' : `${formatNumber(count)} runs completed`),
    runDetail: (rows: number, hits: number) => `${countOf(rows, 'row')}, ${countOf(hits, 'hit')}`,
  },
  start: {
    title: 'Getting started',
    intro: 'Three steps until detections watch your logs.',
    done: 'Done',
    logs: {
      title: 'Connect your logs',
      body: 'Send events to the built-in store, or add the SIEM that has them.',
      action: 'Connect logs',
    },
    detections: {
      title: 'Import detections',
      body: 'Thousands of public Sigma rules, of which those are imported that your logs support. Or write your own.',
      action: 'Choose rules',
    },
    feed: {
      title: 'Add a feed source',
      body: 'Reports and indicators that are compared with your logs.',
      action: 'Add source',
    },
  },
};
