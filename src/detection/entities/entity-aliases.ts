import type { RenderedRow } from '../analysis/candidate.ts';
import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import { type Clock, withIsoTimes } from '../../platform/lib/time/clock.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { foldName, toKey, type EntityKey, type EntityName } from './entity-names.ts';
import {
  countDecisions,
  deleteDecisions,
  insertDecision,
  listDecisions,
  lockDecisions,
  type DecisionRow,
} from './entities.store.ts';
import { findEntity, resolveEntities, toStemKey, type KnownEntity } from './resolve-entities.ts';
import { findStatedAliases } from './stated-aliases.ts';
import type { AliasInput, EntityAliases, EntityPath, AliasQuery } from './entities.schema.ts';

const decisionsMax = 10_000;

type AliasDeps = { db: Db; clock: Clock };

/** Returns an entity and its names as the API shows them. */
export const toAliases = ({ entity, names }: KnownEntity): EntityAliases => ({
  type: entity.type,
  name: entity.name,
  key: entity.key,
  isShared: entity.isShared,
  aliases: names.map(({ ...name }) => ({
    ...withIsoTimes(name),
    canSeparate: toKey(foldName({ type: name.type, value: name.name })) !== entity.key,
  })),
});

/**
 * Makes a name, with the other names of its entity, one of another entity. What a person separated before is joined again. Throws 409 above 10,000
 * decisions.
 */
export function joinAlias(
  { db, clock }: AliasDeps,
  caller: Caller,
  { type, name }: EntityPath,
  { alias, aliasType = type, reason }: AliasInput,
): Promise<EntityAliases> {
  const { orgId } = caller;
  return inOrg(db, orgId, async (tx) => {
    await lockDecisions(tx, orgId);
    const path = { type, value: name };
    const [entity, other] = await resolveBoth(tx, orgId, [path, { type: aliasType, value: alias }]);
    if (entity.key !== other.key) {
      const decisions = await listDecisionsOn(tx, orgId, [entity, other]);
      await deleteDecisions(tx, orgId, await findSeparating(tx, orgId, decisions, [entity, other]));
      await decide(tx, caller, {
        entity,
        alias: foldName({ type: aliasType, value: alias }),
        isJoined: true,
        reason: reason ?? null,
        now: clock(),
      });
    }
    return toAliases(await findEntity(tx, orgId, path));
  });
}

/** Makes an alias an entity of its own, which stays apart. Throws 404 if the entity does not have it, and 400 if it is the entity's own name. */
export function separateAlias(
  { db, clock }: AliasDeps,
  caller: Caller,
  { type, name, alias }: EntityPath & { alias: string },
  { aliasType = type }: AliasQuery,
): Promise<EntityAliases> {
  const { orgId } = caller;
  return inOrg(db, orgId, async (tx) => {
    await lockDecisions(tx, orgId);
    const path = { type, value: name };
    const folded = foldName({ type: aliasType, value: alias });
    const [entity, other] = await resolveBoth(tx, orgId, [path, { type: aliasType, value: alias }]);
    if (entity.key !== other.key) throw appError('not_found', `\`${alias}\` is not a name of \`${entity.name}\`.`);
    if (toKey(folded) === entity.key)
      throw fieldError(
        'path/alias',
        'own_name',
        `\`${alias}\` is the name of the entity. Separate one of its aliases.`,
      );
    const decisions = await listDecisionsOn(tx, orgId, [entity, folded]);
    const joins = decisions.filter((row) => row.isJoined && toKey(aliasOf(row)) === toKey(folded));
    await deleteDecisions(
      tx,
      orgId,
      joins.map(({ id }) => id),
    );
    await decide(tx, caller, { entity, alias: folded, isJoined: false, reason: null, now: clock() });
    return toAliases(await findEntity(tx, orgId, path));
  });
}

async function resolveBoth(
  tx: Tx,
  orgId: OrgId,
  names: [{ type: string; value: string }, { type: string; value: string }],
): Promise<[EntityKey, EntityKey]> {
  const [entity, other] = await resolveEntities(tx, orgId, names);
  return [entity!, other!];
}

const entityOf = (row: DecisionRow): EntityName => ({ type: row.entityType, name: row.entity });
const aliasOf = (row: DecisionRow): EntityName => ({ type: row.aliasType, name: row.alias });

/** Lists the decisions about all names of entities. */
async function listDecisionsOn(tx: Tx, orgId: OrgId, entities: readonly EntityName[]): Promise<DecisionRow[]> {
  const known = await Promise.all(entities.map(({ type, name }) => findEntity(tx, orgId, { type, value: name })));
  const names = known.flatMap(({ names: list }) => list.map(({ type, name }) => foldName({ type, value: name })));
  return listDecisions(tx, orgId, [...new Set([...entities, ...names].map(toStemKey))]);
}

/** Returns the IDs of the decisions that keep two entities apart. */
async function findSeparating(
  tx: Tx,
  orgId: OrgId,
  decisions: readonly DecisionRow[],
  [one, other]: [EntityKey, EntityKey],
): Promise<string[]> {
  const apart = decisions.filter(({ isJoined }) => !isJoined);
  const toRaw = ({ type, name }: EntityName) => ({ type, value: name });
  const keys = await resolveEntities(
    tx,
    orgId,
    apart.flatMap((row) => [toRaw(entityOf(row)), toRaw(aliasOf(row))]),
  );
  return apart.flatMap(({ id }, at) => {
    const pair = [keys[2 * at]!.key, keys[2 * at + 1]!.key];
    return pair.includes(one.key) && pair.includes(other.key) ? [id] : [];
  });
}

type Decision = { entity: EntityKey; alias: EntityName; isJoined: boolean; reason: string | null; now: Date };

async function decide(tx: Tx, caller: Caller, { entity, alias, isJoined, reason, now }: Decision): Promise<void> {
  if ((await countDecisions(tx, caller.orgId, 'person')) >= decisionsMax)
    throw appError('conflict', `An organization can have at most ${decisionsMax} decisions about entities.`);
  const id = uuidv7(now);
  const stems = { entityStem: toStemKey(entity), aliasStem: toStemKey(alias) };
  const row = {
    id,
    entityType: entity.type,
    entity: entity.name,
    aliasType: alias.type,
    alias: alias.name,
    ...stems,
    isJoined,
    source: 'person' as const,
    reason,
    at: now,
  };
  await insertDecision(tx, caller, row);
  await insertAudit(tx, caller, {
    action: isJoined ? 'entity.joined' : 'entity.separated',
    resourceType: 'entity',
    resourceId: caller.orgId,
    before: null,
    after: { entity: entity.key, alias: toKey(alias), reason },
  });
}

const loggedMax = 10_000;

/** Remembers the names of one entity that the rows of a hit state, each pair once. An organization has at most 10,000 of them. */
export async function learnAliases(
  tx: Tx,
  orgId: OrgId,
  hits: readonly { id: string; rows: readonly RenderedRow[] }[],
  now: Date,
): Promise<void> {
  const stated = hits.flatMap(({ id, rows }) =>
    findStatedAliases(rows).map(({ type, name, alias, fields: [first, second] }) => ({
      entity: foldName({ type, value: name }),
      alias: foldName({ type, value: alias }),
      reason: `A row of hit ${id} has both, in \`${first}\` and \`${second}\`.`,
    })),
  );
  if (stated.length === 0) return;
  const pairOf = (entity: EntityName, alias: EntityName): string => `${toKey(entity)}\n${toKey(alias)}`;
  const rows = await listDecisions(tx, orgId, [...new Set(stated.map(({ alias }) => toStemKey(alias)))]);
  const known = new Set(
    rows.map((row) => pairOf({ type: row.entityType, name: row.entity }, { type: row.aliasType, name: row.alias })),
  );
  const fresh = new Map(stated.map((one) => [pairOf(one.entity, one.alias), one]));
  let left = loggedMax - (await countDecisions(tx, orgId, 'log'));
  for (const [pair, { entity, alias, reason }] of fresh) {
    if (known.has(pair) || left-- <= 0) continue;
    const author = { orgId, keyId: null };
    await insertDecision(tx, author, {
      id: uuidv7(now),
      entityType: entity.type,
      entity: entity.name,
      aliasType: alias.type,
      alias: alias.name,
      entityStem: toStemKey(entity),
      aliasStem: toStemKey(alias),
      isJoined: true,
      source: 'log',
      reason,
      at: now,
    });
  }
}
