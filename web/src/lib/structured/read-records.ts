import type { Field } from './fields.ts';
import { readJson } from './read-json.ts';
import { readLines } from './read-lines.ts';

/** The fields of each object of a structured document, or null for prose. */
export type Records = Field[][] | null;

/** Reads the text of an item as a structured document, if it is one. */
export const readRecords = (text: string): Records => (/^\s*[[{]/.test(text) ? readJson(text) : readLines(text));
