import { startSlices } from '../concurrency/slices.ts';
import { isTextDone, readScalarEnd, scanText, skipSpace } from './scan-json.ts';

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

/**
 * Returns what `JSON.parse` returns, in slices between which the event loop serves other requests. Throws a SyntaxError for invalid JSON, and a
 * JsonLimitError if the text exceeds a limit. Iterative, so that nesting cannot overflow the stack.
 */
export async function parseJsonInSlices(text: string, limits: JsonLimits): Promise<unknown> {
  const nextSlice = startSlices();
  const containers: Container[] = [];
  let at = skipSpace(text, 0);
  let steps = 0;

  /** Reads a key and its colon. */
  async function readKey(object: Extract<Container, { kind: 'object' }>): Promise<void> {
    if (text.charCodeAt(at) !== quote) throw new SyntaxError(`A key is missing at ${at}.`);
    object.key = await readText();
    at = skipSpace(text, at);
    if (text.charCodeAt(at) !== colon) throw new SyntaxError(`A colon is missing at ${at}.`);
    at = skipSpace(text, at + 1);
  }
  async function readText(): Promise<string> {
    const pieces: string[] = [];
    let from = at + 1;
    for (;;) {
      const to = scanText(text, from, Math.min(from + pieceLength, text.length));
      pieces.push(JSON.parse(`"${text.slice(from, to)}"`) as string);
      from = to;
      if (isTextDone(text, to)) break;
      const pause = nextSlice();
      if (pause) await pause;
    }
    at = from + 1;
    return pieces.length === 1 ? pieces[0]! : pieces.join('');
  }
  function open(container: Container): void {
    if (containers.length >= limits.depthMax) throw new JsonLimitError('depthMax', pointerTo(containers));
    containers.push(container);
    at = skipSpace(text, at + 1);
  }
  /** Reads a value without members, or the start of a container. Returns undefined in the latter case. */
  async function readStart(): Promise<{ value: unknown } | undefined> {
    const code = text.charCodeAt(at);
    if (code === quote) return { value: await readText() };
    if (code !== openList && code !== openObject) {
      const end = readScalarEnd(text, at);
      const value: unknown = JSON.parse(text.slice(at, end));
      at = end;
      return { value };
    }
    const container: Container =
      code === openList ? { kind: 'list', value: [], count: 0 } : { kind: 'object', value: {}, key: '', count: 0 };
    open(container);
    if (text.charCodeAt(at) === closing(container)) {
      at += 1;
      containers.pop();
      return { value: container.value };
    }
    if (container.kind === 'object') await readKey(container);
    return undefined;
  }
  for (;;) {
    let done = await readStart();
    while (done) {
      at = skipSpace(text, at);
      const container = containers.at(-1);
      if (!container) {
        if (at < text.length) throw new SyntaxError(`The JSON text ends at ${at}.`);
        return done.value;
      }
      addMember(container, done.value, containers, limits);
      const code = text.charCodeAt(at);
      if (code === closing(container)) {
        at += 1;
        containers.pop();
        done = { value: container.value };
      } else if (code === comma) {
        at = skipSpace(text, at + 1);
        if (container.kind === 'object') await readKey(container);
        done = undefined;
      } else throw new SyntaxError(`A comma is missing at ${at}.`);
    }
    steps += 1;
    const pause = steps % stepsPerCheck === 0 ? nextSlice() : undefined;
    if (pause) await pause;
  }
}

const closing = ({ kind }: Container): number => (kind === 'list' ? closeList : closeObject);

function addMember(container: Container, value: unknown, containers: Container[], limits: JsonLimits): void {
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
