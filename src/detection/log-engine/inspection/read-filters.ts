import { aggregateFunctions } from '../sql/allowed-functions.ts';
import { foldName, isListTable, readDatasetName } from '../table-names.ts';
import { functionName, isNode, nodesOf, walkTree, type TreeNode } from '../parse-tree.ts';
import { allFilters, anyFilter, everyEvent, type EventFilter } from './event-filter.ts';
import type { Resolved, Scope } from './field-paths.ts';
import { readCondition } from './read-condition.ts';

/** `isPlain`: it does not rename its columns. */
type Cte = { node: TreeNode; isPlain: boolean; scope: Visible };

/**
 * The names that a query sees: the CTEs before it, and columns of the query around it if it is `isInner`. `countStep` counts the work, because a query can
 * read the same CTE in many ways.
 */
type Visible = { ctes: ReadonlyMap<string, Cte>; isInner: boolean; countStep: () => void };

/** Rows of which each comes from one event of a dataset. `filter` is true at least of the events of all rows. */
type Rows = { dataset: string; filter: EventFilter; scope: Scope };

type Use = (dataset: string, filter: EventFilter) => void;

const stepsMax = 5_000;
class TooComplexError extends Error {}

/**
 * Returns for each of the tables that a query reads a filter that is true at least of the events that can change its result. `tree` is a parse
 * tree that `inspectTree` has accepted.
 */
export function readFilters(tree: TreeNode, tables: readonly string[]): Record<string, EventFilter> {
  const uses = new Map<string, EventFilter[]>(tables.map((name) => [name, []]));
  let steps = 0;
  const countStep = (): void => {
    steps += 1;
    if (steps > stepsMax) throw new TooComplexError();
  };
  try {
    visit(tree['statements'], { ctes: new Map(), isInner: false, countStep }, (dataset, filter) =>
      uses.get(dataset)?.push(filter),
    );
  } catch (error) {
    if (!(error instanceof TooComplexError)) throw error;
    return Object.fromEntries(tables.map((name) => [name, everyEvent]));
  }
  // A CTE that nothing reads reads no events.
  return Object.fromEntries([...uses].map(([name, filters]) => [name, anyFilter(filters)]));
}

/** Finds the uses of datasets below a value, with the filters that apply to each. */
function visit(value: unknown, visible: Visible, use: Use): void {
  visible.countStep();
  walkTree(value, (node) => {
    if (isListTable(node)) return false;
    if (node['type'] === 'BASE_TABLE') {
      const cte = visible.ctes.get(foldName(String(node['table_name'])));
      if (cte) visitRows(node, visible, use);
      else use(readDatasetName(String(node['table_name'])), everyEvent);
      return false;
    }
    if (node['class'] === 'SUBQUERY') {
      visit(Object.values(node), { ...visible, isInner: true }, use);
      return false;
    }
    if (typeof node['type'] !== 'string' || !node['type'].endsWith('_NODE')) return true;
    visitQuery(node, visible, use);
    return false;
  });
}

function visitQuery(node: TreeNode, outer: Visible, use: Use): void {
  const visible = addCtes(node, outer);
  const { cte_map: _ctes, from_table: from, ...rest } = node;
  visit(Object.values(rest), visible, use);
  if (node['type'] === 'RECURSIVE_CTE_NODE' || !isNode(from)) return visit(from, visible, use);
  const rows = readRows(from, visible);
  if (rows) use(rows.dataset, allFilters([rows.filter, readWhere(node, rows.scope, visible)]));
  else visitRows(from, visible, use);
}

/** Visits what a FROM clause reads. */
function visitRows(from: TreeNode, visible: Visible, use: Use): void {
  const rows = readRows(from, visible);
  if (rows) return use(rows.dataset, rows.filter);
  const cte =
    from['type'] === 'BASE_TABLE' && !isListTable(from)
      ? visible.ctes.get(foldName(String(from['table_name'])))
      : undefined;
  if (cte) visit(cte.node, cte.scope, use);
  else if (from['type'] === 'JOIN') {
    for (const side of [from['left'], from['right']] as TreeNode[]) visitRows(side, { ...visible, isInner: true }, use);
    visit(from['condition'], visible, use);
  } else visit(from, visible, use);
}

/** Returns the rows of a FROM clause that reads one dataset, or one query that passes on the rows of one. */
function readRows(from: TreeNode, visible: Visible): Rows | undefined {
  visible.countStep();
  if (from['sample'] || (from['column_name_alias'] as unknown[] | undefined)?.length) return undefined;
  if (from['type'] === 'SUBQUERY') return readInner((from['subquery'] as TreeNode)['node'], visible, aliasOf(from));
  if (from['type'] !== 'BASE_TABLE' || isListTable(from)) return undefined;
  const name = String(from['table_name']);
  const cte = visible.ctes.get(foldName(name));
  if (cte) return cte.isPlain ? readInner(cte.node, cte.scope, aliasOf(from) || name) : undefined;
  return { dataset: readDatasetName(name), filter: everyEvent, scope: datasetScope(aliasOf(from) || name, visible) };
}

const aliasOf = (node: TreeNode): string => String(node['alias'] ?? '');

function readInner(node: unknown, outer: Visible, alias: string): Rows | undefined {
  if (!isNode(node) || !isNode(node['from_table']) || !passesRows(node)) return undefined;
  const visible = addCtes(node, outer);
  const rows = readRows(node['from_table'], visible);
  if (!rows) return undefined;
  const filter = allFilters([rows.filter, readWhere(node, rows.scope, visible)]);
  return {
    dataset: rows.dataset,
    filter,
    scope: outputScope(nodesOf(node['select_list']), rows.scope, { alias, visible }),
  };
}

/** Returns whether each row of a query depends on one row that it reads. */
function passesRows(node: TreeNode): boolean {
  if (node['type'] !== 'SELECT_NODE' || node['aggregate_handling'] !== 'STANDARD_HANDLING') return false;
  if (nodesOf(node['group_expressions']).length > 0 || isNode(node['having']) || isNode(node['qualify'])) return false;
  if (isNode(node['sample']) || nodesOf(node['modifiers']).some(({ type }) => type !== 'ORDER_MODIFIER')) return false;
  let passes = true;
  walkTree([node['select_list'], node['where_clause']], (inner) => {
    const name = functionName(inner);
    if (inner['class'] === 'WINDOW' || inner['class'] === 'SUBQUERY') passes = false;
    if (name !== undefined && aggregateFunctions.has(name)) passes = false;
    return passes;
  });
  return passes;
}

/** A WHERE clause can also use the names that its SELECT list defines. In an inner query, a name may be a column of the query around it. */
function readWhere(node: TreeNode, scope: Scope, { isInner }: Visible): EventFilter {
  const where = node['where_clause'];
  if (!isNode(where) || isInner) return everyEvent;
  const list = nodesOf(node['select_list']);
  return readCondition(where, (names) => {
    const inner = scope(names);
    const item = names.length === 1 ? findOutput(list, names[0]!, { onlyAliases: true }) : undefined;
    return inner && item ? [...inner, { node: item, scope }] : (inner ?? (item && [{ node: item, scope }]));
  });
}

const datasetScope =
  (alias: string, { countStep }: Visible): Scope =>
  (names) => {
    countStep();
    const column = dropAlias(names, alias);
    return [{ column }];
  };

function outputScope(
  list: readonly TreeNode[],
  inner: Scope,
  { alias, visible }: { alias: string; visible: Visible },
): Scope {
  const hasStar = list.some((item) => item['class'] === 'STAR');
  const isPlainStar = list.every((item) => item['class'] !== 'STAR' || isPlain(item));
  return (names): readonly Resolved[] | undefined => {
    visible.countStep();
    const column = dropAlias(names, alias);
    if (column.length !== 1 || !isPlainStar) return undefined;
    const item = findOutput(list, column[0]!, { onlyAliases: false });
    const named: Resolved[] = item ? [{ node: item, scope: inner }] : [];
    if (!hasStar) return item ? named : undefined;
    // With `*`, two columns may have the same name.
    const starred = inner(column);
    return starred && [...named, ...starred];
  };
}

const isPlain = (star: TreeNode): boolean =>
  ['exclude_list', 'qualified_exclude_list', 'replace_list', 'rename_list', 'relation_name', 'expr'].every((key) => {
    const value = star[key];
    return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
  }) && star['columns'] !== true;

function findOutput(
  list: readonly TreeNode[],
  name: string,
  { onlyAliases }: { onlyAliases: boolean },
): TreeNode | undefined {
  const found = list.filter((item) => {
    const columns = item['class'] === 'COLUMN_REF' && !onlyAliases ? (item['column_names'] as string[]) : [];
    return (aliasOf(item) || columns.at(-1) || '').toLowerCase() === name.toLowerCase();
  });
  return found.length === 1 ? found[0] : undefined;
}

function dropAlias(names: readonly string[], alias: string): string[] {
  const [first, ...rest] = names;
  return rest.length > 0 && first!.toLowerCase() === alias.toLowerCase() ? rest : [...names];
}

function addCtes(node: TreeNode, outer: Visible): Visible {
  const ctes = new Map(outer.ctes);
  for (const entry of nodesOf((node['cte_map'] as TreeNode | undefined)?.['map'])) {
    const { aliases, query } = entry['value'] as { aliases?: unknown; query: TreeNode };
    const isPlain = !Array.isArray(aliases) || aliases.length === 0;
    ctes.set(foldName(String(entry['key'])), {
      node: query['node'] as TreeNode,
      isPlain,
      scope: { ...outer, ctes: new Map(ctes) },
    });
  }
  return { ...outer, ctes };
}
