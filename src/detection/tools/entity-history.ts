import { z } from 'zod';
import type { ToolDefinition } from './tool-definition.ts';

const Input = z.strictObject({ limit: z.int().min(1).max(200).default(50) });

export const entityHistory: ToolDefinition<z.infer<typeof Input>> = {
  description:
    "Returns the entity's values in earlier windows, without free text, and its earlier hits with what people decided, newest first.",
  input: Input,
  effect: 'read',
  origin: 'organization',
  run: ({ limit }, { history }) => history(limit),
};
