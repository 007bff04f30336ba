import { z } from 'zod';
import type { ToolDefinition } from './tool-definition.ts';

const Input = z.strictObject({ id: z.string().regex(/^T\d{4}(?:\.\d{3})?$/i) });

export const lookupTechnique: ToolDefinition<z.infer<typeof Input>> = {
  description: 'Returns the name, tactics and platforms of an ATT&CK technique by its ID.',
  input: Input,
  effect: 'read',
  origin: 'organization',
  run: ({ id }, { lookupTechnique: lookup }) => Promise.resolve(lookup(id) ?? { unknown: id }),
};
