import { queryNotAllowed } from '../engine-failures.ts';

type Node = Record<string, unknown>;

/** The largest length that a query may write as a number. A length that comes from data is bounded by the engine's memory limits. */
const lengthMax = 1_000_000;
const arrayElementsMax = 4096;

/** Functions whose result is as large as one of their arguments says, by the index of that argument. */
const lengthArguments: ReadonlyMap<string, number> = new Map([
  ['list_resize', 1],
  ['array_resize', 1],
  ['repeat', 1],
  ['lpad', 1],
  ['rpad', 1],
]);

/** The engine allocates these results in one step, without checking its memory limit. */
const literalOnly: ReadonlySet<string> = new Set(['list_resize', 'array_resize']);

/** Throws if a call would allocate by an argument: a length above the limit, or a width in a format text. `children` are the arguments. */
export function checkArguments(name: string, children: readonly unknown[]): void {
  const index = lengthArguments.get(name);
  if (index !== undefined) checkLength(name, children[index]);
  if (name === 'range' || name === 'generate_series') checkSeries(name, children);
  if (name === 'printf' || name === 'format') checkFormat(name, children[0]);
}

function checkLength(name: string, argument: unknown): void {
  const literal = readLiteral(argument);
  if (literal === undefined && literalOnly.has(name))
    throw queryNotAllowed(`The length in ${name} must be written as a number of at most ${lengthMax}.`);
  if (literal !== undefined && !(typeof literal === 'number' && literal <= lengthMax))
    throw queryNotAllowed(`The length in ${name} must be a number of at most ${lengthMax}.`);
}

function checkSeries(name: string, children: readonly unknown[]): void {
  const numbers = children.map(readLiteral);
  if (!numbers.every((number) => typeof number === 'number')) return;
  const [start, stop, step] = numbers.length === 1 ? [0, numbers[0]!, 1] : [numbers[0]!, numbers[1]!, numbers[2] ?? 1];
  if (Math.abs((stop - start) / step) > lengthMax)
    throw queryNotAllowed(
      `A list from ${name} may have at most ${lengthMax} elements. Use ${name} as a table for more.`,
    );
}

/** A width or precision that is long, or that comes from another argument, would allocate as much as it says. */
function checkFormat(name: string, argument: unknown): void {
  const text = readLiteral(argument);
  if (typeof text !== 'string') throw queryNotAllowed(`The first argument of ${name} must be a text in quotes.`);
  const isLong =
    name === 'printf'
      ? /%[^a-z%]*(?:\*|\d{4})/i.test(text.replaceAll('%%', ''))
      : /\{[^}]*(?:\{|\d{4})/.test(text.replaceAll('{{', ''));
  if (isLong) throw queryNotAllowed(`A width or precision in ${name} must be a number below 1000.`);
}

/** Returns the value of a literal: a number or a text, null for a value of another type, and undefined for anything but a literal. */
function readLiteral(argument: unknown): number | string | null | undefined {
  if ((argument as Node | undefined)?.['class'] !== 'CONSTANT') return undefined;
  const { value, type } = (argument as Node)['value'] as { value: unknown; type: { id: string } };
  if (type.id === 'VARCHAR') return String(value);
  return /^U?(?:TINY|SMALL|BIG)?INT(?:EGER)?$/.test(type.id) && typeof value === 'number' ? value : null;
}

/** Throws if arrays of fixed size have too many elements together. The engine allocates them for every row, even for null. */
export function checkArrayType(type: Node): void {
  let elements = 1;
  for (let info: Node | undefined = type; info?.['type'] === 'ARRAY_TYPE_INFO';) {
    elements *= Number(info['size']);
    info = (info['child_type'] as Node)['type_info'] as Node | undefined;
  }
  if (elements > arrayElementsMax)
    throw queryNotAllowed(
      `An array type may have at most ${arrayElementsMax} elements. Use a list, such as INTEGER[].`,
    );
}
