import { SiemError } from '../siem/connector.ts';

/** The query uses something that queries must not use. */
export function queryNotAllowed(message: string): SiemError {
  return authorError('query_not_allowed', message);
}

/** The query is wrong, and only its author can fix it. */
export function authorError(kind: string, message: string): SiemError {
  return new SiemError({ kind, blame: 'author', retryable: false, message });
}

/** Like `authorError`, for a failure that may depend on the columns and their types, which come from the events. */
export function dataDependentError(kind: string, message: string): SiemError {
  return new SiemError({ ...authorError(kind, message).failure, dependsOnData: true });
}

/** The engine rejected a value of an event, for example in a conversion. The query is correct, and other events do not have the value. */
export function dataError(error: unknown): SiemError {
  const detail = firstLines(messageOf(error).replace(valueErrors, ''));
  const message = `A value in the logs cannot be processed: ${detail}`;
  return new SiemError({ kind: 'data_error', blame: 'data', retryable: false, message });
}

/** The engine failed for a reason unrelated to the query, which can be retried. */
export function engineError(message: string): SiemError {
  return new SiemError({ kind: 'engine_failed', blame: 'service', retryable: true, message });
}

export function timeoutError(timeoutMs: number): SiemError {
  return dataDependentError(
    'query_timeout',
    `The query did not finish within ${timeoutMs / 1000} s. Read fewer events or simplify it.`,
  );
}

export function memoryError(): SiemError {
  return dataDependentError('query_memory', 'The query needs more memory than allowed. Read fewer columns or groups.');
}

export function cancelledError(): SiemError {
  return new SiemError({ kind: 'cancelled', blame: 'service', retryable: true, message: 'The query was cancelled.' });
}

const valueErrors = /^(?:Conversion|Invalid Input|Out of Range) Error: /i;
const typeErrors = /explicit (?:type )?cast|^Binder Error: Cannot (?:compare|mix|combine|extract)|not a struct/;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Returns whether the engine rejected a value. */
export const isValueError = (error: unknown): boolean =>
  !(error instanceof SiemError) && valueErrors.test(messageOf(error));

/** Returns whether the engine rejected the type of an operand, which may be that of a column and so depend on the data. */
export const isTypeError = (error: unknown): boolean =>
  !(error instanceof SiemError) && typeErrors.test(messageOf(error));

const byPrefix: [RegExp, string][] = [
  [
    /^(?:Parser|Binder|Catalog|Conversion|Syntax|Sequence|Dependency|Parameter Not (?:Resolved|Allowed)) Error: /i,
    'query_error',
  ],
  [/^(?:Invalid Input|Out of Range|(?:Invalid|Mismatch) Type|Not implemented) Error: /i, 'query_error'],
  [/^Expression(?: too deep)?[^:]*: /, 'query_error'],
  [/^Permission Error: /, 'query_not_allowed'],
  [/^Out of Memory Error: /, 'query_memory'],
  // A vector that is larger than the engine can describe.
  [/^INTERNAL Error: Requested allocation size/, 'query_memory'],
];

// Errors of the text of a query, whatever the columns are.
const textErrors = /^(?:Parser|Catalog|Syntax) Error: |^Expression/i;

/** Converts an engine error. Any but an ordinary mistake in the query sets `mustReplaceEngine`: the state is unknown. */
export function readEngineError(error: unknown): { error: SiemError; mustReplaceEngine: boolean } {
  if (error instanceof SiemError) return { error, mustReplaceEngine: false };
  const text = messageOf(error);
  const known = byPrefix.find(([pattern]) => pattern.test(text));
  if (!known)
    return {
      error: engineError(`The query engine failed and was restarted: ${firstLines(text)}`),
      mustReplaceEngine: true,
    };
  const [pattern, kind] = known;
  const detail = firstLines(text.replace(pattern, ''));
  if (kind === 'query_memory') return { error: memoryError(), mustReplaceEngine: true };
  // A new event can make a name ambiguous or change the type of an operand.
  const create = textErrors.test(text) || kind === 'query_not_allowed' ? authorError : dataDependentError;
  return { error: create(kind, detail), mustReplaceEngine: kind === 'query_not_allowed' };
}

// Below its message, the engine quotes the generated statement, which is not the text that the author wrote.
function firstLines(text: string): string {
  return (text.split(/\n\s*(?:LINE \d+:|Candidate \w+:)/)[0] ?? text).trim().slice(0, 500);
}

/** Returns the missing column that a binder error reports, or undefined for other errors. */
export function missingColumn(message: string): string | undefined {
  const referenced = /Referenced (?:column|table) "([^"]+)" not found/.exec(message);
  if (referenced) return referenced[1];
  // `SELECT lower(a) AS a`: without a column, the name would stand for its own item of the list.
  const itself = /Column "([^"]+)" referenced that exists in the SELECT clause/.exec(message);
  if (itself) return itself[1];
  return /does not have a column named "([^"]+)"/.exec(message)?.[1];
}
