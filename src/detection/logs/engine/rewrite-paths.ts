import { findField, type CatalogField } from '../catalog/catalog.ts';
import { toEngineType } from '../catalog/column-types.ts';
import { authorError } from './engine-failures.ts';
import type { ColumnUse, Inspection } from './inspect-tree.ts';
import { didYouMean } from '../../../platform/lib/text/nearest-names.ts';
import { coalesceSql, jsonPointer, quoteIdentifier, quoteLiteral } from './sql-text.ts';

type Edit = { from: number; to: number; text: string };

/**
 * Rewrites dotted names so that they read keys inside JSON objects: `userIdentity.userName` becomes an extraction with the type that the
 * catalog has for that path, and the output column keeps the last name. Names that the engine can resolve itself stay as they are, for
 * example `alias.column`. `fields` are the columns of the datasets that the query reads.
 * Throws `unknown_column`, with the nearest paths, for a path that no event ever had.
 */
export function rewriteNestedPaths(sql: string, inspection: Inspection, fields: CatalogField[]): string {
  const dotted = inspection.columns.filter((use) => use.names.length > 1 && use.byteOffset >= 0);
  if (dotted.length === 0) return sql;
  const bytes = Buffer.from(sql);
  const aliases = new Set(inspection.aliases);
  const edits = dotted.map((use) => createEdit(bytes, use, aliases, fields)).filter((edit) => edit !== undefined);
  let result = bytes;
  for (const { from, to, text } of edits.toSorted((a, b) => b.from - a.from)) {
    result = Buffer.concat([result.subarray(0, from), Buffer.from(text), result.subarray(to)]);
  }
  return result.toString();
}

function createEdit(bytes: Buffer, use: ColumnUse, aliases: Set<string>, fields: CatalogField[]): Edit | undefined {
  const isQualified = aliases.has(use.names[0]!.toLowerCase());
  const [qualifier, path] = isQualified ? [use.names[0], use.names.slice(1)] : [undefined, use.names];
  if (path.length < 2) return undefined;
  const expression = pathSql(qualifier, path, fields);
  if (expression === undefined) return undefined;
  const to = findEndOfNames(bytes, use);
  if (to === undefined) return undefined;
  return {
    from: use.byteOffset,
    to,
    text: use.isOutputName ? `${expression} AS ${quoteIdentifier(path.at(-1)!)}` : expression,
  };
}

function pathSql(qualifier: string | undefined, path: string[], fields: CatalogField[]): string | undefined {
  const prefix = qualifier === undefined ? '' : `${quoteIdentifier(qualifier)}.`;
  const field = findField(fields, path[0]!);
  const hasObjects = field && (field.type === 'JSON' || field.nested.length > 0 || field.open);
  // Events that were flattened before they were sent have keys with dots.
  const flat = findField(fields, path.join('.'));
  if (!hasObjects) return flat ? `${prefix}${quoteIdentifier(flat.name)}` : undefined;
  const column = `${prefix}${quoteIdentifier(field.name)}`;
  const json = field.type === 'JSON' ? column : `TRY_CAST(${column} AS JSON)`;
  const extraction = extractionSql(json, field, path.slice(1));
  if (extraction !== undefined)
    return flat ? `coalesce(${extraction}, TRY_CAST(${prefix}${quoteIdentifier(flat.name)} AS VARCHAR))` : extraction;
  if (flat) return `${prefix}${quoteIdentifier(flat.name)}`;
  const name = path.join('.');
  const hint = didYouMean(name, listPaths(field.nested, field.name));
  throw authorError('unknown_column', `No event has the key ${name}${hint}`);
}

/** Returns the dotted paths below a field, including those of objects. */
function listPaths(fields: CatalogField[], prefix: string): string[] {
  return fields.flatMap((field) => [`${prefix}.${field.name}`, ...listPaths(field.nested, `${prefix}.${field.name}`)]);
}

function extractionSql(json: string, field: CatalogField, path: string[]): string | undefined {
  let spellings: string[][] = [[]];
  let current: CatalogField | undefined = field;
  for (const name of path) {
    const next: CatalogField | undefined = current && findField(current.nested, name);
    if (current && !next && !current.open) return undefined;
    const keys = next?.keys ?? [name];
    spellings = spellings.flatMap((before) => keys.map((key) => [...before, key])).slice(0, 8);
    current = next;
  }
  const type = current?.type ?? 'VARCHAR';
  const extract = type === 'JSON' ? 'json_extract' : 'json_extract_string';
  const texts = spellings.map((keys) => `${extract}(${json}, ${quoteLiteral(jsonPointer(keys))})`);
  return castSql(toEngineType(type), coalesceSql(texts));
}

/** Returns SQL that converts text to a column's type. Text that does not fit becomes null. */
export function castSql(type: string, text: string): string {
  if (type === 'VARCHAR' || type === 'JSON') return text;
  if (type.endsWith('[]')) return `TRY_CAST(TRY_CAST(${text} AS JSON) AS ${type})`;
  return `TRY_CAST(${text} AS ${type})`;
}

/** Returns the byte where a column's names end, or undefined if the text at its position differs from the parse tree. */
function findEndOfNames(bytes: Buffer, use: ColumnUse): number | undefined {
  const text = bytes.subarray(use.byteOffset).toString();
  const pattern = /\s*(?:"((?:[^"]|"")*)"|([\p{L}_][\p{L}\p{N}_$]*))/uy;
  let end = 0;
  for (const [index, name] of use.names.entries()) {
    if (index > 0) {
      const dot = /\s*\./y;
      dot.lastIndex = end;
      if (!dot.test(text)) return undefined;
      end = dot.lastIndex;
    }
    pattern.lastIndex = end;
    const match = pattern.exec(text);
    if (!match || (match[1]?.replaceAll('""', '"') ?? match[2]) !== name) return undefined;
    end = pattern.lastIndex;
  }
  return use.byteOffset + Buffer.byteLength(text.slice(0, end));
}
