import { hash } from 'node:crypto';
import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import {
  entityTypes,
  foldName,
  nameEntity,
  spellName,
  toKey,
  toOwnNames,
  toStem,
  type EntityKey,
  type EntityName,
  type OwnNames,
  type RawName,
} from './entity-names.ts';
import { joinNames, type EntityLink } from './join-names.ts';
import { listDecisions, listHitNames, listStatedNames, type DecisionRow, type HitNameRow } from './entities.store.ts';
import { dropAmbiguous } from './stated-aliases.ts';

/** Decisions lead from a name to others. Longer chains than this are cut. */
const stepsMax = 10;
const namesMax = 1_000;

/** Returns the key under which `hit_values` has the stem of an entity's name, a UUID. */
export const toStemKey = (name: EntityName): string => hash('md5', `entity\n${toStem(name)}`);

type Links = { own: OwnNames; links: EntityLink[]; stems: string[] };

/** Returns the entities of raw names, in the order of the names. Names of one entity have the same `key`. */
export async function resolveEntities(tx: Tx, orgId: OrgId, names: readonly RawName[]): Promise<EntityKey[]> {
  if (names.length === 0) return [];
  const folded = names.map(foldName);
  const { own, links } = await listLinks(tx, orgId, folded);
  const joined = joinNames(folded, links, own);
  return names.map((name, at) => {
    const entity = joined.get(toKey(folded[at]!))!;
    const byRule = nameEntity(name, own);
    return byRule.key === entity.key ? { ...entity, why: byRule.why } : entity;
  });
}

/** Returns what people decided and listed about names, and about those that this leads to. */
async function listLinks(tx: Tx, orgId: OrgId, names: readonly EntityName[], isProof = false): Promise<Links> {
  const { own, aliases } = await listStatedNames(tx, orgId);
  const listed = aliases.flatMap((line) => readAliasLine(line) ?? []);
  const found = new Map<string, EntityLink>(listed.map((link) => [`${toKey(link.a)}\n${toKey(link.b)}`, link]));
  const stems = new Set(names.map(toStemKey));
  const reached = (): number => stems.size;
  let fresh = [...stems];
  for (let step = 0; step < stepsMax && fresh.length > 0; step++) {
    const before = new Set(stems);
    for (const row of await listDecisions(tx, orgId, fresh)) {
      found.set(row.id, toLink(row));
      stems.add(row.entityStem).add(row.aliasStem);
    }
    for (const { a, b } of listed) {
      const [one, other] = [toStemKey(a), toStemKey(b)];
      if (stems.has(one) || stems.has(other)) stems.add(one).add(other);
    }
    fresh = reached() === before.size ? [] : [...stems].filter((stem) => !before.has(stem));
  }
  const ownNames = toOwnNames(own);
  const all = dropAmbiguous([...found.values()], ownNames);
  return { own: ownNames, links: isProof ? all.filter(({ source }) => source !== 'log') : all, stems: [...stems] };
}

const typesByName = new Set<string>(entityTypes);

/** Reads `type, name, alias`, or `name, alias` where the form of both says their type. Returns undefined for another line. */
function readAliasLine(line: string): EntityLink | undefined {
  const parts = line.split(',').map((part) => part.trim());
  const [first = '', second = '', third] = parts;
  const type = third === undefined ? null : first.toLowerCase();
  const [name, alias] = third === undefined ? [first, second] : [second, third];
  if (parts.length > 3 || !name || !alias || (type !== null && !typesByName.has(type))) return undefined;
  const why = 'The value list `entity-aliases` has both names in a line.';
  return {
    a: foldName({ type, value: name }),
    b: foldName({ type, value: alias }),
    isJoined: true,
    source: 'list',
    why,
  };
}

function toLink(row: DecisionRow): EntityLink {
  const { entityType, entity, aliasType, alias, isJoined, source, reason, keyId, actor, at } = row;
  const author = actor ?? (keyId === null ? 'The service' : `Key ${keyId}`);
  const words = `${author} joined it on ${at.toISOString().slice(0, 10)}${reason === null ? '.' : `: ${reason}`}`;
  return {
    a: { type: entityType, name: entity },
    b: { type: aliasType, name: alias },
    isJoined,
    source,
    why: source === 'log' ? (reason ?? '') : words,
  };
}

/** An entity with its names: those of hits as the hits write them, and those that people stated. `hits` is 0 for the latter. */
export type KnownEntity = { entity: EntityKey; names: KnownName[] };
export type KnownName = EntityName & { why: string; hits: number; firstSeenAt: Date | null; lastSeenAt: Date | null };

/** `isProof`: without the names that only logs state, because an attacker can write into them. */
export type NameOptions = { isProof?: boolean };

/**
 * Returns the entity of a raw name with all names that hits, people and lists know. Without a type, it is the entity of the hits that have the name, of
 * any type.
 */
export async function findEntity(
  tx: Tx,
  orgId: OrgId,
  raw: RawName,
  { isProof = false }: NameOptions = {},
): Promise<KnownEntity> {
  const forms = raw.type === null ? [null, 'user', 'host'].map((type) => foldName({ ...raw, type })) : [foldName(raw)];
  const { own, links, stems } = await listLinks(tx, orgId, forms, isProof);
  const hitNames = await listHitNames(tx, orgId, stems, namesMax);
  const joined = joinNames([...forms, ...hitNames.map(foldName)], links, own);
  const keyOf = (name: RawName): string => joined.get(toKey(foldName(name)))!.key;
  const isNamed = ({ value }: HitNameRow): boolean => value.toLowerCase() === raw.value.trim().toLowerCase();
  const known = raw.type === null ? hitNames.find(isNamed) : undefined;
  const linked = forms.find((form) => links.some(({ a, b }) => toKey(a) === toKey(form) || toKey(b) === toKey(form)));
  const entity = joined.get(keyOf(known ?? { type: (linked ?? forms[0]!).type, value: (linked ?? forms[0]!).name }))!;
  const names = hitNames.filter((name) => keyOf(name) === entity.key);
  const seen = new Set(names.map((name) => toKey(foldName(name))));
  const stated = [...joined.keys()].filter((key) => joined.get(key)!.key === entity.key && !seen.has(key));
  return {
    entity,
    names: [
      ...names.map(({ type, value, hits, firstSeenAt, lastSeenAt }) => {
        const byRule = nameEntity({ type, value }, own);
        const why = byRule.key === entity.key ? byRule.why : joined.get(toKey(foldName({ type, value })))!.why;
        return { type: byRule.type, name: value, why, hits, firstSeenAt, lastSeenAt };
      }),
      ...stated.map((key) => {
        const [type, name] = [key.slice(0, key.indexOf(':')) as EntityName['type'], key.slice(key.indexOf(':') + 1)];
        return { type, name, why: joined.get(key)!.why, hits: 0, firstSeenAt: null, lastSeenAt: null };
      }),
    ],
  };
}

/** Returns the names under which notes on the entity of a raw name may be: those that are known, and the spellings that the rules join. */
export async function listSpellings(tx: Tx, orgId: OrgId, raw: RawName, options: NameOptions = {}): Promise<string[]> {
  const { entity, names } = await findEntity(tx, orgId, raw, options);
  const { own } = await listStatedNames(tx, orgId);
  const spelled = [entity, ...names].flatMap((name) => spellName(name, toOwnNames(own)));
  return [...new Set([...names.map(({ name }) => name), ...(entity.isShared ? [] : spelled)])];
}
