import type { Caller } from '../../platform/http/caller.ts';
import { redactFileUrl } from '../ingestion/item-document.ts';
import { effectiveSchedule } from './source-schedule.ts';
import type { Source } from './sources.schema.ts';
import type { PullCursor, SourceRow } from '../ingestion/source-row.ts';

/** Returns a source as the caller may see it. Only its owner sees which organizations it is assigned to and the full path of a local file. */
export function toSource(row: SourceRow, caller: Caller, now: Date): Source {
  const isOwner = row.organization_id === caller.orgId;
  const toText = (time: Date | null): string | null => time?.toISOString() ?? null;
  const lagMs = row.last_success_at && Math.max(0, now.getTime() - row.last_success_at.getTime());
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    url: isOwner ? row.url : redactFileUrl(row.url),
    publisher: row.publisher,
    tlp: row.tlp,
    license: row.license,
    reliability: row.reliability,
    schedule: effectiveSchedule(row),
    enabled: row.enabled,
    include: JSON.parse(row.include) as string[],
    exclude: JSON.parse(row.exclude) as string[],
    visibility: row.visibility,
    ...(isOwner ? { assignedTo: row.assigned_to, hasAuth: row.sealed_auth !== null } : {}),
    own: isOwner,
    nextPullAt: toText(row.next_pull_at),
    lastPullAt: toText(row.last_pull_at),
    lastSuccessAt: toText(row.last_success_at),
    lastNewAt: toText(row.last_new_at),
    lagSeconds: lagMs === null ? null : Math.floor(lagMs / 1000),
    silentSince: (JSON.parse(row.cursor) as PullCursor).silentSince ?? null,
    lastError: row.last_error,
    failures: row.failures,
    lastResult: row.last_result === null ? null : (JSON.parse(row.last_result) as Source['lastResult']),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
