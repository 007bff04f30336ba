import { fieldError } from '../../../platform/lib/errors.ts';
import type { z } from 'zod';
import type { AgentInput } from './field-schemas.ts';
import { escapePointer } from '../../../platform/lib/json/parse-in-slices.ts';

type DeclaredInput = z.infer<typeof AgentInput>;
export type AgentInputs = readonly DeclaredInput[];
/** The values of inputs by name. A date is ISO 8601 text. */
export type InputValues = Record<string, string | number | boolean>;

const textMax = 20_000;

/** What each type of input accepts. `read` returns undefined for any other value. */
const inputTypes: Record<
  DeclaredInput['type'],
  { expected: string; read: (value: unknown) => InputValues[string] | undefined }
> = {
  text: {
    expected: `a text of at most ${textMax.toLocaleString('en-US')} characters`,
    read: (value) => (typeof value === 'string' && value.length <= textMax ? value : undefined),
  },
  number: {
    expected: 'a finite number',
    read: (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined),
  },
  boolean: { expected: 'true or false', read: (value) => (typeof value === 'boolean' ? value : undefined) },
  date: {
    expected: 'a date or a time in ISO 8601, such as 2026-03-02 or 2026-03-02T10:00:00Z',
    read: (value) =>
      typeof value === 'string' &&
      /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/.test(value) &&
      !Number.isNaN(Date.parse(value))
        ? value
        : undefined,
  },
};

/**
 * Returns the values of the inputs that an agent declares. A value that is absent or null is left out. Throws 400 for a value of another type, for one
 * that no input declares, and for a required one that is missing. `pointer` is where the values are in the request.
 */
export function readInputValues(
  declared: AgentInputs,
  given: Readonly<Record<string, unknown>>,
  pointer = '/inputs',
): InputValues {
  const at = (name: string): string => `${pointer}/${escapePointer(name)}`;
  const unknown = Object.keys(given).find((name) => !declared.some((input) => input.name === name));
  if (unknown !== undefined) throw fieldError(at(unknown), 'unknown_input', `There is no input named "${unknown}".`);
  const values: InputValues = {};
  for (const { name, type, required } of declared) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined || value === null) {
      if (required) throw fieldError(at(name), 'required', `The input "${name}" is required.`);
      continue;
    }
    const read = inputTypes[type].read(value);
    if (read === undefined)
      throw fieldError(at(name), 'invalid_input', `The input "${name}" must be ${inputTypes[type].expected}.`);
    values[name] = read;
  }
  return values;
}
