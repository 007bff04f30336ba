import { deleteOldAgentRunsAcrossOrgs } from '../agents/runs/agent-runs.store.ts';
import { deleteOldHitsAcrossOrgs } from '../detection/hits/hit-retention.store.ts';
import { deleteOldHoursAcrossOrgs } from '../detection/logs/health/log-health.store.ts';
import { expireSegmentsAcrossOrgs } from '../detection/logs/storage/segments.store.ts';
import { expireAuditAcrossOrgs } from '../platform/orgs/audit/audit-chain.store.ts';
import { deleteOldSessionsAcrossOrgs } from '../platform/orgs/sessions/sessions.store.ts';
import {
  deleteOldCandidatesAcrossOrgs,
  deleteOldMemoryAcrossOrgs,
  deleteOldRunsAcrossOrgs,
} from '../detection/runs/run-retention.store.ts';
import { expireGapsAcrossOrgs } from '../detection/scheduling/coverage/fill-gaps.store.ts';
import type { Tx } from '../platform/db/db.ts';
import { retentionBatchMax, type RetentionStep } from '../platform/retention/retention.ts';

const dayMs = 86_400_000;
/** Weekly detections look back 26 weeks. */
const memoryDays = 190;
/** Sessions of the console that ended or expired. */
const sessionsDays = 30;
/** Datasets are compared with the two weeks before. */
const logHoursDays = 17;

type RetentionDays = { rowsDays: number; hitsDays: number; runsDays: number; logsDays: number; auditDays: number };

/** Creates the retention steps of every slice. */
export function createRetentionSteps(days: RetentionDays): RetentionStep[] {
  const { rowsDays, hitsDays, runsDays, logsDays, auditDays } = days;
  return [
    deleteOlderThan(rowsDays, deleteOldCandidatesAcrossOrgs),
    deleteOlderThan(hitsDays, deleteOldHitsAcrossOrgs),
    deleteOlderThan(runsDays, deleteOldRunsAcrossOrgs),
    deleteOlderThan(runsDays, deleteOldAgentRunsAcrossOrgs),
    deleteOlderThan(sessionsDays, deleteOldSessionsAcrossOrgs),
    deleteOlderThan(memoryDays, deleteOldMemoryAcrossOrgs),
    // Of one organization at a time, and once a day, because the deletion is an entry itself.
    async (tx, now) => (await expireAuditAcrossOrgs(tx, startOfDay(daysBefore(now, auditDays)), retentionBatchMax)) > 0,
    (tx, now) => deleteOldHoursAcrossOrgs(tx, daysBefore(now, logHoursDays)).then(() => false),
    (tx, now) => expireSegmentsAcrossOrgs(tx, daysBefore(now, logsDays)).then(() => false),
    (tx, now) => expireGapsAcrossOrgs(tx, daysBefore(now, logsDays), now).then(() => false),
  ];
}

function deleteOlderThan(
  days: number,
  deleteBatch: (tx: Tx, before: Date, limit: number) => Promise<number>,
): RetentionStep {
  return async (tx, now) => (await deleteBatch(tx, daysBefore(now, days), retentionBatchMax)) >= retentionBatchMax;
}

const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * dayMs);

const startOfDay = (at: Date): Date => new Date(Math.floor(at.getTime() / dayMs) * dayMs);
