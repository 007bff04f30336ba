import { sql, type RawBuilder } from 'kysely';
import { queryRow, type Tx } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

export type DetectionState = { id: string; deleted: boolean; suggestion: boolean };

const selectState = (orgId: OrgId, id: string): RawBuilder<DetectionState> =>
  sql<DetectionState>`
    select id, deleted_at is not null as deleted, is_suggestion as suggestion from agents
    where organization_id = ${orgId} and id = ${id} and agent_type = 'detection' and not is_built_in`;

/** Returns the state of a detection, deleted or not. Throws `not_found`. */
export async function getDetectionState(tx: Tx, orgId: OrgId, id: string): Promise<DetectionState> {
  const state = await queryRow<DetectionState>(tx)`${selectState(orgId, id)}`;
  if (!state) throw appError('not_found', `Detection ${id} not found.`);
  return state;
}

/** Locks a detection for a new run: it is neither changed nor deleted until the transaction ends. Throws `not_found` or `conflict`. */
export async function lockDetectionForRun(tx: Tx, orgId: OrgId, id: string): Promise<DetectionState> {
  const state = await queryRow<DetectionState>(tx)`${selectState(orgId, id)} for share`;
  if (!state) throw appError('not_found', `Detection ${id} not found.`);
  if (state.deleted) throw appError('conflict', `Detection ${id} is deleted. Restore it first.`);
  return state;
}
