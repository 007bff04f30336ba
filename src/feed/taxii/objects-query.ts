import { z } from 'zod';
import { integerMeta, isInstant } from '../../platform/lib/schema-parts.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';

const List = boundedString({ min: 1, max: 5_000 }).optional();

/** The parameters of TAXII 2.1, section 3.4. Unknown ones are ignored. */
export const ObjectsQuery = z.looseObject({
  added_after: boundedString({ max: 40 }).optional(),
  limit: z
    .string()
    .regex(/^0*[1-9]\d*$/, 'must be a positive integer')
    .meta(integerMeta(1))
    .optional(),
  next: boundedString({ max: 100 }).optional(),
  'match[id]': List,
  'match[type]': List,
  'match[version]': List,
  'match[spec_version]': List,
});
export type ObjectsQuery = z.infer<typeof ObjectsQuery>;

export type ObjectsFilter = {
  /** RFC 3339 with up to microseconds, the precision of `date_added`. */
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

/** Parses the query string. Throws a 400 that names the invalid parameter. */
export function readObjectsQuery(query: ObjectsQuery): ObjectsFilter {
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
  const detail = `\`${name}\` must be a UTC time such as 2026-01-05T09:00:00.000000Z.`;
  if (!isTime(value)) throw fieldError(`query/${name}`, 'invalid_time', detail);
  return value;
}

/** Encodes the date of a page's last row. The next page begins after it, whatever was added meanwhile. */
export const toNextToken = (date: string): string => Buffer.from(date).toString('base64url');

function readNext(next: string): string {
  const date = Buffer.from(next, 'base64url').toString();
  const detail =
    'Unknown `next` token. Use the `next` of a previous response, or request the first page again without it.';
  if (!isTime(date) || toNextToken(date) !== next) throw fieldError('query/next', 'unknown_next', detail);
  return date;
}

function readList(
  query: ObjectsQuery,
  name: 'match[id]' | 'match[type]' | 'match[version]' | 'match[spec_version]',
): string[] | undefined {
  const values = query[name]?.split(',').map((part) => part.trim());
  if (values && values.length > listMax)
    throw fieldError(`query/${name}`, 'too_many', `\`${name}\` accepts at most ${listMax} values.`);
  return values;
}
