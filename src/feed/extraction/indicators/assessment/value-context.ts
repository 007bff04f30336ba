import { findMatches } from '../../text/find-matches.ts';
import { lowerBound } from '../refang-text.ts';

/** The context of a value: its section, whether it fills its line or cell, and whether it is a link target. */
export type ValueContext = {
  section: 'indicators' | 'references' | 'legitimate' | 'plain';
  heading: string;
  isolated: boolean;
  linked: boolean;
  /** Whether the value is in a column of descriptions or comments of a table. */
  isDescription: boolean;
  /** Whether the value is in a column of victims, or of originals that attackers imitate. */
  isBystander: boolean;
};

const headingMaxChars = 110;
const indicatorsHeading =
  /\b(?:indicators?|iocs?|c&c|c2|c2s|command[- ]and[- ]control|network|hash(?:es)?|samples?|sha-?(?:1|256)|md5|domains?|ip(?:v4)?(?: address(?:es)?)?|urls?|file\s?names?|files|registry|mutex(?:es)?|servers?|infrastructure|appendix|observables)\b/i;
const referencesHeading =
  /^(?:references?|further reading|related\b.{0,60}|see also|(?:additional |further |other |external )?sources?(?: of (?:information|indicators?(?: of compromise)?|iocs?))?|supporting evidence|about (?:us|the authors?)|read more|share (?:this|on)\b.{0,30}|tags?|external links|bibliography|footnotes|(?:additional )?resources|subscribe\b.{0,40}|follow us\b.{0,40}|contact(?: us)?|navigation|menu|recommended\b.{0,40}|popular posts|recent posts|comments|leave a reply|acknowledge?ments)$/i;
const legitimateHeading =
  /^(?!.*\b(?:abus|misus|compromis|hijack|leverag|mimic|impersonat|masquerad|disguis))(?=.*\b(?:legitimate|benign|clean|not malicious|false positives?)\b)|\b(?:do not|don['’]t|never) block\b/i;
/** Lines that count as headings without markup. */
const plainHeading =
  /^(?:sigma(?: rules?)?|yara(?: rules?)?|snort(?: rules?)?|suricata|detections?|mitigations?|recommendations?|conclusions?|(?:executive )?summary|timeline|introduction|overview|analysis|background|mitre(?: att&ck)?.{0,30}|(?:appendix\b.{0,40}[:–-]\s*)?(?:network |file |host |host-based |network-based )?(?:indicators? of compromise|indicators?|iocs?)(?:\s*\(iocs?\))?|c2 servers?|c&c servers?|command and control(?: servers?)?|hashes|samples|file hashes|domains|urls|ip addresses)\s*:?$/i;

/** A heading of two to six words in capitals. Sentences of ransom notes are also in capitals, but contain verbs and pronouns. */
const capitalHeading =
  /^(?!.*\b(?:YOUR?|ARE|IS|WAS|HAVE|HAS|WE|ALL|DO|NOT)\b)[A-Z][A-Z&']{1,20}(?: [A-Z0-9&/()'-]{1,20}){1,5}:?$/;

export type ContextLookup = (start: number, end: number) => ValueContext;

type Section = { kind: ValueContext['section']; heading: string };

/** Indexes the lines and sections of a refanged text and returns a lookup by offset. */
export function createContextLookup(text: string): ContextLookup {
  const starts: number[] = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  const lineAt = (line: number): string => text.slice(starts[line]!, (starts[line + 1] ?? text.length + 1) - 1);
  const sections = indexSections(starts, lineAt, text.length);
  const findColumn = createColumnLookup(lineAt);
  const isFootnote = createFootnoteLookup(text);
  return (start, end) => {
    const line = lowerBound(starts, start + 1) - 1;
    const lineEnd = (starts[line + 1] ?? text.length + 1) - 1;
    const { kind, heading } = sections[line]!;
    const column = findColumn(line, start - starts[line]!);
    return {
      section: kind,
      heading,
      isolated: isIsolated(text, { start, end, lineStart: starts[line]!, lineEnd }),
      linked:
        isLinked(text, start, end) ||
        isCited(text, starts[line]!, start) ||
        (kind !== 'indicators' && isFootnote(starts[line]!, start)),
      isDescription: column === 'description',
      isBystander: column === 'bystander',
    };
  };
}

const topicalHeading = /\b(?:indicators?|iocs?)\b/i;

/** Returns the section of each line. A plain heading below one of indicators continues it: `== Network indicators`, `=== Repositories`. */
function indexSections(starts: readonly number[], lineAt: (line: number) => string, length: number): Section[] {
  const sections: Section[] = [];
  let current: Section = { kind: 'plain', heading: '' };
  let topicLevel = 0;
  for (let line = 0; line < starts.length; line += 1) {
    const chars = (starts[line + 1] ?? length + 1) - 1 - starts[line]!;
    const printed = chars <= headingMaxChars ? lineAt(line) : '';
    const heading = printed === '' ? undefined : findHeading(printed);
    if (heading !== undefined) {
      const level = /^\s{0,3}([=#]{2,6})\s/.exec(printed)?.[1]!.length ?? 0;
      let kind = classifyHeading(heading);
      if (topicLevel > 0 && level > topicLevel) kind = kind === 'plain' ? 'indicators' : kind;
      else topicLevel = kind === 'indicators' && topicalHeading.test(heading) ? level : 0;
      current = { kind, heading };
    }
    sections.push(current);
  }
  return sections;
}

/** Returns the text of a heading: AsciiDoc or Markdown markup, a bold line, a block title, or a known heading without markup. */
function findHeading(line: string): string | undefined {
  if (/^[\s=#*.]/.test(line)) {
    const marked = /^\s{0,3}(?:={1,6}|#{1,6})\s+(\S.*?)\s*#*$/.exec(line) ?? /^\*\*([^*]{2,80})\*\*:?\s*$/.exec(line);
    if (marked) return marked[1]!;
    const titled = /^\.([A-Z][^.]{2,80})$/.exec(line.trim());
    if (titled) return titled[1]!;
  }
  const plain = line.trim();
  if (/^[A-Z][A-Z&']/.test(plain) && capitalHeading.test(plain)) return plain;
  // Cheap check: most list lines start with characters that no such heading starts with.
  if (plain.length < 4 || plain.length > 70 || !/^[a-z(][a-z2&]/i.test(plain)) return undefined;
  return plainHeading.test(plain) || referencesHeading.test(plain) ? plain : undefined;
}

function classifyHeading(heading: string): ValueContext['section'] {
  const text = heading.replace(/[:.]$/, '');
  if (referencesHeading.test(text)) return 'references';
  if (legitimateHeading.test(text)) return 'legitimate';
  return indicatorsHeading.test(text) ? 'indicators' : 'plain';
}

// Bits: 1 for list, table and code marks allowed before a value, 2 for those allowed after it, 4 for marks that delimit a cell.
const markBits = new Uint8Array(128);
for (const char of ' \r\t*-+>"\'`\\|') markBits[char.charCodeAt(0)]! |= 1;
for (const char of ' \r\t"\'`,;.:\\|(') markBits[char.charCodeAt(0)]! |= 2;
for (const char of '`|\t') markBits[char.charCodeAt(0)]! |= 4;
const marksMax = 160;
const markOf = (code: number): number =>
  code < 128 ? markBits[code]! : code === 0x2022 || code === 0x2013 || code === 0xa0 ? 3 : 0;

/** Returns whether a value fills its line, cell or code span, apart from list and table marks. */
function isIsolated(text: string, at: { start: number; end: number; lineStart: number; lineEnd: number }): boolean {
  let left = at.start - 1;
  let edge = 0;
  for (; left >= at.lineStart && at.start - left < marksMax; left -= 1) {
    const mark = markOf(text.charCodeAt(left));
    if ((mark & 1) === 0) break;
    edge |= mark;
  }
  if (
    left >= at.lineStart &&
    (edge & 4) === 0 &&
    !isLabelled(text.slice(at.lineStart, Math.min(at.start, at.lineStart + 30)), at)
  )
    return false;
  let right = at.end;
  for (edge = 0; right < at.lineEnd && right - at.end < marksMax; right += 1) {
    const code = text.charCodeAt(right);
    const mark = markOf(code);
    if ((mark & 2) === 0) break;
    edge |= mark;
    if (code === 0x28) return true;
  }
  return right >= at.lineEnd || (edge & 4) > 0 || /^ [-–] /.test(text.slice(at.end, at.end + 3));
}

/** Accepts `1.` or `Name:` at the start of a line. */
const isLabelled = (lead: string, at: { start: number; lineStart: number }): boolean =>
  at.start - at.lineStart <= 28 && /^\s*(?:\d{1,3}[.)]|[\p{L}\p{M}\d_ ()（）-]{2,24}[:：])\s*["'`]?$/u.test(lead);

/** Recognizes an entry of a reference list: `[12] Title. https://…`. */
const isCited = (text: string, lineStart: number, start: number): boolean =>
  text.charCodeAt(lineStart) === 0x5b &&
  /^\[\^?\d{1,3}\]:?\s/.test(text.slice(lineStart, Math.min(start, lineStart + 8)));

/** Marks of footnotes in a text: `word[1]`, `word¹`. */
const footnoteMark = /[\p{L}\d.,)"”’]\[(\d{1,2})\]|[\p{L}.,)"”’]([¹²³⁴-⁹]{1,2})/gu;
const footnoteLine = /^\s*(?:(\d{1,2})[.):]?|([¹²³⁴-⁹]{1,2}))\s/;

/** Returns a check for entries of a numbered list whose numbers occur as marks in the text: `1. https://…` for `word[1]`. */
function createFootnoteLookup(text: string): (lineStart: number, start: number) => boolean {
  let marks: Set<string> | undefined;
  return (lineStart, start) => {
    const entry = footnoteLine.exec(text.slice(lineStart, Math.min(start, lineStart + 8)));
    if (!entry) return false;
    marks ??= new Set(findMatches(footnoteMark, text).map(([, number, raised]) => number ?? raised!));
    return marks.has(entry[1] ?? entry[2]!);
  };
}

/** Recognizes link targets: AsciiDoc `http://…[text]`, Markdown `[text](http://…)`, `href="…"`. */
function isLinked(text: string, start: number, end: number): boolean {
  if (text.charCodeAt(end) === 0x5b) return true;
  const last = text.charCodeAt(start - 1);
  // Cheap check: a bracket, a quote, an equals sign or a colon must come before the value.
  if (last !== 0x28 && last !== 0x22 && last !== 0x27 && last !== 0x3d && last !== 0x3a) return false;
  const before = text.slice(Math.max(0, start - 8), start);
  return /\]\($|href=["']?$|link:$/i.test(before);
}

const descriptionHeader =
  /^(?:descri|comment|note|detail|context|remark|explanation|purpose|info|beschreibung|bemerkung|anmerkung|kommentar|hinweis|observa|coment|descrip|nota|detalle|detalhe|contexte|remarque|dettagli|opis|komentarz|описание|комментари|примечани|опис|коментар|примітк|说明|說明|描述|备注|備註|備考|説明|概要|설명|비고)/i;

/** Columns of victims, and of originals that attackers imitate: `Legitimate domain`. */
const bystanderHeader =
  /^(?:(?:legit|legitimate|genuine|authentic|official|real)(?: (?:sites?|web ?sites?|domains?|urls?|services?|brands?|hosts?))?|(?:impersonated|imitated|targeted) (?:brands?|sites?|compan(?:y|ies)|organi[sz]ations?)|victims?(?: (?:site|domain|organi[sz]ation|company|name))?|brands?)$/i;

const imitationHeader = /\b(?:look-?alikes?|fake|typo\w*|spoof\w*|imitations?|phishing)\b/i;
const isOriginal = (header: string): boolean => /^originals?(?: (?:site|domain|brand))?$/i.test(header);

type ColumnKind = 'description' | 'bystander';

const isRow = (line: string): boolean => /[\t|]/.test(line);

/** Returns the offsets of the separators between the cells of a row. */
function findSeparators(row: string): number[] {
  const separator = row.includes('\t') ? '\t' : '|';
  const offsets: number[] = [];
  const lead = /^\s*\|/.exec(row)?.[0].length ?? 0;
  for (let at = row.indexOf(separator, lead); at >= 0; at = row.indexOf(separator, at + 1)) offsets.push(at);
  return offsets;
}

/** `table` is the line of the first row of the table, which has the headers. */
type Row = { table: number; separators: number[] };

/** Returns a lookup of the kind of the column of a value. Each line is read once, because it can have thousands of values. */
function createColumnLookup(
  lineAt: (line: number) => string,
): (line: number, offset: number) => ColumnKind | undefined {
  const rows = new Map<number, Row | undefined>();
  const columnsByTable = new Map<number, ReadonlyMap<number, ColumnKind>>();
  const readRow = (line: number): Row | undefined => {
    const text = lineAt(line);
    if (!isRow(text)) return undefined;
    let table = line;
    while (table > 0 && isRow(lineAt(table - 1))) {
      const last = rows.get(table - 1);
      table = last?.table ?? table - 1;
      if (last) break;
    }
    return { table, separators: findSeparators(text) };
  };
  return (line, offset) => {
    if (!rows.has(line)) rows.set(line, readRow(line));
    const row = rows.get(line);
    if (!row || row.table === line) return undefined;
    let columns = columnsByTable.get(row.table);
    if (!columns) columnsByTable.set(row.table, (columns = findColumns(lineAt(row.table))));
    return columns.size > 0 ? columns.get(lowerBound(row.separators, offset)) : undefined;
  };
}

function findColumns(headers: string): ReadonlyMap<number, ColumnKind> {
  const ends = [...findSeparators(headers), headers.length];
  const columns = new Map<number, ColumnKind>();
  for (const [index, end] of ends.entries()) {
    const header = headers
      .slice(index === 0 ? 0 : ends[index - 1]! + 1, end)
      .replaceAll(/[*_`|]/g, '')
      .trim();
    if (descriptionHeader.test(header)) columns.set(index, 'description');
    else if (bystanderHeader.test(header) || (isOriginal(header) && imitationHeader.test(headers)))
      columns.set(index, 'bystander');
  }
  return columns;
}
