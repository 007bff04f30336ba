import { findField, type CatalogField } from '../catalog/catalog.ts';
import { toEngineType } from '../catalog/column-types.ts';
import { authorError } from './engine-failures.ts';
import type { ColumnUse, Inspection } from './inspect-tree.ts';
import { didYouMean } from '../../../platform/lib/text/nearest-names.ts';
import { quoteIdentifier, quoteLiteral, jsonPointer } from './sql-text.ts';

type Edit = { from: number; to: number; text: string };

/**
 * Makes dotted names read into JSON: `userIdentity.userName` becomes an extraction with the type that the catalogue knows for that path,
 * and names the output as the author sees it. A name that begins with a table, a CTE or an alias is left alone, as is whatever the engine
 * can resolve itself. `fields` are the columns of the datasets that the query reads.
 * Throws `unknown_column` for a path that no event ever had, naming the nearest.
 */
export function rewriteNestedPaths(sql: string, inspection: Inspection, fields: CatalogField[]): string {
  const dotted = inspection.columns.filter((use) => use.names.length > 1 && use.at >= 0);
  if (dotted.length === 0) return sql;
  const bytes = Buffer.from(sql);
  const aliases = new Set(inspection.aliases);
  const edits = dotted.map((use) => editOf(bytes, use, aliases, fields)).filter((edit) => edit !== undefined);
  let result = bytes;
  for (const { from, to, text } of edits.toSorted((a, b) => b.from - a.from)) {
    result = Buffer.concat([result.subarray(0, from), Buffer.from(text), result.subarray(to)]);
  }
  return result.toString();
}

function editOf(bytes: Buffer, use: ColumnUse, aliases: Set<string>, fields: CatalogField[]): Edit | undefined {
  const qualified = aliases.has(use.names[0]!.toLowerCase());
  const [qualifier, path] = qualified ? [use.names[0], use.names.slice(1)] : [undefined, use.names];
  if (path.length < 2) return undefined;
  const expression = expressionOf(qualifier, path, fields);
  if (expression === undefined) return undefined;
  const to = endOfNames(bytes, use);
  if (to === undefined) return undefined;
  return { from: use.at, to, text: use.bare ? `${expression} AS ${quoteIdentifier(path.at(-1)!)}` : expression };
}

function expressionOf(qualifier: string | undefined, path: string[], fields: CatalogField[]): string | undefined {
  const prefix = qualifier === undefined ? '' : `${quoteIdentifier(qualifier)}.`;
  const field = findField(fields, path[0]!);
  const holdsObjects = field && (field.type === 'JSON' || field.nested.length > 0 || field.open);
  // Events that were flattened before they came have keys with dots in them.
  const flat = findField(fields, path.join('.'));
  if (!holdsObjects) return flat ? `${prefix}${quoteIdentifier(flat.name)}` : undefined;
  const column = `${prefix}${quoteIdentifier(field.name)}`;
  const json = field.type === 'JSON' ? column : `TRY_CAST(${column} AS JSON)`;
  const extraction = extractionOf(json, field, path.slice(1));
  if (extraction !== undefined)
    return flat ? `coalesce(${extraction}, TRY_CAST(${prefix}${quoteIdentifier(flat.name)} AS VARCHAR))` : extraction;
  if (flat) return `${prefix}${quoteIdentifier(flat.name)}`;
  const known = pathsOf(field.nested, field.name);
  throw authorError('unknown_column', `No event has ${path.join('.')}${didYouMean(path.join('.'), known)}`);
}

/** The paths below a field, dotted, those that lead to objects included. */
function pathsOf(fields: CatalogField[], prefix: string): string[] {
  return fields.flatMap((field) => [`${prefix}.${field.name}`, ...pathsOf(field.nested, `${prefix}.${field.name}`)]);
}

function extractionOf(json: string, field: CatalogField, path: string[]): string | undefined {
  let spellings: string[][] = [[]];
  let at: CatalogField | undefined = field;
  for (const name of path) {
    const next: CatalogField | undefined = at && findField(at.nested, name);
    if (at && !next && !at.open) return undefined;
    const keys = next?.keys ?? [name];
    spellings = spellings.flatMap((before) => keys.map((key) => [...before, key])).slice(0, 8);
    at = next;
  }
  const type = at?.type ?? 'VARCHAR';
  const texts = spellings.map(
    (keys) =>
      `${type === 'JSON' ? 'json_extract' : 'json_extract_string'}(${json}, ${quoteLiteral(jsonPointer(keys))})`,
  );
  return castSql(
    type === 'JSON' ? 'JSON' : toEngineType(type),
    texts.length === 1 ? texts[0]! : `coalesce(${texts.join(', ')})`,
  );
}

/** A text as a value of a column's type; what does not fit is null. */
export function castSql(type: string, text: string): string {
  if (type === 'VARCHAR' || type === 'JSON') return text;
  if (type.endsWith('[]')) return `TRY_CAST(TRY_CAST(${text} AS JSON) AS ${type})`;
  return `TRY_CAST(${text} AS ${type})`;
}

/** Where the names of a column end in the text, if the text at its place is what the tree says. */
function endOfNames(bytes: Buffer, use: ColumnUse): number | undefined {
  const text = bytes.subarray(use.at).toString();
  const pattern = /\s*(?:"((?:[^"]|"")*)"|([\p{L}_][\p{L}\p{N}_$]*))/uy;
  let at = 0;
  for (const [index, name] of use.names.entries()) {
    if (index > 0) {
      const dot = /\s*\./y;
      dot.lastIndex = at;
      if (!dot.test(text)) return undefined;
      at = dot.lastIndex;
    }
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (!found || (found[1]?.replaceAll('""', '"') ?? found[2]) !== name) return undefined;
    at = pattern.lastIndex;
  }
  return use.at + Buffer.byteLength(text.slice(0, at));
}
