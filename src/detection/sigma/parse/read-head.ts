import { levels, type DocumentHead, type Level } from '../model/rule.ts';
import type { SourceDocument } from './read-documents.ts';
import { SigmaError } from './sigma-error.ts';

type Fields = Record<string, unknown>;

/** Reads what all kinds of documents have. Throws a SigmaError. */
export function readHead(fields: Fields, document: SourceDocument): DocumentHead {
  return {
    id: optionalText(fields, 'id'),
    name: optionalText(fields, 'name'),
    title: requiredTitle(fields),
    status: optionalText(fields, 'status'),
    description: optionalText(fields, 'description') ?? '',
    author: authorsOf(fields),
    license: optionalText(fields, 'license'),
    date: optionalText(fields, 'date'),
    modified: optionalText(fields, 'modified'),
    references: textList(fields, 'references'),
    falsePositives: textList(fields, 'falsepositives'),
    tags: textList(fields, 'tags'),
    level: levelOf(fields),
    line: document.line,
    text: document.text,
  };
}

const isText = (value: unknown): boolean => ['string', 'number', 'bigint', 'boolean'].includes(typeof value);

export function optionalText(fields: Fields, key: string): string | null {
  const value = fields[key];
  if (value === undefined || value === null) return null;
  if (!isText(value)) throw new SigmaError([key], `${key} must be text`);
  return String(value);
}

function requiredTitle(fields: Fields): string {
  const title = optionalText(fields, 'title')?.trim();
  if (!title) throw new SigmaError([], 'title is missing');
  return title;
}

/** Returns a list of texts. A single text counts as a list of one. */
export function textList(fields: Fields, key: string): string[] {
  const value = fields[key];
  if (value === undefined || value === null) return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  const wrong = list.findIndex((entry) => entry !== null && !isText(entry));
  if (wrong >= 0) throw new SigmaError([key, wrong], `${key} must be a list of texts`);
  return list.filter((entry) => entry !== null).map(String);
}

function authorsOf(fields: Fields): string {
  return textList(fields, 'author').join(', ');
}

function levelOf(fields: Fields): Level | null {
  const level = optionalText(fields, 'level')?.toLowerCase();
  if (level === undefined) return null;
  const known = levels.find((one) => one === level);
  if (!known) throw new SigmaError(['level'], `level must be one of ${levels.join(', ')}`);
  return known;
}
