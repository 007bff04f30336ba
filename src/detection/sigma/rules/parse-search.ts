import { allOf, anyOf, noneOf, type Expression, type Match } from '../../matching/expression.ts';
import { allModifiers, toValueTests, type ModifierChain, type Scalar, type Placeholders } from './modifiers.ts';
import { anyText, simplifyPattern } from '../../matching/text-pattern.ts';
import { SigmaError } from './rule.ts';
import { didYouMean } from '../../../platform/lib/text/nearest-names.ts';

type Path = readonly (string | number)[];
type Context = { placeholders: Placeholders };

const depthMax = 20;

/**
 * Parses the definition of a search identifier: a map is a conjunction of its fields, a list a disjunction of its entries, and a scalar a
 * keyword that the text of an event contains. Throws a SigmaError.
 */
export function parseSearch(definition: unknown, path: Path, context: Context): Expression {
  if (path.length > depthMax) throw new SigmaError(path, 'the search identifier is nested too deeply');
  if (Array.isArray(definition)) {
    if (definition.length === 0) throw new SigmaError(path, 'the list is empty');
    return anyOf(definition.map((entry, index) => parseSearch(entry, [...path, index], context)));
  }
  if (isMap(definition)) {
    const entries = Object.entries(definition);
    if (entries.length === 0) throw new SigmaError(path, 'the map is empty');
    return allOf(entries.map(([key, value]) => parseItem(key, value, [...path, key], context)));
  }
  if (!isScalar(definition)) throw new SigmaError(path, 'must be a map of fields, a list or a keyword');
  return parseItem('', definition, path, context);
}

/** Parses one entry of a map: a field with modifiers, and one value or a list. */
function parseItem(key: string, value: unknown, path: Path, context: Context): Expression {
  const { field, modifiers, isAll, isNegated } = parseKey(key, path);
  const values: unknown[] = Array.isArray(value) ? value : [value];
  if (values.length === 0) throw new SigmaError(path, `the list of ${key} is empty`);
  if (isMap(value)) throw new SigmaError(path, `the value of ${key} must be a scalar or a list of scalars`);
  const expressions = values.map((one, index): Expression => {
    const at = Array.isArray(value) ? [...path, index] : path;
    if (!isScalar(one)) throw new SigmaError(at, `the value of ${key || 'a keyword list'} must be a scalar`);
    try {
      return anyOf(
        toValueTests(one, modifiers, context.placeholders).map((test): Match =>
          toMatch(field, { kind: 'match', field, test }),
        ),
      );
    } catch (error) {
      throw new SigmaError(at, `${key || 'keyword'}: ${(error as Error).message}`);
    }
  });
  const combined = isAll ? allOf(expressions) : anyOf(expressions);
  return isNegated ? noneOf(combined) : combined;
}

/** A keyword is contained in the text of the event. */
function toMatch(field: string | null, match: Match): Match {
  if (field !== null) return match;
  const { test } = match;
  if (test.kind === 'text' && test.pattern.length === 0) throw new Error('an empty keyword matches every event');
  if (test.kind === 'regex') return match;
  if (test.kind !== 'text') throw new Error(`a keyword cannot be tested with ${test.kind}`);
  return { ...match, test: { ...test, pattern: simplifyPattern([anyText, ...test.pattern, anyText]) } };
}

type ItemKey = { field: string | null; modifiers: ModifierChain; isAll: boolean; isNegated: boolean };

function parseKey(key: string, path: Path): ItemKey {
  const [field = '', ...names] = key.split('|');
  const unknown = names.find((name) => !allModifiers.includes(name));
  if (unknown !== undefined)
    throw new SigmaError(path, `the modifier "${unknown}" is unknown${didYouMean(unknown, allModifiers)}`);
  return {
    field: field === '' ? null : field,
    modifiers: {
      names: names.filter((name) => !['all', 'neq', 'cased'].includes(name)),
      cased: names.includes('cased'),
    },
    isAll: names.includes('all'),
    isNegated: names.includes('neq'),
  };
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

const isScalar = (value: unknown): value is Scalar =>
  value === null || ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
