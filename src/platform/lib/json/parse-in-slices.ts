import { startSlices } from '../concurrency/slices.ts';

/** `depth`: levels of lists and objects. `elements`: of one list. `fields`: of one object. */
export type JsonLimits = { depthMax: number; elementsMax: number; fieldsMax: number };

/** The document exceeds a limit. `pointer` is the JSON pointer of the value that does. */
export class JsonLimitError extends Error {
  readonly limit: keyof JsonLimits;
  readonly pointer: string;
  constructor(limit: keyof JsonLimits, pointer: string) {
    super(`${limit} is exceeded at ${pointer}`);
    this.limit = limit;
    this.pointer = pointer;
  }
}

type Container =
  | { kind: 'list'; value: unknown[]; count: number }
  | { kind: 'object'; value: Record<string, unknown>; key: string; count: number };

/** Texts are decoded in pieces of this many characters. */
const pieceLength = 262_144;
const stepsPerCheck = 256;
const [quote, comma, colon, openList, closeList, openObject, closeObject] = [0x22, 0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d];

/** A document that is being read. `at` is the position of the next character, `containers` are the open ones from outside to inside. */
type Reader = {
  text: string;
  at: number;
  containers: Container[];
  limits: JsonLimits;
  nextSlice: ReturnType<typeof startSlices>;
};

/** A value that was read to its end. */
type ReadValue = { value: unknown };

/**
 * Returns what `JSON.parse` returns, in slices between which the event loop serves other requests. Throws a SyntaxError for invalid JSON, and a
 * JsonLimitError if the text exceeds a limit. Iterative, so that nesting cannot overflow the stack.
 */
export async function parseJsonInSlices(text: string, limits: JsonLimits): Promise<unknown> {
  const reader: Reader = { text, at: skipSpace(text, 0), containers: [], limits, nextSlice: startSlices() };
  for (let steps = 1; ; steps += 1) {
    let done = await readStart(reader);
    while (done) {
      reader.at = skipSpace(text, reader.at);
      const container = reader.containers.at(-1);
      if (!container) return endDocument(reader, done);
      addMember(container, done.value, reader);
      done = endMember(reader, container);
      if (!done && container.kind === 'object') await readKey(reader, container);
    }
    const pause = steps % stepsPerCheck === 0 ? reader.nextSlice() : undefined;
    if (pause) await pause;
  }
}

/** Reads a value without members, or the start of a container. Returns undefined in the latter case. */
async function readStart(reader: Reader): Promise<ReadValue | undefined> {
  const code = reader.text.charCodeAt(reader.at);
  if (code === quote) return { value: await readText(reader) };
  if (code !== openList && code !== openObject) return readScalar(reader);
  const container: Container =
    code === openList ? { kind: 'list', value: [], count: 0 } : { kind: 'object', value: {}, key: '', count: 0 };
  openContainer(reader, container);
  if (reader.text.charCodeAt(reader.at) === closing(container)) return closeContainer(reader, container);
  if (container.kind === 'object') await readKey(reader, container);
  return undefined;
}

function readScalar(reader: Reader): ReadValue {
  const end = readScalarEnd(reader.text, reader.at);
  const value: unknown = JSON.parse(reader.text.slice(reader.at, end));
  reader.at = end;
  return { value };
}

async function readText(reader: Reader): Promise<string> {
  const { text } = reader;
  const pieces: string[] = [];
  let from = reader.at + 1;
  for (;;) {
    const to = scanText(text, from, Math.min(from + pieceLength, text.length));
    pieces.push(JSON.parse(`"${text.slice(from, to)}"`) as string);
    from = to;
    if (isTextDone(text, to)) break;
    const pause = reader.nextSlice();
    if (pause) await pause;
  }
  reader.at = from + 1;
  return pieces.length === 1 ? pieces[0]! : pieces.join('');
}

/** Reads a key and its colon. */
async function readKey(reader: Reader, object: Extract<Container, { kind: 'object' }>): Promise<void> {
  const { text } = reader;
  if (text.charCodeAt(reader.at) !== quote) throw new SyntaxError(`A key is missing at ${reader.at}.`);
  object.key = await readText(reader);
  reader.at = skipSpace(text, reader.at);
  if (text.charCodeAt(reader.at) !== colon) throw new SyntaxError(`A colon is missing at ${reader.at}.`);
  reader.at = skipSpace(text, reader.at + 1);
}

function openContainer(reader: Reader, container: Container): void {
  const { containers, limits } = reader;
  if (containers.length >= limits.depthMax) throw new JsonLimitError('depthMax', pointerTo(containers));
  containers.push(container);
  reader.at = skipSpace(reader.text, reader.at + 1);
}

function closeContainer(reader: Reader, { value }: Container): ReadValue {
  reader.at += 1;
  reader.containers.pop();
  return { value };
}

/** Reads the end of the container or the comma behind a member. Returns undefined in the latter case. */
function endMember(reader: Reader, container: Container): ReadValue | undefined {
  const code = reader.text.charCodeAt(reader.at);
  if (code === closing(container)) return closeContainer(reader, container);
  if (code !== comma) throw new SyntaxError(`A comma is missing at ${reader.at}.`);
  reader.at = skipSpace(reader.text, reader.at + 1);
  return undefined;
}

function endDocument({ text, at }: Reader, { value }: ReadValue): unknown {
  if (at < text.length) throw new SyntaxError(`The JSON text ends at ${at}.`);
  return value;
}

const closing = ({ kind }: Container): number => (kind === 'list' ? closeList : closeObject);

function addMember(container: Container, value: unknown, { containers, limits }: Reader): void {
  container.count += 1;
  const limit = container.kind === 'list' ? 'elementsMax' : 'fieldsMax';
  if (container.count > limits[limit]) throw new JsonLimitError(limit, pointerTo(containers.slice(0, -1)));
  if (container.kind === 'list') container.value.push(value);
  // Assigning this key would change the prototype.
  else if (container.key === '__proto__')
    Object.defineProperty(container.value, container.key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  else container.value[container.key] = value;
}

/** Returns the JSON pointer of the member that the innermost container is reading. */
const pointerTo = (containers: readonly Container[]): string =>
  containers
    .map((container) => (container.kind === 'list' ? String(container.count) : escapePointer(container.key)))
    .map((part) => `/${part}`)
    .join('');

/** Escapes a key for a JSON pointer (RFC 6901). */
export const escapePointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

const [space, tab, newline, carriageReturn] = [0x20, 0x09, 0x0a, 0x0d];
const [backslash, letterU] = [0x5c, 0x75];
const scalarEnds = new Set([...',]}:"[{ \t\n\r'].map((character) => character.charCodeAt(0)));
/** The longest number or word that is accepted. */
const scalarLengthMax = 1_000;

/** Returns the position of the first character that is not white space. */
function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== space && code !== newline && code !== tab && code !== carriageReturn) return at;
    at += 1;
  }
}

/** Returns the end of a number or word. Throws a SyntaxError if it is empty or too long. */
function readScalarEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && at - from <= scalarLengthMax && !scalarEnds.has(text.charCodeAt(at))) at += 1;
  if (at === from || at - from > scalarLengthMax) throw new SyntaxError(`There is no value at ${from}.`);
  return at;
}

/** Returns the position of the quote that ends a text, or where to continue if that is at `to` or later: never inside of an escape. */
function scanText(text: string, from: number, to: number): number {
  let at = from;
  while (at < to) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code !== backslash) at += 1;
    else at += text.charCodeAt(at + 1) === letterU ? 6 : 2;
  }
  if (at >= text.length) throw new SyntaxError('A text does not end.');
  return at;
}

const isTextDone = (text: string, at: number): boolean => text.charCodeAt(at) === quote;
