import { compileRegex } from '../../matching/compile-test.ts';
import type { TextPattern, ValueTest } from '../../matching/expression.ts';
import { UnsupportedError } from '../parse/sigma-error.ts';

const special = /[\\^$.*+?()[\]{}|/\-"'`#&~<>@%,;=!:\s\u0000-\u001f]/gu;

/**
 * Returns the characters of a text for a regular expression. Everything but letters, digits and a few harmless characters is written as a code,
 * so that no character has a meaning in the expression or in the language around it.
 */
export function escapeForRegex(text: string, code: (unit: number) => string): string {
  return text.replaceAll(special, (character) => code(character.codePointAt(0)!));
}

/** Returns a pattern as a regular expression that must match the whole value. */
export function patternToRegex(pattern: TextPattern, escape: (text: string) => string): string {
  return pattern.map((part) => ('text' in part ? escape(part.text) : part.wildcard === '*' ? '.*' : '.')).join('');
}

type RegexTest = Extract<ValueTest, { kind: 'regex' }>;

/** Returns the source of a regular expression with its flags inside. */
export const withInlineFlags = ({ source, flags }: RegexTest): string =>
  flags.length > 0 ? `(?${flags.join('')})${source}` : source;

/** Returns the test if an engine with the syntax of RE2 accepts it. Throws an UnsupportedError otherwise. */
export function requireRe2(test: RegexTest): RegexTest {
  try {
    compileRegex(test.source, test.flags);
    return test;
  } catch (error) {
    throw new UnsupportedError(
      `the regular expression ${test.source} is not valid in RE2: ${(error as Error).message}`,
    );
  }
}
