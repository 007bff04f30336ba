import { Composer, Parser, type CST } from 'yaml';
import { ExternalError } from '../external-error.ts';
import { decodeUtf8, parseJsonText } from './json-values.ts';

const aliasesMax = 20;
// A document holds one record. The library takes seconds for a million hostile characters.
const textMaxChars = 1_000_000;
const depthMax = 64;

/** Parses UTF-8 JSON or YAML 1.2, gzipped or not. Throws an `ExternalError` that explains the problem. */
export function parseJsonOrYaml(bytes: Buffer): unknown {
  const text = decodeUtf8(bytes);
  if (/^\s*[{[]/.test(text)) return parseJsonText(text);
  if (text.length > textMaxChars) throw new ExternalError(`the document is longer than ${textMaxChars} characters`);
  const tokens = [...new Parser().parse(text)];
  rejectDeepNesting(tokens);
  try {
    // The failsafe schema keeps every scalar as text: version 1.10 is not a number. Pretty errors take quadratic time.
    const [document, ...more] = new Composer({ schema: 'failsafe', prettyErrors: false, logLevel: 'silent' }).compose(
      tokens,
      true,
      text.length,
    );
    if (!document || more.length > 0 || document.errors.length > 0)
      throw document?.errors[0] ?? new Error('not exactly one document');
    return document.toJS({ maxAliasCount: aliasesMax });
  } catch (error) {
    throw new ExternalError('the document is neither JSON nor YAML', { cause: error });
  }
}

/** Rejects deep nesting. The composer recurses, and a regular expression that V8 compiles deep in the stack would crash the process. */
function rejectDeepNesting(tokens: CST.Token[]): void {
  const pending: { token: CST.Token; depth: number }[] = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { token, depth } = next;
    if (depth > depthMax) throw new ExternalError(`the document is nested deeper than ${depthMax}`);
    const children: (CST.Token | null | undefined)[] =
      'items' in token ? token.items.flatMap(({ key, value }) => [key, value]) : 'value' in token ? [token.value] : [];
    for (const child of children) if (child) pending.push({ token: child, depth: depth + 1 });
  }
}
