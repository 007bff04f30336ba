import type { z } from 'zod';
import { ServiceError } from '../../detection/as-code/service-client.ts';
import { describeIssue } from '../../platform/lib/schema-parts.ts';
import { AppError, type FieldError } from '../../platform/lib/errors.ts';
import { UsageError } from './failures.ts';

/**
 * The argument that sets each field of a request's body, as the user typed it, by the name of the field. A function receives the rest of the
 * pointer, such as the index of an element, which is missing if the whole field is invalid.
 */
export type BodyArguments = Record<string, string | ((...rest: string[]) => string)>;

type InvalidField = Pick<FieldError, 'pointer' | 'detail'>;

/** Returns a line for each invalid field of the body, with the argument that set it. Undefined for an error that is not about fields. */
export function describeArguments(error: unknown, names: BodyArguments): string | undefined {
  const fields = error instanceof AppError || error instanceof ServiceError ? error.errors : undefined;
  return fields && describeFields(fields, names);
}

/** Returns a handler of errors that throws a usage error if fields of the body are invalid, and other errors as they are. */
export const rejectArguments =
  (names: BodyArguments) =>
  (error: unknown): never => {
    const message = describeArguments(error, names);
    throw message === undefined ? error : new UsageError(message, { cause: error });
  };

/** Validates a body that was made from arguments. Throws a usage error if it is invalid. */
export function parseArguments<T>(schema: z.ZodType<T>, body: unknown, names: BodyArguments): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map(({ path, message }) => ({
    pointer: path.map((part) => `/${String(part)}`).join(''),
    detail: describeIssue(message),
  }));
  throw new UsageError(describeFields(fields, names));
}

const describeFields = (fields: readonly InvalidField[], names: BodyArguments): string =>
  fields.map(({ pointer, detail }) => `${nameArgument(pointer, names)}: ${detail}`).join('\n');

function nameArgument(pointer: string, names: BodyArguments): string {
  const [field = '', ...rest] = pointer.replace(/^\//, '').split('/').map(unescape);
  const name = names[field];
  if (name === undefined) return [field, ...rest].join('/');
  return typeof name === 'string' ? name : name(...rest);
}

const unescape = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');
