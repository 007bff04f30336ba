import { isNull, nodesOf, operandsOf, walkTree, type TreeNode } from '../parse-tree/tree.ts';

/**
 * Returns the dotted names that a query reads only as alternatives, in lower case and without the table: as an operand of `coalesce` that has
 * another column or NULL beside it. Elsewhere, a name that the query defines stands for that. `aliases` are the names that it defines.
 */
export function listOptionalColumns(tree: unknown, aliases: readonly string[]): string[] {
  const defined = new Set(aliases);
  const optional = new Set<string>();
  const required = new Set<string>();
  const nameOf = (names: readonly string[]): string =>
    (names.length > 1 && defined.has(names[0]!.toLowerCase()) ? names.slice(1) : names).join('.').toLowerCase();
  const visit = (value: unknown): void =>
    walkTree(value, (node) => {
      if (node['class'] === 'COLUMN_REF') {
        const names = node['column_names'] as string[];
        if (names.length > 1 || !defined.has(names[0]!.toLowerCase())) required.add(nameOf(names));
      }
      if (node['type'] !== 'OPERATOR_COALESCE') return true;
      const operands = operandsOf(node);
      const columns = operands.map(findColumn);
      const isChoice = operands.filter((operand, index) => columns[index] || isNull(operand)).length > 1;
      for (const [index, operand] of operands.entries()) {
        if (isChoice && columns[index]) optional.add(nameOf(columns[index]));
        else visit(operand);
      }
      return false;
    });
  visit(tree);
  return [...optional].filter((name) => !required.has(name));
}

/** Returns the names of the column that an expression converts, if it does nothing else. */
function findColumn(node: TreeNode): string[] | undefined {
  if (node['class'] === 'COLUMN_REF') return node['column_names'] as string[];
  const children = node['class'] === 'CAST' ? nodesOf([node['child']]) : operandsOf(node);
  const isConversion = node['class'] === 'CAST' || node['type'] === 'OPERATOR_TRY' || node['class'] === 'FUNCTION';
  return isConversion && children.length === 1 ? findColumn(children[0]!) : undefined;
}
