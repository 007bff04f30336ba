import { historySuffix } from '../../log-store/catalog/catalog.ts';
import { aggregateFunctions } from '../sql/allowed-functions.ts';
import { functionName, isNode, nodesOf, walkTree, type TreeNode } from '../parse-tree.ts';
import { foldName } from '../table-names.ts';
import type { OutputColumn } from './output-columns.ts';

/** What a query reads and returns, and its parse tree, which `inspectTree` has accepted. */
type InspectedTree = {
  tree: TreeNode;
  tables: readonly string[];
  parameters: readonly string[];
  outputs: readonly OutputColumn[];
};

/**
 * Returns the part of a query because of which it is no filter over single events, as the end of the sentence "The query …", or null if each of its
 * rows depends on one event of one dataset, whatever the window, and has the ID of this event.
 */
export function findCrossEventPart({ tree, tables, parameters, outputs }: InspectedTree): string | null {
  const history = tables.find((name) => name.endsWith(historySuffix));
  if (history !== undefined) return `reads the history of a dataset (${history})`;
  if (tables.length !== 1) return describeDatasets(tables);
  const [parameter] = parameters;
  if (parameter !== undefined) return `depends on the window ($${parameter})`;
  const part = findPart(tree['statements']);
  if (part !== null) return part;
  return describeMissingId(outputs);
}

/** Returns why a correlation cannot be examined whenever events of its dataset arrive, like `findCrossEventPart`. */
export const findCorrelationPart = ({ outputs }: { outputs: readonly OutputColumn[] }, datasets: readonly string[]) =>
  datasets.length === 1 ? describeMissingId(outputs) : describeDatasets(datasets);

const describeDatasets = (names: readonly string[]): string =>
  names.length === 0 ? 'reads no dataset' : `reads several datasets (${names.join(', ')})`;

const describeMissingId = (outputs: readonly OutputColumn[]): string | null =>
  outputs.some((output) => 'star' in output || output.name === '_id')
    ? null
    : 'does not return the ID of the event (_id)';

/** Returns the first part below a value that combines events. */
function findPart(value: unknown): string | null {
  let found: string | null = null;
  walkTree(value, (node) => {
    if (found !== null || readsNoEvent(node)) return false;
    found = describePart(node);
    return found === null;
  });
  return found;
}

/** Returns whether a node is a subquery that reads no table, such as one over the entries of a list of the same event. */
function readsNoEvent(node: TreeNode): boolean {
  if (node['class'] !== 'SUBQUERY') return false;
  let readsTable = false;
  walkTree(Object.values(node), (inner) => {
    readsTable ||= inner['type'] === 'BASE_TABLE';
    return !readsTable;
  });
  return !readsTable;
}

function describePart(node: TreeNode): string | null {
  if (node['class'] === 'WINDOW') return `has a window function (${foldName(String(node['function_name']))})`;
  if (node['class'] === 'SUBQUERY') return 'compares events with a subquery';
  const name = functionName(node);
  if (name !== undefined && aggregateFunctions.has(name)) return `groups events (${name})`;
  switch (node['type']) {
    case 'JOIN':
      return isListOfEvent(node['right']) ? null : 'joins events (JOIN)';
    case 'SET_OPERATION_NODE':
      if (node['setop_all'] === true && String(node['setop_type']).startsWith('UNION')) return null;
      return `compares events (${node['setop_type'] === 'UNION' ? 'UNION without ALL' : String(node['setop_type'])})`;
    case 'RECURSIVE_CTE_NODE':
      return 'is recursive';
    case 'DISTINCT_MODIFIER':
      return 'removes duplicates (DISTINCT)';
    case 'LIMIT_MODIFIER':
    case 'LIMIT_PERCENT_MODIFIER':
      return 'limits its rows (LIMIT)';
    case 'SELECT_NODE':
      return nodesOf(node['group_expressions']).length > 0 || node['aggregate_handling'] === 'FORCE_AGGREGATES'
        ? 'groups events (GROUP BY)'
        : null;
    default:
      return null;
  }
}

/** Returns whether a FROM clause is a table function, such as `unnest` of a list. */
const isListOfEvent = (from: unknown): boolean => isNode(from) && from['type'] === 'TABLE_FUNCTION';
