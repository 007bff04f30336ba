import { SiemError } from '../../siem/connector.ts';

/** The query asks for what no query may have: kind `query_not_allowed`, blame author. */
export function queryNotAllowed(message: string): SiemError {
  return new SiemError({ kind: 'query_not_allowed', blame: 'author', retryable: false, message });
}

/** The query is wrong as it stands: another kind that its author has to mend. */
export function authorError(kind: string, message: string): SiemError {
  return new SiemError({ kind, blame: 'author', retryable: false, message });
}

/** The engine failed for no reason of the query's: kind `engine_failed`, blame us, worth another try. */
export function engineError(message: string): SiemError {
  return new SiemError({ kind: 'engine_failed', blame: 'us', retryable: true, message });
}

export function timeoutError(timeoutMs: number): SiemError {
  return authorError('query_timeout', `The query did not end within ${timeoutMs / 1000} s.`);
}

export function cancelledError(): SiemError {
  return new SiemError({ kind: 'cancelled', blame: 'us', retryable: true, message: 'The query was cancelled.' });
}

const byPrefix: [RegExp, string][] = [
  [/^Parser Error: /, 'query_error'],
  [/^Binder Error: /, 'query_error'],
  [/^Catalog Error: /, 'query_error'],
  [/^Conversion Error: /, 'query_error'],
  [/^Invalid Input Error: /, 'query_error'],
  [/^Out of Range Error: /, 'query_error'],
  [/^Invalid Type Error: /, 'query_error'],
  [/^Mismatch Type Error: /, 'query_error'],
  [/^Not implemented Error: /i, 'query_error'],
  [/^Syntax Error: /, 'query_error'],
  [/^Expression(?: too deep)?[^:]*: /, 'query_error'],
  [/^(?:Parameter Not (?:Resolved|Allowed)|Sequence|Dependency) Error: /i, 'query_error'],
  [/^Permission Error: /, 'query_not_allowed'],
  [/^Out of Memory Error: /, 'query_memory'],
];

/** What the engine said, as a failure, and whether the engine may be used again: after anything but a plain mistake in the query it may not. */
export function readEngineError(error: unknown): { error: SiemError; poisoned: boolean } {
  if (error instanceof SiemError) return { error, poisoned: false };
  const text = error instanceof Error ? error.message : String(error);
  const found = byPrefix.find(([pattern]) => pattern.test(text));
  if (!found)
    return { error: engineError(`The query engine failed and was replaced: ${firstLines(text)}`), poisoned: true };
  const [pattern, kind] = found;
  const detail = firstLines(text.replace(pattern, ''));
  if (kind === 'query_memory')
    return { error: authorError(kind, 'The query needs more memory than a query may have.'), poisoned: true };
  return { error: authorError(kind, detail), poisoned: kind === 'query_not_allowed' };
}

// The engine quotes the statement below its message, and that is not the text that the author wrote.
function firstLines(text: string): string {
  return (text.split(/\n\s*(?:LINE \d+:|Candidate \w+:)/)[0] ?? text).trim().slice(0, 500);
}

/** The column that a binder message says is missing, with the qualifier if it has one. */
export function missingColumn(message: string): string | undefined {
  const plain = /Referenced (?:column|table) "([^"]+)" not found/.exec(message);
  if (plain) return plain[1];
  return /does not have a column named "([^"]+)"/.exec(message)?.[1];
}
