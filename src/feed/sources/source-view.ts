import { appError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { shownUrl } from '../items/writing/item-document.ts';
import { scheduleOf } from './source-schedule.ts';
import type { Source } from './sources.schema.ts';
import type { Cursor, SourceRow } from './source-row.ts';

/** A source as the caller may see it: who else it is assigned to, and where a file of this machine lies, is its owner's affair. */
export function toSource(row: SourceRow, caller: Caller, now: Date): Source {
  const own = row.organization_id === caller.orgId;
  const text = (time: Date | null): string | null => time?.toISOString() ?? null;
  const lag =
    row.last_success_at === null
      ? null
      : Math.max(0, Math.floor((now.getTime() - row.last_success_at.getTime()) / 1000));
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    url: own ? row.url : shownUrl(row.url),
    publisher: row.publisher,
    tlp: row.tlp,
    license: row.license,
    reliability: row.reliability,
    schedule: scheduleOf(row),
    enabled: row.enabled,
    include: JSON.parse(row.include) as string[],
    exclude: JSON.parse(row.exclude) as string[],
    visibility: row.visibility,
    ...(own ? { assignedTo: row.assigned_to, hasAuth: row.sealed_auth !== null } : {}),
    own,
    nextPullAt: text(row.next_pull_at),
    lastPullAt: text(row.last_pull_at),
    lastSuccessAt: text(row.last_success_at),
    lastNewAt: text(row.last_new_at),
    lagSeconds: lag,
    silentSince: (JSON.parse(row.cursor) as Cursor).silentSince ?? null,
    lastError: row.last_error,
    failures: row.failures,
    lastResult: row.last_result === null ? null : (JSON.parse(row.last_result) as Source['lastResult']),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

export function requireAdmin(caller: Caller): void {
  if (!caller.scopes.has('feed:admin')) throw appError('forbidden', 'The key lacks the scope feed:admin.');
}
