import { hash } from 'node:crypto';
import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { plainIdPattern, readPageRequest, toPage } from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { severities } from '../analysis/candidate.ts';
import { resolveEntities } from '../entities/resolve-entities.ts';
import type { EntityKey } from '../entities/entity-names.ts';
import type { EntityFilter, EntityList } from './hits.schema.ts';
import { listHitEntities, type HitEntityRow } from './read-hits.store.ts';

const rowsMax = 50_000;
const [namesMax, detectionsMax] = [20, 50];

type HitEntity = { key: EntityKey; rows: HitEntityRow[]; lastSeenAt: Date; cursorId: string };

/** Returns a page of the entities of hits under all their names, last seen first. */
export async function getEntities({ db }: { db: Db }, { orgId }: Caller, filter: EntityFilter): Promise<EntityList> {
  const request = readPageRequest(filter, plainIdPattern);
  const { detection, status, q, type } = filter;
  const entities = await inOrg(db, orgId, async (tx) => {
    const rows = await listHitEntities(tx, orgId, { detection, status }, rowsMax);
    const found = groupRows(
      rows,
      await resolveEntities(
        tx,
        orgId,
        rows.map(({ entity, entityType }) => ({ type: entityType, value: entity })),
      ),
    );
    const wanted = q === undefined ? () => true : await matchNames(tx, orgId, q);
    return found.filter((entity) => (type === undefined || entity.key.type === type) && wanted(entity));
  });
  const { after, limit } = request;
  const sorted = entities.toSorted(
    (a, b) => b.lastSeenAt.getTime() - a.lastSeenAt.getTime() || (a.cursorId < b.cursorId ? 1 : -1),
  );
  const rest = after
    ? sorted.filter(
        ({ lastSeenAt, cursorId }) =>
          lastSeenAt < after.at || (lastSeenAt.getTime() === after.at.getTime() && cursorId < after.id),
      )
    : sorted;
  const { page, nextCursor } = toPage(rest.slice(0, limit + 1), limit, (entity) => ({
    at: entity.lastSeenAt,
    id: entity.cursorId,
  }));
  return { entities: page.map(toEntity), nextCursor };
}

/** Rows come last seen first. */
function groupRows(rows: readonly HitEntityRow[], keys: readonly EntityKey[]): HitEntity[] {
  const byKey = new Map<string, HitEntity>();
  for (const [at, row] of rows.entries()) {
    const key = keys[at]!;
    const known = byKey.get(key.key);
    if (known) known.rows.push(row);
    else byKey.set(key.key, { key, rows: [row], lastSeenAt: row.lastSeenAt, cursorId: hash('md5', key.key) });
  }
  return [...byKey.values()];
}

/** Returns whether an entity has a name that contains the text, or the text as a name in any notation. */
async function matchNames(tx: Tx, orgId: OrgId, q: string): Promise<(entity: HitEntity) => boolean> {
  const text = q.trim().toLowerCase();
  const exact = await resolveEntities(
    tx,
    orgId,
    [null, 'user', 'host'].map((type) => ({ type, value: q })),
  );
  const keys = new Set(exact.map(({ key }) => key));
  return ({ key, rows }) =>
    keys.has(key.key) ||
    key.name.toLowerCase().includes(text) ||
    rows.some(({ entity }) => entity.toLowerCase().includes(text));
}

/** An entity with one name keeps the spelling of its hits. */
function toEntity({ key, rows, lastSeenAt }: HitEntity): EntityList['entities'][number] {
  const sum = (pick: (row: HitEntityRow) => number): number => rows.reduce((total, row) => total + pick(row), 0);
  const firstSeenAt = new Date(Math.min(...rows.map((row) => row.firstSeenAt.getTime())));
  return {
    entity: rows.length === 1 ? rows[0]!.entity : key.name,
    entityType: key.type,
    names: rows.map(({ entity }) => entity).slice(0, namesMax),
    hits: sum((row) => row.hits),
    open: sum((row) => row.open),
    severity: severities[Math.max(...rows.map((row) => row.severityRank)) - 1]!,
    detectionIds: [...new Set(rows.flatMap((row) => row.detectionIds))].slice(0, detectionsMax),
    firstSeenAt: firstSeenAt.toISOString(),
    lastSeenAt: lastSeenAt.toISOString(),
  };
}
