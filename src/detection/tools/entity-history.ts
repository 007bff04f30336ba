import { z } from 'zod';
import type { Tool } from './tool.ts';

const Input = z.strictObject({ limit: z.int().min(1).max(200).default(50) });

export const entityHistory: Tool<z.infer<typeof Input>> = {
  description: 'What the detection remembers of the entity from earlier windows, and its earlier hits; newest first.',
  input: Input,
  effect: 'read',
  run: ({ limit }, { history }) => history(limit),
};
