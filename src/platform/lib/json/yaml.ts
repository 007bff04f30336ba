import { Composer, Parser, type CST } from 'yaml';
import { decodeUtf8, parseJsonText } from './json-values.ts';

const aliasesMax = 20;
// One record; the library takes seconds for a million characters made to take long.
const textMaxChars = 1_000_000;
const depthMax = 64;

/** Parses JSON or YAML 1.2 in UTF-8, gzipped or not. Throws an Error that says what is wrong with it. */
export function parseJsonOrYaml(bytes: Buffer): unknown {
  const text = decodeUtf8(bytes);
  if (/^\s*[{[]/.test(text)) return parseJsonText(text);
  if (text.length > textMaxChars) throw new Error(`the document is longer than ${textMaxChars} characters`);
  const tokens = [...new Parser().parse(text)];
  refuseDeep(tokens);
  try {
    // Every scalar as it is written: a version 1.10 is no number. Errors that show their line take quadratic time.
    const [document, ...more] = new Composer({ schema: 'failsafe', prettyErrors: false, logLevel: 'silent' }).compose(
      tokens,
      true,
      text.length,
    );
    if (!document || more.length > 0 || document.errors.length > 0) throw document?.errors[0] ?? new Error('several');
    return document.toJS({ maxAliasCount: aliasesMax });
  } catch (error) {
    throw new Error('the document is neither JSON nor YAML', { cause: error });
  }
}

/** What follows descends by recursion; deep in its stack a pattern that V8 compiles there would end the whole process. */
function refuseDeep(tokens: CST.Token[]): void {
  const open: { token: CST.Token; depth: number }[] = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = open.pop(); next; next = open.pop()) {
    const { token, depth } = next;
    if (depth > depthMax) throw new Error(`the document is nested deeper than ${depthMax}`);
    const inner: (CST.Token | null | undefined)[] =
      'items' in token ? token.items.flatMap(({ key, value }) => [key, value]) : 'value' in token ? [token.value] : [];
    for (const one of inner) if (one) open.push({ token: one, depth: depth + 1 });
  }
}
