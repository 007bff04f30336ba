import { z } from 'zod';
import type { Tool } from './tool.ts';

const Input = z.strictObject({ id: z.string().regex(/^T\d{4}(?:\.\d{3})?$/i) });

export const lookupTechnique: Tool<z.infer<typeof Input>> = {
  description: 'An ATT&CK technique by its id: name, tactics, platforms.',
  input: Input,
  effect: 'read',
  run: ({ id }, { lookupTechnique: lookup }) => Promise.resolve(lookup(id) ?? { unknown: id }),
};
