import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { syntaxTree } from '@codemirror/language';

/** Columns with their types by dataset, which completion offers. */
export type QueryNames = Readonly<Record<string, readonly { name: string; type: string }[]>>;

/** How names are written: unquoted where possible in SQL, which PostgreSQL would turn into lower case, and always as they are elsewhere. */
export type NameStyle = 'sql' | 'postgres' | 'pipes';

const plain: Record<NameStyle, RegExp> = { sql: /^[A-Za-z_]\w*$/, postgres: /^[a-z_][a-z0-9_]*$/, pipes: /^/ };
const typed = /[\w@.]*$/;
const isTyped = /^[\w@.]*$/;
const betweenNames = /[\s,()=|;]+/;
/** A dataset after FROM or JOIN, and its alias. */
const source = /\b(?:from|join)\s+(\w+)(?:\s+(?:as\s+)?(\w+))?/gi;
const beforeDataset = /\b(?:from|join)\s+$/i;
const literal = /String|Comment/;

/**
 * Completes names in a query: datasets, and the columns of the datasets that it mentions, or of all if it mentions none. After the name or
 * alias of a dataset and a point, completes its columns.
 */
export function completeNames(names: QueryNames, style: NameStyle) {
  const columnsOf = (datasets: readonly string[]): Completion[] => {
    const columns = new Map(datasets.flatMap((dataset) => names[dataset]!.map((column) => [column.name, column])));
    return [...columns.values()].map(({ name, type }) => ({
      label: name,
      apply: quote(name, plain[style]),
      type: 'property',
      detail: type.toLowerCase(),
    }));
  };
  const datasets = Object.keys(names).map((label) => ({ label, type: 'type', detail: 'dataset', boost: 1 }));
  return ({ state, pos, explicit }: CompletionContext): CompletionResult | null => {
    if (literal.test(syntaxTree(state).resolveInner(pos, -1).name)) return null;
    const query = state.doc.toString();
    const word = typed.exec(query.slice(0, pos))![0];
    if (word === '' && !explicit) return null;
    const from = pos - word.length;
    const point = word.indexOf('.');
    const owner = point > 0 ? findDataset(word.slice(0, point), query, names) : undefined;
    if (owner !== undefined) return { from: from + point + 1, options: columnsOf([owner]), validFor: isTyped };
    if (beforeDataset.test(query.slice(0, from))) return { from, options: datasets, validFor: isTyped };
    const words = new Set(`${query.slice(0, from)} ${query.slice(pos)}`.split(betweenNames));
    const mentioned = Object.keys(names).filter((dataset) => words.has(dataset));
    const columns = columnsOf(mentioned.length > 0 ? mentioned : Object.keys(names));
    return { from, options: [...columns, ...datasets], validFor: isTyped };
  };
}

function findDataset(name: string, query: string, names: QueryNames): string | undefined {
  if (Object.hasOwn(names, name)) return name;
  const aliased = [...query.matchAll(source)].find(([, , alias]) => alias === name)?.[1];
  return aliased !== undefined && Object.hasOwn(names, aliased) ? aliased : undefined;
}

/** Quotes the parts of a dotted name that are not plain. */
const quote = (name: string, isPlain: RegExp): string =>
  name
    .split('.')
    .map((part) => (isPlain.test(part) ? part : `"${part.replaceAll('"', '""')}"`))
    .join('.');
