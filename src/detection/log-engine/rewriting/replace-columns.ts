import { isLambda, isNode, nodesOf, walkTree, type TreeNode } from '../parse-tree/tree.ts';

/** Identifies the names of a column reference. */
export const nameKey = (names: readonly string[]): string => JSON.stringify(names);

type Replacements = ReadonlyMap<string, TreeNode>;

/**
 * Returns the parse tree of a query with other expressions in place of column references. `replacements` are by the key of the names. An item
 * of a select list keeps its name, and the parameters of a lambda hide the columns of the same name.
 */
export function replaceColumns(tree: unknown, replacements: Replacements): unknown {
  if (Array.isArray(tree)) return tree.map((entry) => replaceColumns(entry, replacements));
  if (!isNode(tree)) return tree;
  if (tree['class'] === 'COLUMN_REF') {
    const replacement = replacements.get(nameKey(tree['column_names'] as string[]));
    return replacement ? { ...replacement, alias: tree['alias'] } : tree;
  }
  return Object.fromEntries(
    Object.entries(tree).map(([key, child]) => [
      key,
      key === 'select_list'
        ? nodesOf(child).map((item) => replaceItem(item, replacements))
        : replaceChild(tree, child, replacements),
    ]),
  );
}

/** A dotted name is called like its last part, which the expression in its place is not. */
function replaceItem(item: TreeNode, replacements: Replacements): unknown {
  const replaced = replaceColumns(item, replacements);
  const names = item['class'] === 'COLUMN_REF' && item['alias'] === '' ? (item['column_names'] as string[]) : [];
  return replaced !== item && names.length > 1 ? { ...(replaced as TreeNode), alias: names.at(-1) } : replaced;
}

function replaceChild(parent: TreeNode, child: unknown, replacements: Replacements): unknown {
  if (Array.isArray(child)) return child.map((one) => replaceChild(parent, one, replacements));
  if (!isNode(child) || !isLambda(child, parent)) return replaceColumns(child, replacements);
  const names = new Map<string, string>();
  walkTree(child['lhs'], (node) => {
    if (node['class'] === 'COLUMN_REF') names.set(firstName(node).toLowerCase(), `${firstName(node)} of lambda`);
    return true;
  });
  return {
    ...child,
    lhs: renameColumns(child['lhs'], names),
    expr: replaceColumns(renameColumns(child['expr'], names), replacements),
  };
}

const firstName = (column: TreeNode): string => (column['column_names'] as string[])[0]!;

/** Gives parameters names that no column has, because in `name.key` the engine prefers a column to the parameter. `names` are in lower case. */
function renameColumns(tree: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(tree)) return tree.map((entry) => renameColumns(entry, names));
  if (!isNode(tree)) return tree;
  if (tree['class'] !== 'COLUMN_REF')
    return Object.fromEntries(Object.entries(tree).map(([key, child]) => [key, renameColumns(child, names)]));
  const renamed = names.get(firstName(tree).toLowerCase());
  return renamed === undefined
    ? tree
    : { ...tree, column_names: [renamed, ...(tree['column_names'] as string[]).slice(1)] };
}
