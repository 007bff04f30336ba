import { z } from 'zod';
import type { ToolDefinition } from './tool-definition.ts';

const Input = z.strictObject({
  offset: z.int().min(0).max(1_000).default(0),
  limit: z.int().min(1).max(50).default(20),
  contains: z.string().max(200).optional().describe('Return only rows that contain this text in any field.'),
});

export const getRows: ToolDefinition<z.infer<typeof Input>> = {
  description: "Returns the entity's rows in chronological order.",
  input: Input,
  effect: 'read',
  origin: 'organization',
  run: ({ offset, limit, contains }, { rows }) => {
    const matching =
      contains === undefined
        ? rows
        : rows.filter(({ fields }) => Object.values(fields).some((value) => value.includes(contains)));
    return Promise.resolve({ total: matching.length, rows: matching.slice(offset, offset + limit) });
  },
};
