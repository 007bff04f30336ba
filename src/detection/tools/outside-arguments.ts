import type { Candidate } from '../analysis/candidate.ts';
import type { FoundRows } from './tool-definition.ts';

/**
 * Returns the values that an investigation was shown: those of the candidate, and those of results. Columns whose kind is `other` are left out, because the
 * model can have written their values into a query.
 */
export function collectKnownValues(
  { entity, rows, facts }: Pick<Candidate, 'entity' | 'rows' | 'facts'>,
  results: readonly FoundRows[] = [],
): Set<string> {
  const known = new Set([entity, ...rows.flatMap((row) => Object.values(row.fields))]);
  for (const value of Object.values(facts).flat())
    if (value !== null && typeof value !== 'boolean') known.add(String(value));
  for (const result of results) {
    const cited = new Set(result.columns.filter(({ kind }) => kind !== 'other').map(({ name }) => name));
    for (const row of result.rows)
      for (const [name, value] of Object.entries(row.fields)) if (cited.has(name)) known.add(value);
  }
  return known;
}

type JsonSchema = Readonly<Record<string, unknown>>;
const depthMax = 10;

/**
 * Returns the JSON pointer of the first argument that a model has made up, or undefined. A text or a number must be a whole known value, or one that the
 * tool's own schema lists (`enum`, `const`). A name must be one that the schema lists, or a known value. Booleans and nulls are free.
 */
export function findUnknownArgument(
  value: unknown,
  known: ReadonlySet<string>,
  schema: unknown = {},
  pointer = '',
): string | undefined {
  if (value === null || value === undefined || typeof value === 'boolean') return undefined;
  const schemas = listAlternatives(schema);
  if (pointer.split('/').length > depthMax) return pointer;
  if (Array.isArray(value)) {
    const items = { anyOf: schemas.map((one) => one['items'] ?? {}) };
    return value.map((item, index) => findUnknownArgument(item, known, items, `${pointer}/${index}`)).find(Boolean);
  }
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([name, inner]) => findUnknownProperty(name, inner, { known, schemas, pointer: `${pointer}/${name}` }))
      .find(Boolean);
  const isListed = schemas.some(
    (one) => one['const'] === value || (Array.isArray(one['enum']) && one['enum'].includes(value)),
  );
  return isListed || known.has(String(value)) ? undefined : pointer || '/';
}

type PropertyContext = { known: ReadonlySet<string>; schemas: readonly JsonSchema[]; pointer: string };

function findUnknownProperty(
  name: string,
  value: unknown,
  { known, schemas, pointer }: PropertyContext,
): string | undefined {
  const declared = schemas.flatMap((one) => {
    const properties = (one['properties'] ?? {}) as JsonSchema;
    return Object.hasOwn(properties, name) ? [properties[name]] : [];
  });
  if (declared.length === 0 && !known.has(name)) return pointer;
  return findUnknownArgument(value, known, { anyOf: declared }, pointer);
}

/** Returns a schema with the alternatives inside of it. References are not followed. */
function listAlternatives(schema: unknown, depth = 0): JsonSchema[] {
  if (typeof schema !== 'object' || schema === null || depth > depthMax) return [];
  const one = schema as JsonSchema;
  const inner = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => (Array.isArray(one[key]) ? (one[key] as unknown[]) : []));
  return [one, ...inner.flatMap((alternative) => listAlternatives(alternative, depth + 1))];
}
