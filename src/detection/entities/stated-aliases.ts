import type { RenderedRow } from '../analysis/candidate.ts';
import { isAbsent } from '../analysis/rows/fields.ts';
import { nameEntity, toKey, type EntityName, type OwnNames } from './entity-names.ts';
import fieldEndings from './stated-aliases.json' with { type: 'json' };

/** Two names of one entity that a row states about the same subject, with the fields that show them. `name` is unique in the world. */
export type StatedAlias = { type: 'user' | 'host'; name: string; alias: string; fields: [string, string] };

const mailAddress = /^[^@\s\\]+@[^@\s\\]+\.[^@\s\\]+$/;
const domainSid = /^s-1-5-21-[\d-]+$/i;

/** Returns in which way a name of a user is unique, or undefined if different people can have it. */
const uniqueKind = (name: string): 'mail' | 'sid' | undefined =>
  mailAddress.test(name) ? 'mail' : domainSid.test(name) ? 'sid' : undefined;

/**
 * Finds the names that rows state about one user or one host: the account with its mail address or its SID, and the short with the long name. Display
 * names, accounts that many machines have, and leased addresses prove nothing.
 */
export const findStatedAliases = (rows: readonly RenderedRow[]): StatedAlias[] =>
  rows.flatMap(({ fields }) =>
    [...groupBySubject(Object.entries(fields))].flatMap(([subject, named]) =>
      subject.endsWith('user') ? pairUsers(named) : pairHosts(named),
    ),
  );

/** The longest ones come first, because `hostname` ends with `name`. */
const endings = Object.entries(fieldEndings)
  .flatMap(([subject, list]) => list.map((of) => ({ subject, of })))
  .toSorted((a, b) => b.of.length - a.of.length);

type Named = { field: string; value: string };

/** Groups the fields that identify a subject: `TargetUserName` and `TargetUserSid`, `host.name` and `host.hostname`. */
function groupBySubject(fields: readonly [string, string][]): Map<string, Named[]> {
  const found = fields.flatMap(([field, text]) => {
    const value = text.trim();
    const path = field.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
    if (isAbsent(value) || /\s/.test(value)) return [];
    const ending = endings.find((one) => path.endsWith(one.subject + one.of))?.of;
    return ending === undefined ? [] : [{ subject: path.slice(0, path.length - ending.length), field, value }];
  });
  return Map.groupBy(found, ({ subject }) => subject);
}

function pairUsers(named: readonly Named[]): StatedAlias[] {
  const unique = named.filter(({ value }) => uniqueKind(value));
  const plain = named.filter(({ value, field }) => !uniqueKind(value) && !/(?:id|sid)$/i.test(field));
  const [alias] = plain.length > 0 ? plain : unique.filter(({ value }) => domainSid.test(value));
  const isOne = new Set(plain.map(({ value }) => value.toLowerCase())).size < 2;
  if (!alias || !isOne || nameEntity({ type: 'user', value: alias.value }, new Set()).isShared) return [];
  return unique
    .filter(({ value }) => value !== alias.value)
    .map(({ field, value }) => ({ type: 'user', name: value, alias: alias.value, fields: [field, alias.field] }));
}

function pairHosts(named: readonly Named[]): StatedAlias[] {
  const isLongOf = (long: string, short: string): boolean => long.toLowerCase().startsWith(`${short.toLowerCase()}.`);
  return named.flatMap((short) =>
    named
      .filter((long) => !short.value.includes('.') && isLongOf(long.value, short.value))
      .map((long) => ({
        type: 'host' as const,
        name: long.value,
        alias: short.value,
        fields: [long.field, short.field] as [string, string],
      })),
  );
}

/** Returns the links of logs that contradict none: no alias is one of two people, or of two hosts. */
export function dropAmbiguous<Link extends { a: EntityName; b: EntityName; source: string }>(
  links: readonly Link[],
  own: OwnNames,
): Link[] {
  const keyOf = ({ type, name }: EntityName): string => toKey(nameEntity({ type, value: name }, own));
  const aliasOf = ({ a, b }: Link): string => `${toKey(b)}\n${uniqueKind(a.name) ?? ''}`;
  const logged = links.filter(({ source }) => source === 'log');
  const names = new Map(
    [...Map.groupBy(logged, aliasOf)].map(([alias, list]) => [alias, new Set(list.map(({ a }) => keyOf(a))).size]),
  );
  return links.filter((link) => link.source !== 'log' || names.get(aliasOf(link)) === 1);
}
