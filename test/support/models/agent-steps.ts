import { sql } from 'kysely';
import { inOrg, type Db } from '../../../src/platform/db/db.ts';
import { uuidv7 } from '../../../src/platform/lib/ids.ts';
import type { OrgId } from '../../../src/platform/lib/org-id.ts';

/** Inserts a minimal row of `agents`, for tests of modules below the detections. */
export async function newAgentId(db: Db, orgId: OrgId): Promise<string> {
  const id = uuidv7();
  await inOrg(db, orgId, (tx) =>
    sql`insert into agents (organization_id, id, agent_type, name, trigger_id, detection_category, detection_query, created_at, updated_at)
      values (${orgId}, ${id}, 'detection', 'a detection', ${uuidv7()}, 'custom', 'select 1', now(), now())`.execute(
      tx,
    ),
  );
  return id;
}
