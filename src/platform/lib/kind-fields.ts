import { z } from 'zod';
import { appError, type FieldError } from './errors.ts';
import { describeIssue } from './schema-parts.ts';

/** Returns the JSON schema of the fields of a kind, from which clients render forms. */
export const describeFields = (schema: z.ZodType): Record<string, unknown> => z.toJSONSchema(schema, { io: 'input' });

/** Returns the fields of a kind, parsed by its schema. Throws a 400 with an error for each invalid field, whose pointers begin with `pointer`. */
export function parseFields<T>(schema: z.ZodType<T>, input: unknown, pointer: string): T {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.flatMap((issue) => toFieldErrors(issue, pointer)).slice(0, 20);
  throw appError('validation_failed', `${errors[0]!.pointer}: ${errors[0]!.detail}`, { errors });
}

function toFieldErrors(issue: z.core.$ZodIssue, parent: string): FieldError[] {
  const pointer = [parent, ...issue.path].join('/');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      pointer: `${pointer}/${key}`,
      code: 'unknown_field',
      detail: `${key} is not a field of this kind.`,
    }));
  // The message about a key of a record is that of the key's own schema.
  const { message } = (issue.code === 'invalid_key' ? issue.issues[0] : undefined) ?? issue;
  return [{ pointer, code: issue.code, detail: describeIssue(message) }];
}
