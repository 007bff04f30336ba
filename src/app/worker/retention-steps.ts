import { deleteOldAgentRunsAcrossOrgs } from '../../agents/runs/agent-runs.store.ts';
import { deleteOldHitsAcrossOrgs } from '../../detection/hits/hit-retention.store.ts';
import { deleteEmptyIncidentsAcrossOrgs } from '../../detection/incidents/incidents.store.ts';
import { deleteOldHoursAcrossOrgs } from '../../detection/log-query/datasets/log-health.store.ts';
import { expireSegmentsAcrossOrgs } from '../../detection/log-store/segments.store.ts';
import { deleteOldDaysAcrossOrgs } from '../../detection/log-ingest/log-quota.store.ts';
import { deleteOldUsageAcrossOrgs } from '../usage/usage.store.ts';
import { expireAuditAcrossOrgs } from '../../platform/orgs/audit/audit-chain.store.ts';
import { deleteOldSessionsAcrossOrgs } from '../../platform/orgs/sessions/sessions.store.ts';
import {
  deleteOldCandidatesAcrossOrgs,
  deleteOldMemoryAcrossOrgs,
  deleteOldRunsAcrossOrgs,
} from '../../detection/runs/run-retention.store.ts';
import { deleteOldWithdrawalsAcrossOrgs } from '../../detection/runs/judging/withdrawn-events.store.ts';
import { expireGapsAcrossOrgs } from '../../detection/scheduling/fill-gaps.store.ts';
import { type Expiry, listExpiriesAcrossOrgs } from '../../platform/retention/organization-retention.store.ts';
import type { RetentionKind, RetentionPeriods } from '../../platform/retention/retention.schema.ts';
import type { Tx } from '../../platform/db/db.ts';
import { retentionBatchMax, type RetentionStep } from '../../platform/retention/retention.ts';

const dayMs = 86_400_000;
/** Weekly detections look back 26 weeks. */
const memoryDays = 190;
/** Sessions of the console that ended or expired. */
const sessionsDays = 30;
/** Datasets are compared with the two weeks before. */
const logHoursDays = 17;

/** Creates the retention steps of every slice. `days` are the periods of the service, from which organizations may differ. */
export function createRetentionSteps(days: RetentionPeriods): RetentionStep[] {
  const { auditDays, runsDays } = days;
  const deleteExpired = (kind: RetentionKind, deleteBatch: DeleteBatch) => expire(kind, days[kind], deleteBatch);
  return [
    deleteExpired('rowsDays', deleteOldCandidatesAcrossOrgs),
    deleteExpired('hitsDays', deleteOldHitsAcrossOrgs),
    deleteExpired('hitsDays', deleteEmptyIncidentsAcrossOrgs),
    deleteExpired('hitsDays', deleteOldWithdrawalsAcrossOrgs),
    deleteExpired('runsDays', deleteOldRunsAcrossOrgs),
    deleteExpired('runsDays', deleteOldAgentRunsAcrossOrgs),
    deleteOlderThan(sessionsDays, deleteOldSessionsAcrossOrgs),
    deleteOlderThan(memoryDays, deleteOldMemoryAcrossOrgs),
    // Of one organization at a time, and once a day, because the deletion is an entry itself.
    async (tx, now) => (await expireAuditAcrossOrgs(tx, startOfDay(daysBefore(now, auditDays)), retentionBatchMax)) > 0,
    (tx, now) => deleteOldHoursAcrossOrgs(tx, daysBefore(now, logHoursDays)).then(() => false),
    (tx, now) => deleteOldDaysAcrossOrgs(tx, daysBefore(now, runsDays)).then(() => false),
    (tx, now) => deleteOldUsageAcrossOrgs(tx, daysBefore(now, runsDays)).then(() => false),
    deleteExpired('logsDays', (tx, expiry) => expireSegmentsAcrossOrgs(tx, expiry).then(() => 0)),
    deleteExpired('logsDays', (tx, expiry, _limit, now) => expireGapsAcrossOrgs(tx, expiry, now).then(() => 0)),
  ];
}

type DeleteBatch = (tx: Tx, expiry: Expiry, limit: number, now: Date) => Promise<number>;

/** Deletes what has expired, by the period of each organization. */
function expire(kind: RetentionKind, days: number, deleteBatch: DeleteBatch): RetentionStep {
  return async (tx, now) => {
    let hasMore = false;
    for (const expiry of await listExpiriesAcrossOrgs(tx, kind, { days, now }))
      if ((await deleteBatch(tx, expiry, retentionBatchMax, now)) >= retentionBatchMax) hasMore = true;
    return hasMore;
  };
}

function deleteOlderThan(
  days: number,
  deleteBatch: (tx: Tx, before: Date, limit: number) => Promise<number>,
): RetentionStep {
  return async (tx, now) => (await deleteBatch(tx, daysBefore(now, days), retentionBatchMax)) >= retentionBatchMax;
}

const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * dayMs);

const startOfDay = (at: Date): Date => new Date(Math.floor(at.getTime() / dayMs) * dayMs);
