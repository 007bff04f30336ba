import { z } from 'zod';
import type { Tool } from './tool.ts';

const Input = z.strictObject({
  offset: z.int().min(0).max(1_000).default(0),
  limit: z.int().min(1).max(50).default(20),
  contains: z.string().max(200).optional().describe('Only rows with this text in any field.'),
});

export const getRows: Tool<z.infer<typeof Input>> = {
  description: "The entity's rows, in order of time.",
  input: Input,
  effect: 'read',
  run: ({ offset, limit, contains }, { rows }) => {
    const found =
      contains === undefined
        ? rows
        : rows.filter(({ fields }) => Object.values(fields).some((value) => value.includes(contains)));
    return Promise.resolve({ total: found.length, rows: found.slice(offset, offset + limit) });
  },
};
