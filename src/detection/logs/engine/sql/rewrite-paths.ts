import { findField, textColumn, type CatalogField } from '../../catalog/catalog.ts';
import { anySpellingSql, castSql } from './field-sql.ts';
import type { ColumnUse, Inspection } from './inspect-tree.ts';
import { foldName } from './table-names.ts';
import { didYouMean } from '../../../../platform/lib/text/nearest-names.ts';
import { coalesceSql, duck, jsonPointer, quoteIdentifier, quoteLiteral, type SqlText } from './sql-text.ts';

type Edit = { from: number; to: number; text: SqlText };

/** A dotted name that no event ever had. `hint` ends the sentence that reports it. */
export type UnknownPath = { name: string; hint: string };

type Names = {
  /** The columns of the datasets that the query reads. */
  fields: CatalogField[];
  /** First names, in lower case, of dotted names to replace by null, because the engine does not know them. */
  unknownHeads: ReadonlySet<string>;
};

/**
 * Rewrites dotted names so that they read keys inside JSON objects: `userIdentity.userName` becomes an extraction with the type that the
 * catalog has for that path, and the output column keeps the last name. `_text.bytes` becomes the text of the key. Names that the engine can
 * resolve itself stay as they are, for example `alias.column`. A path that no event ever had becomes null and is returned in `unknown`.
 */
export function rewriteNestedPaths(
  sql: string,
  inspection: Inspection,
  names: Names,
): { sql: string; unknown: UnknownPath[] } {
  const unknown: UnknownPath[] = [];
  const uses = inspection.columns.filter(
    ({ names: parts, byteOffset }) => byteOffset >= 0 && (parts.length > 1 || hasOtherLetters(parts[0]!)),
  );
  if (uses.length === 0) return { sql, unknown };
  const bytes = Buffer.from(sql);
  const aliases = new Set(inspection.aliases);
  const edits = uses
    .map((use) => createEdit(bytes, use, { ...names, aliases, unknown }))
    .filter((edit) => edit !== undefined);
  let result = bytes;
  for (const { from, to, text } of edits.toSorted((a, b) => b.from - a.from)) {
    result = Buffer.concat([result.subarray(0, from), Buffer.from(text), result.subarray(to)]);
  }
  return { sql: result.toString(), unknown };
}

type Context = Names & { aliases: ReadonlySet<string>; unknown: UnknownPath[] };

function createEdit(bytes: Buffer, use: ColumnUse, context: Context): Edit | undefined {
  const isQualified = context.aliases.has(use.names[0]!.toLowerCase());
  const isDotted = use.names.length > 1;
  const [qualifier, path] = isQualified && isDotted ? [use.names[0], use.names.slice(1)] : [undefined, use.names];
  const expression = path.length > 1 ? pathSql(qualifier, path, context) : columnSql(qualifier, path[0]!, context);
  if (expression === undefined) return undefined;
  const to = findEndOfNames(bytes, use);
  if (to === undefined) return undefined;
  return {
    from: use.byteOffset,
    to,
    text: use.isOutputName && path.length > 1 ? duck`${expression} AS ${quoteIdentifier(path.at(-1)!)}` : expression,
  };
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
    unknown.push({ name: path.join('.'), hint: didYouMean(path.join('.'), listAllPaths(fields, '')) });
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
  unknown.push({ name, hint: didYouMean(name, listAllPaths(field.nested, `${field.name}.`)) });
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
