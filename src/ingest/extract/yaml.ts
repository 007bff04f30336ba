import { parse } from 'yaml';
import { decodeUtf8, parseJsonText } from './json.ts';

const aliasesMax = 20;
const textMaxChars = 8_000_000;

/** Parses JSON or YAML 1.2 in UTF-8, gzipped or not. Throws an Error that says what is wrong with it. */
export function parseJsonOrYaml(bytes: Buffer): unknown {
  const text = decodeUtf8(bytes);
  if (/^\s*[{[]/.test(text)) return parseJsonText(text);
  if (text.length > textMaxChars) throw new Error(`the document is longer than ${textMaxChars} characters`);
  try {
    // Every scalar as it is written: a version 1.10 is no number.
    return parse(text, { maxAliasCount: aliasesMax, logLevel: 'silent', schema: 'failsafe' });
  } catch (error) {
    throw new Error('the document is neither JSON nor YAML', { cause: error });
  }
}
