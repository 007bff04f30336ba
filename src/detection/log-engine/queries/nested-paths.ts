import { didYouMean } from '../../../platform/lib/text/nearest-names.ts';
import { findField, textColumn, type CatalogField } from '../../log-store/catalog/catalog.ts';
import { anySpellingSql, castSql } from '../sql/field-sql.ts';
import type { Inspection } from '../inspection/inspection.ts';
import { foldName } from '../table-names.ts';
import { coalesceSql, duck, jsonPointer, quoteIdentifier, quoteLiteral, type SqlText } from '../sql/sql-text.ts';
import { isLambda, isNode, nodesOf, walkTree, type TreeNode } from '../parse-tree.ts';

/** The expression that replaces the column reference with these names in a query. */
export type ColumnReplacement = { names: string[]; sql: SqlText };

/** A dotted name that no event ever had. `hint` returns the end of the sentence that reports it. */
export type UnknownPath = { name: string; hint: () => string };

type Names = {
  /** The columns of the datasets that the query reads. */
  fields: CatalogField[];
  /** First names, in lower case, of dotted names to replace by null, because the engine does not know them. */
  unknownHeads: ReadonlySet<string>;
};

/**
 * Returns what the dotted names of a query stand for, so that they read keys inside JSON objects: `userIdentity.userName` is an extraction with
 * the type that the catalog has for that path, and `_text.bytes` the text of the key. Names that the engine can resolve itself are left out,
 * for example `alias.column`. A path that no event ever had is null and is returned in `unknown`.
 */
export function findReplacements(
  { columns, aliases }: Pick<Inspection, 'columns' | 'aliases'>,
  names: Names,
): { replacements: ColumnReplacement[]; unknown: UnknownPath[] } {
  const unknown: UnknownPath[] = [];
  const context = { ...names, aliases: new Set(aliases), unknown };
  const replacements = columns.flatMap((column) => {
    const sql = column.length > 1 || hasOtherLetters(column[0]!) ? replacementSql(column, context) : undefined;
    return sql === undefined ? [] : [{ names: column, sql }];
  });
  return { replacements, unknown };
}

type Context = Names & { aliases: ReadonlySet<string>; unknown: UnknownPath[] };

function replacementSql(column: string[], context: Context): SqlText | undefined {
  const isQualified = column.length > 1 && context.aliases.has(column[0]!.toLowerCase());
  const [qualifier, path] = isQualified ? [column[0], column.slice(1)] : [undefined, column];
  return path.length > 1 ? pathSql(qualifier, path, context) : columnSql(qualifier, path[0]!, context);
}

const hasOtherLetters = (name: string): boolean => /[^\u0000-\u007f]/.test(name);

/** Returns the field whose name differs from a name only in the case of letters beyond ASCII, which the engine does not ignore. */
export function findRespelledField(fields: CatalogField[], name: string): CatalogField | undefined {
  const field = hasOtherLetters(name) ? findField(fields, name) : undefined;
  return field && foldName(field.name) !== foldName(name) ? field : undefined;
}

/** The column in the spelling of the catalog. A name that the query defines stays. */
function columnSql(qualifier: string | undefined, name: string, { fields, aliases }: Context): SqlText | undefined {
  const field = aliases.has(name.toLowerCase()) ? undefined : findRespelledField(fields, name);
  if (!field) return undefined;
  const prefix = qualifier === undefined ? duck`` : duck`${quoteIdentifier(qualifier)}.`;
  return duck`${prefix}${quoteIdentifier(field.name)}`;
}

function pathSql(qualifier: string | undefined, path: string[], context: Context): SqlText | undefined {
  const { fields, unknown } = context;
  const prefix = qualifier === undefined ? duck`` : duck`${quoteIdentifier(qualifier)}.`;
  if (path[0]!.toLowerCase() === textColumn) return textOfPathSql(duck`${prefix}"_event"`, path.slice(1), fields);
  const field = findField(fields, path[0]!);
  const hasObjects = field && (field.type === 'JSON' || field.nested.length > 0 || field.open);
  // Events that were flattened before they were sent have keys with dots.
  const flat = findField(fields, path.join('.'));
  if (!hasObjects) {
    if (flat) return duck`${prefix}${quoteIdentifier(flat.name)}`;
    const isUnknown = qualifier === undefined && context.unknownHeads.has(path[0]!.toLowerCase());
    if (!isUnknown && !field) return undefined;
    unknown.push({ name: path.join('.'), hint: () => didYouMean(path.join('.'), listAllPaths(fields, '')) });
    return duck`NULL`;
  }
  const column = duck`${prefix}${quoteIdentifier(field.name)}`;
  const json = field.type === 'JSON' ? column : duck`TRY_CAST(${column} AS JSON)`;
  const extraction = extractionSql(json, field, path.slice(1));
  if (extraction !== undefined)
    return flat
      ? duck`coalesce(${extraction}, TRY_CAST(${prefix}${quoteIdentifier(flat.name)} AS VARCHAR))`
      : extraction;
  if (flat) return duck`${prefix}${quoteIdentifier(flat.name)}`;
  const name = path.join('.');
  unknown.push({ name, hint: () => didYouMean(name, listAllPaths(field.nested, `${field.name}.`)) });
  return duck`NULL`;
}

/** Returns the dotted names of fields and of the fields inside them. */
function listAllPaths(fields: CatalogField[], prefix: string): string[] {
  return fields.flatMap((field) => [
    `${prefix}${field.name}`,
    ...listAllPaths(field.nested, `${prefix}${field.name}.`),
  ]);
}

function extractionSql(json: SqlText, field: CatalogField, path: string[]): SqlText | undefined {
  const found = walkPath(json, field, path);
  if (!found) return undefined;
  const { last } = found;
  const type = last?.type ?? 'VARCHAR';
  return castSql(type, valueSql(found, type === 'JSON'), last?.mixed);
}

/** The text of a key whatever its type, read from the event. A name without dots is a column, any other a column or a path. */
function textOfPathSql(event: SqlText, path: string[], fields: CatalogField[]): SqlText {
  const root: CatalogField = { name: '', keys: [], type: 'JSON', nested: fields, open: true };
  const flat = path.length > 1 ? findField(fields, path.join('.')) : undefined;
  const found = walkPath(event, root, path)!;
  const texts = [valueSql(found, false)];
  if (flat) texts.push(valueSql(walkPath(event, root, [path.join('.')])!, false));
  return coalesceSql(texts);
}

/** The location of a path's value: at the `spellings` of its last keys inside `json`. `last` is its field if the catalog lists it. */
type Location = { json: SqlText; spellings: string[][]; last: CatalogField | undefined };

const spellingsMax = 8;

/** Follows a path through the catalog, ignoring case. Returns undefined if the catalog lists all keys but not this one. */
function walkPath(json: SqlText, field: CatalogField, path: string[]): Location | undefined {
  let at: Location = { json, spellings: [[]], last: field };
  for (const name of path) {
    const next: CatalogField | undefined = at.last && findField(at.last.nested, name);
    if (at.last && !next && !at.last.open) return undefined;
    const spellings = at.spellings.flatMap((before) => (next?.keys ?? []).map((key) => [...before, key]));
    if (next && !next.anySpelling && spellings.length <= spellingsMax) at = { ...at, spellings, last: next };
    else at = { json: anySpellingSql(valueSql(at, true), name), spellings: [[]], last: next };
  }
  return at;
}

function valueSql({ json, spellings }: Location, asJson: boolean): SqlText {
  if (spellings[0]?.length === 0) return asJson ? json : duck`json_extract_string(${json}, '$')`;
  const extract = asJson ? duck`json_extract` : duck`json_extract_string`;
  return coalesceSql(spellings.map((keys) => duck`${extract}(${json}, ${quoteLiteral(jsonPointer(keys))})`));
}

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
