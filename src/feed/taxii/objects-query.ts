import { z } from 'zod';
import { fieldError } from '../../platform/lib/errors.ts';
import { isInstant } from '../../platform/lib/instant.ts';
import { text } from '../../platform/lib/text/bounded-text.ts';

const list = text({ min: 1, max: 5_000 }).optional();

/** Parameters of TAXII 2.1, section 3.4; what is not known is passed over. */
export const ObjectsQuery = z.looseObject({
  added_after: text({ max: 40 }).optional(),
  limit: z
    .string()
    .regex(/^0*[1-9]\d*$/, 'must be a positive integer')
    .optional(),
  next: text({ max: 100 }).optional(),
  'match[id]': list,
  'match[type]': list,
  'match[version]': list,
  'match[spec_version]': list,
});
export type ObjectsQuery = z.infer<typeof ObjectsQuery>;

export type Asked = {
  /** RFC 3339 with up to six decimals, which dates here have. */
  after: string | undefined;
  limit: number;
  ids: string[] | undefined;
  types: string[] | undefined;
  specVersions: string[] | undefined;
  /** `last`, `first`, `all` or times. */
  versions: string[];
};

const limitMax = 1_000;
const listMax = 100;
const isTime = (text: string): boolean => text.endsWith('Z') && isInstant(text);

/** What a query asks for. Throws a 400 that names the parameter. */
export function readObjectsQuery(query: ObjectsQuery): Asked {
  return {
    after: query.next === undefined ? readTime('added_after', query.added_after) : readNext(query.next),
    limit: Math.min(Number(query.limit ?? limitMax), limitMax),
    ids: readList(query, 'match[id]'),
    types: readList(query, 'match[type]'),
    specVersions: readList(query, 'match[spec_version]'),
    versions: (readList(query, 'match[version]') ?? ['last']).map((version) =>
      ['last', 'first', 'all'].includes(version) ? version : readTime('match[version]', version)!,
    ),
  };
}

function readTime(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (!isTime(value))
    throw fieldError(`query/${name}`, 'invalid_time', `${name} must be a time such as 2026-01-05T09:00:00.000000Z.`);
  return value;
}

/** `next` is the date that a page ended with: an answer may then begin behind it, whatever came meanwhile. */
export const nextOf = (date: string): string => Buffer.from(date).toString('base64url');

function readNext(next: string): string {
  const date = Buffer.from(next, 'base64url').toString();
  if (!isTime(date) || nextOf(date) !== next)
    throw fieldError('query/next', 'unknown_next', 'next is not one that this server gave.');
  return date;
}

function readList(
  query: ObjectsQuery,
  name: 'match[id]' | 'match[type]' | 'match[version]' | 'match[spec_version]',
): string[] | undefined {
  const list = query[name]?.split(',').map((part) => part.trim());
  if (list && list.length > listMax)
    throw fieldError(`query/${name}`, 'too_many', `${name} takes ${listMax} values at most.`);
  return list;
}
