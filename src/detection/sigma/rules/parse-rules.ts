import { allOf, anyOf, type Expression } from '../../matching/expression.ts';
import {
  type DetectionRule,
  type FilterRule,
  type InvalidDocument,
  type LogSource,
  type SigmaRule,
  rejectUnknownKeys,
  SigmaError,
} from './rule.ts';
import { parseCondition, type Searches } from './parse-condition.ts';
import { parseCorrelation } from './parse-correlation.ts';
import { parseSearch } from './parse-search.ts';
import type { Placeholders } from './modifiers.ts';
import { readDocuments, type SourceDocument, optionalText, readHead, textList } from './read-documents.ts';

type Fields = Record<string, unknown>;

/**
 * Parses Sigma documents (specification 2.1): rules, correlation rules and filters, in the order of the text. A document with an error is
 * returned as invalid, with the line of each problem, and does not affect the others.
 */
export function parseRules(text: string, placeholders: Placeholders = {}): (SigmaRule | InvalidDocument)[] {
  return mergeGlobalDocuments(readDocuments(text)).map((document) => parseDocument(document, placeholders));
}

function parseDocument(document: SourceDocument, placeholders: Placeholders): SigmaRule | InvalidDocument {
  const fields = toFields(document.value);
  const invalid = (errors: InvalidDocument['errors']): InvalidDocument => ({
    kind: 'invalid',
    id: typeof fields?.['id'] === 'string' ? fields['id'] : null,
    title: typeof fields?.['title'] === 'string' ? fields['title'] : null,
    errors,
  });
  if (document.errors.length > 0) return invalid(document.errors);
  if (!fields)
    return invalid([{ line: document.line, message: 'the document must be a map with a title and a detection' }]);
  try {
    return parseFields(fields, document, placeholders);
  } catch (error) {
    if (!(error instanceof SigmaError)) throw error;
    return invalid([{ line: document.lineOf(error.path), message: error.message }]);
  }
}

function parseFields(fields: Fields, document: SourceDocument, placeholders: Placeholders): SigmaRule {
  const head = readHead(fields, document);
  if (fields['correlation'] !== undefined) return { ...head, ...parseCorrelation(fields['correlation']) };
  if (fields['filter'] !== undefined) return { ...head, ...parseFilter(fields, placeholders) };
  return { ...head, ...parseDetection(fields, placeholders) };
}

function parseDetection(
  fields: Fields,
  placeholders: Placeholders,
): Pick<DetectionRule, 'kind' | 'logSource' | 'condition' | 'unused' | 'fields'> {
  const detection = requireMap(fields, 'detection');
  return {
    kind: 'rule',
    logSource: parseLogSource(fields),
    ...parseConditions(detection, { path: ['detection'], reserved: ['condition', 'timeframe'], placeholders }),
    fields: textList(fields, 'fields'),
  };
}

function parseFilter(
  fields: Fields,
  placeholders: Placeholders,
): Pick<FilterRule, 'kind' | 'logSource' | 'rules' | 'condition'> {
  const filter = requireMap(fields, 'filter');
  const rules = textList(filter, 'rules');
  const isAny = rules.length === 0 || (rules.length === 1 && rules[0]!.toLowerCase() === 'any');
  if (filter['rules'] === undefined)
    throw new SigmaError(['filter'], 'rules is missing. Use "any" for all rules of the log source');
  return {
    kind: 'filter',
    logSource: parseLogSource(fields),
    rules: isAny ? null : rules,
    condition: parseConditions(filter, { path: ['filter'], reserved: ['condition', 'rules'], placeholders }).condition,
  };
}

type ConditionOptions = { path: string[]; reserved: string[]; placeholders: Placeholders };

type Conditions = { condition: Expression; unused: string[] };

/** Parses the search identifiers and the condition over them. Several conditions are alternatives. */
function parseConditions(detection: Fields, { path, reserved, placeholders }: ConditionOptions): Conditions {
  const names = Object.keys(detection).filter((name) => !reserved.includes(name));
  if (names.length === 0) throw new SigmaError(path, 'there is no search identifier');
  if (reserved.includes('timeframe') && detection['timeframe'] !== undefined)
    throw new SigmaError([...path, 'timeframe'], 'timeframe is not part of Sigma 2. Use a correlation rule');
  const searches: Searches = new Map(
    names.map((name) => [name, parseSearch(detection[name], [...path, name], { placeholders })]),
  );
  const conditions = textList(detection, 'condition');
  if (conditions.length === 0) throw new SigmaError(path, 'condition is missing');
  const used = new Set<string>();
  const condition = anyOf(
    conditions.map((text) => {
      try {
        return allOf([parseCondition(text, searches, used)]);
      } catch (error) {
        throw new SigmaError([...path, 'condition'], `condition: ${(error as Error).message}`);
      }
    }),
  );
  return { condition, unused: names.filter((name) => !used.has(name)) };
}

function parseLogSource(fields: Fields): LogSource {
  const source = requireMap(fields, 'logsource');
  rejectUnknownKeys(source, ['category', 'product', 'service', 'definition'], ['logsource']);
  const result: LogSource = {};
  for (const key of ['category', 'product', 'service'] as const) {
    let text: string | null;
    try {
      text = optionalText(source, key);
    } catch {
      throw new SigmaError(['logsource', key], `${key} must be text`);
    }
    if (text !== null) result[key] = text.toLowerCase();
  }
  if (Object.keys(result).length === 0)
    throw new SigmaError(['logsource'], 'logsource requires a category, a product or a service');
  return result;
}

function requireMap(fields: Fields, key: string): Fields {
  const value = toFields(fields[key]);
  if (!value)
    throw new SigmaError(
      fields[key] === undefined ? [] : [key],
      `${key} ${fields[key] === undefined ? 'is missing' : 'must be a map'}`,
    );
  return value;
}

const isFields = (value: unknown): value is Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

const toFields = (value: unknown): Fields | undefined => (isFields(value) ? value : undefined);

/**
 * Applies `action` of multi-document rules (Sigma specification 1): `global` adds its fields to every document after it, `repeat` continues
 * the document before it, and `reset` forgets the global fields.
 */
function mergeGlobalDocuments(documents: readonly SourceDocument[]): SourceDocument[] {
  let global: Fields = {};
  let previous: Fields = {};
  return documents.flatMap((document) => {
    if (!isFields(document.value)) return [document];
    const { action, ...fields } = document.value;
    if (action === 'global') global = mergeFields(global, fields);
    if (action === 'reset') global = {};
    if (action === 'global' || action === 'reset') return [];
    previous = mergeFields(action === 'repeat' ? previous : global, fields);
    return [{ ...document, value: action === undefined || action === 'repeat' ? previous : { ...previous, action } }];
  });
}

/** Returns both maps as one. Maps inside them are merged, other values of the second win. */
function mergeFields(base: Fields, more: Fields): Fields {
  const merged = { ...base };
  for (const [key, value] of Object.entries(more)) {
    const before = Object.hasOwn(merged, key) ? merged[key] : undefined;
    merged[key] = isFields(before) && isFields(value) ? mergeFields(before, value) : value;
  }
  return merged;
}
