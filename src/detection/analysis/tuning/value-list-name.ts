import { z } from 'zod';

export const ValueListName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_.-]{0,99}$/, 'must be 1 to 100 lower-case letters, digits, dots, dashes or underscores')
  .describe('Name of a value list.');
