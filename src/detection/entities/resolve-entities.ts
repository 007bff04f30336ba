import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { listOwnNames } from './entities.store.ts';
import { nameEntity, toOwnNames, type EntityKey, type RawName } from './entity-names.ts';

/** Returns the entities of raw names, in the order of the names. Names of one entity have the same `key`. */
export async function resolveEntities(tx: Tx, orgId: OrgId, names: readonly RawName[]): Promise<EntityKey[]> {
  if (names.length === 0) return [];
  const own = toOwnNames(await listOwnNames(tx, orgId));
  return names.map((name) => nameEntity(name, own));
}
