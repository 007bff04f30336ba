import type { QuotaName } from '../api/usage.ts';
import { countOf, formatBytes, formatMoney, formatNumber } from '../lib/text.ts';

/** The names of the limited quantities. */
export const quotaLabels: Record<QuotaName, string> = {
  enabledDetections: 'Enabled detections',
  logEventsPerDay: 'Log events per day',
  logBytesPerDay: 'Log volume per day',
  logBytesStored: 'Stored logs',
  feedSources: 'Feed sources',
  feedItems: 'Own feed items',
  apiKeys: 'API keys',
  requestsPerMinute: 'Requests per minute',
  modelUsdPerDay: 'Model cost per day',
  modelUsdPerMonth: 'Model cost per month',
  observationBytesPerDay: 'Results of tools per day',
};

/** Returns an amount of what a quota limits, with its unit. */
export function formatQuota(quota: QuotaName, amount: number): string {
  if (quota.startsWith('logBytes') || quota.startsWith('observationBytes')) return formatBytes(amount);
  return quota.startsWith('modelUsd') ? formatMoney(amount) : formatNumber(amount);
}

/** Texts of usage and limits. */
export const texts = {
  description: 'What this organization uses, and the limits that the operator of the service has set for it.',
  limits: 'Limits',
  noLimits: 'The operator of this service has set no limits for this organization.',
  columns: { quota: 'Limit', used: 'Used', limit: 'Of', share: 'Share', resets: 'Free again' },
  percent: (share: number) => `${Math.floor(share * 100)} %`,
  today: 'Today, UTC',
  days: 'Last 30 days',
  logEvents: 'Log events',
  logBytes: 'Log volume',
  logBytesStored: 'Stored logs',
  runs: 'Runs',
  modelCost: 'Model cost',
  requests: 'Requests',
  refused: (count: number) => countOf(count, 'request refused', 'requests refused'),
};
