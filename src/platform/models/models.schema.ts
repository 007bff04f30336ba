import { z } from 'zod';

export const ModelList = z.object({
  models: z.array(
    z.object({
      alias: z.string(),
      model: z.string().describe('Provider and model, or `analyst`.'),
      local: z.boolean(),
      price: z.object({
        inputPerMillion: z.number(),
        outputPerMillion: z.number(),
        cachedInputPerMillion: z.number().optional(),
        cacheWritePerMillion: z.number().optional(),
      }),
      paused: z.object({ since: z.string(), kind: z.string(), message: z.string() }).nullable(),
    }),
  ),
});
export type ModelList = z.infer<typeof ModelList>;
